"""Organisations, users, keys and tokens in every store."""

from typing import Any

import pytest

from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.access import Role
from waterclock.domain.errors import AlreadyExists, NotFound
from waterclock.domain.moment import SECOND
from waterclock.stores.ops import access


@pytest.fixture
async def organisation(world: World) -> int:
    """With one user, ann."""
    made = await world.database.write(access.create_organisation, account="123456789012", name="ours")
    await world.database.write(access.create_user, org_id=made.id, name="ann", role=Role.AUTHOR)
    return made.id


async def test_an_organisation_is_read_back_as_it_was_written(world: World) -> None:
    made = await world.database.write(access.create_organisation, account="123456789012", name="물시계")
    assert await world.database.read(access.get_organisation, org_id=made.id) == made
    assert await world.database.read(access.get_organisation, org_id=made.id + 1) is None


async def test_an_account_belongs_to_one_organisation(world: World, organisation: int) -> None:
    with pytest.raises(AlreadyExists, match="123456789012"):
        await world.database.write(access.create_organisation, account="123456789012", name="theirs")
    assert await world.database.read(access.get_organisation, org_id=organisation) is not None


async def test_a_user_has_a_name_of_its_own_and_a_role(world: World, organisation: int) -> None:
    ann = await world.database.read(access.get_user, org_id=organisation, name="ann")
    assert ann is not None
    assert (ann.role, ann.account) == (Role.AUTHOR, "123456789012")
    with pytest.raises(AlreadyExists, match="'ann'"):
        await world.database.write(access.create_user, org_id=organisation, name="ann", role=Role.ADMIN)
    await world.database.write(access.create_user, org_id=organisation, name="Ann", role=Role.VIEWER)
    listed = await world.database.read(access.list_users, org_id=organisation)
    assert sorted(user.name for user in listed) == ["Ann", "ann"]


async def test_a_worker_is_no_user_to_the_release_before(shared: Store) -> None:
    """It does not know the role: whom it takes for disabled may do nothing there."""
    known = "SELECT name FROM users WHERE disabled_at IS NULL"
    database = await shared.open()
    made = await database.write(access.create_organisation, account="123456789012", name="ours")
    await database.write(access.create_user, org_id=made.id, name="rack", role=Role.WORKER)
    token: dict[str, Any] = {"org_id": made.id, "user_name": "rack", "name": "t", "digest": "d", "expires_at": None}
    await database.write(access.add_token, **token)
    found = await database.read(access.find_token, digest="d")
    assert found is not None
    assert found.user.role is Role.WORKER
    assert not await shared.rows(known)
    await database.write(access.change_role, org_id=made.id, name="rack", role=Role.VIEWER)
    assert len(await shared.rows(known)) == 1


async def test_a_role_can_change(world: World, organisation: int) -> None:
    await world.database.write(access.change_role, org_id=organisation, name="ann", role=Role.ADMIN)
    ann = await world.database.read(access.get_user, org_id=organisation, name="ann")
    assert ann is not None
    assert ann.role is Role.ADMIN


async def test_a_user_that_is_not_there_is_not_found(world: World, organisation: int) -> None:
    with pytest.raises(NotFound, match="'bob'"):
        await world.database.write(access.change_role, org_id=organisation, name="bob", role=Role.ADMIN)
    with pytest.raises(NotFound, match="'bob'"):
        await world.database.write(access.delete_user, org_id=organisation, name="bob")


async def test_an_access_key_speaks_for_its_user_until_it_is_revoked(world: World, organisation: int) -> None:
    key: dict[str, Any] = {"org_id": organisation, "user_name": "ann"}
    await world.database.write(access.add_access_key, **key, key_id="WC1", sealed_secret="sealed")
    found = await world.database.read(access.find_access_key, key_id="WC1")
    assert found is not None
    assert (found.id, found.sealed_secret, found.identity.user.name) == ("WC1", "sealed", "ann")
    assert await world.database.read(access.find_access_key, key_id="wc1") is None
    await world.database.write(access.revoke_access_key, **key, key_id="WC1")
    assert await world.database.read(access.find_access_key, key_id="WC1") is None
    (listed,) = await world.database.read(access.list_access_keys, **key)
    assert listed.revoked_at is not None
    with pytest.raises(NotFound):
        await world.database.write(access.revoke_access_key, **key, key_id="WC1")


async def test_another_organisation_or_user_cannot_revoke_a_key(world: World, organisation: int) -> None:
    key: dict[str, Any] = {"org_id": organisation, "user_name": "ann"}
    await world.database.write(access.add_access_key, **key, key_id="WC1", sealed_secret="sealed")
    await world.database.write(access.create_user, org_id=organisation, name="eve", role=Role.AUTHOR)
    for somebody in ({**key, "org_id": organisation + 1}, {**key, "user_name": "eve"}):
        with pytest.raises(NotFound):
            await world.database.write(access.revoke_access_key, **somebody, key_id="WC1")
    assert await world.database.read(access.find_access_key, key_id="WC1") is not None


async def test_a_token_speaks_for_its_user_until_it_expires_or_is_revoked(world: World, organisation: int) -> None:
    token: dict[str, Any] = {"org_id": organisation, "user_name": "ann"}
    soon = await world.now() + 60 * SECOND
    await world.database.write(access.add_token, **token, name="short", digest="d1", expires_at=soon)
    kept = await world.database.write(access.add_token, **token, name="long", digest="d2", expires_at=None)
    for digest in ("d1", "d2"):
        found = await world.database.read(access.find_token, digest=digest)
        assert found is not None
        assert found.user.name == "ann"
    world.pass_time(61)
    assert await world.database.read(access.find_token, digest="d1") is None
    await world.database.write(access.revoke_token, **token, token_id=kept)
    assert await world.database.read(access.find_token, digest="d2") is None
    assert len(await world.database.read(access.list_tokens, **token)) == 2
    with pytest.raises(NotFound):
        await world.database.write(access.revoke_token, **token, token_id=kept)


async def test_with_a_user_goes_all_that_spoke_for_it(world: World, organisation: int) -> None:
    ann: dict[str, Any] = {"org_id": organisation, "user_name": "ann"}
    await world.database.write(access.add_access_key, **ann, key_id="WC1", sealed_secret="sealed")
    await world.database.write(access.add_token, **ann, name="t", digest="d1", expires_at=None)
    await world.database.write(access.delete_user, org_id=organisation, name="ann")
    assert await world.database.read(access.find_access_key, key_id="WC1") is None
    assert await world.database.read(access.find_token, digest="d1") is None
