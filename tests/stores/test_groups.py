"""Groups in every store: names that nobody shares, members, and keys that speak for a group while they may."""

import asyncio
from typing import Any

import pytest

from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.access import Identity, Role
from waterclock.domain.errors import AlreadyExists, NotAllowed, NotFound
from waterclock.domain.job import JobSpec
from waterclock.stores.ops import access, groups, jobs


@pytest.fixture
async def ours(world: World) -> dict[str, Any]:
    """An organisation with the users ann and bob and the group etl, of which ann is a member."""
    made = await world.database.write(access.create_organisation, account="123456789012", name="ours")
    for name in ("ann", "bob"):
        await world.database.write(access.create_user, org_id=made.id, name=name, role=Role.AUTHOR)
    await world.database.write(groups.create_group, org_id=made.id, name="etl")
    await world.database.write(groups.add_member, org_id=made.id, name="etl", user_name="ann")
    return {"org_id": made.id}


async def speak_for_etl(world: World, ours: dict[str, Any]) -> None:
    """A key and a token of ann for the group, and a key of her own."""
    ann: dict[str, Any] = {**ours, "user_name": "ann"}
    await world.database.write(access.add_access_key, **ann, key_id="WC1", sealed_secret="s", group="etl")
    await world.database.write(access.add_access_key, **ann, key_id="OWN", sealed_secret="s")
    await world.database.write(access.add_token, **ann, name="t", digest="d1", expires_at=None, group="etl")


async def heard(world: World, key_id: str) -> Identity | None:
    found = await world.database.read(access.find_access_key, key_id=key_id)
    return found.identity if found else None


async def test_a_key_speaks_for_its_group_and_knows_all_groups_of_its_user(world: World, ours: dict[str, Any]) -> None:
    await world.database.write(groups.create_group, **ours, name="reports")
    await world.database.write(groups.add_member, **ours, name="reports", user_name="ann")
    await speak_for_etl(world, ours)
    both = frozenset({"etl", "reports"})
    for spoken in (await heard(world, "WC1"), await world.database.read(access.find_token, digest="d1")):
        assert spoken is not None
        assert (spoken.user.name, spoken.group, spoken.groups) == ("ann", "etl", both)
    own = await heard(world, "OWN")
    assert own is not None
    assert (own.group, own.groups) == (None, both)
    listed = await world.database.read(access.list_access_keys, **ours, user_name="ann")
    assert {key.id: key.group for key in listed} == {"WC1": "etl", "OWN": None}
    (token,) = await world.database.read(access.list_tokens, **ours, user_name="ann")
    assert token.group == "etl"


async def test_who_leaves_a_group_speaks_for_it_no_more(world: World, ours: dict[str, Any]) -> None:
    await speak_for_etl(world, ours)
    await world.database.write(groups.remove_member, **ours, name="etl", user_name="ann")
    assert await heard(world, "WC1") is None
    assert await world.database.read(access.find_token, digest="d1") is None
    own = await heard(world, "OWN")
    assert own is not None
    assert own.groups == frozenset()
    with pytest.raises(NotFound, match="'ann'"):
        await world.database.write(groups.remove_member, **ours, name="etl", user_name="ann")


async def test_who_comes_back_needs_a_new_key(world: World, ours: dict[str, Any]) -> None:
    await speak_for_etl(world, ours)
    await world.database.write(groups.remove_member, **ours, name="etl", user_name="ann")
    for _ in range(2):  # a member already: nothing changes
        await world.database.write(groups.add_member, **ours, name="etl", user_name="ann")
    assert await heard(world, "WC1") is None
    own = await heard(world, "OWN")
    assert own is not None
    assert own.groups == {"etl"}


async def test_only_a_member_gets_a_key_for_the_group(world: World, ours: dict[str, Any]) -> None:
    key: dict[str, Any] = {**ours, "key_id": "WC2", "sealed_secret": "s"}
    with pytest.raises(NotAllowed, match="'bob' is not in group 'etl'"):
        await world.database.write(access.add_access_key, **key, user_name="bob", group="etl")
    with pytest.raises(NotFound, match="group 'nope'"):
        await world.database.write(access.add_access_key, **key, user_name="ann", group="nope")
    assert await world.database.read(access.list_access_keys, **ours, user_name="bob") == []


async def test_a_user_and_a_group_never_have_the_same_name(world: World, ours: dict[str, Any]) -> None:
    with pytest.raises(AlreadyExists, match="user 'ann'"):
        await world.database.write(groups.create_group, **ours, name="ann")
    with pytest.raises(AlreadyExists, match="group 'etl'"):
        await world.database.write(access.create_user, **ours, name="etl", role=Role.VIEWER)
    with pytest.raises(AlreadyExists, match="group 'etl'"):
        await world.database.write(groups.create_group, **ours, name="etl")


async def test_not_even_where_both_are_made_at_once(shared: Store) -> None:
    one, two = await shared.open_many(2)
    org = await one.write(access.create_organisation, account="123456789012", name="ours")
    for number in range(10):
        name = f"name {number}"
        made = await asyncio.gather(
            one.write(access.create_user, org_id=org.id, name=name, role=Role.VIEWER),
            two.write(groups.create_group, org_id=org.id, name=name),
            return_exceptions=True,
        )
        assert [isinstance(each, AlreadyExists) for each in made].count(True) == 1, made


async def test_a_deleted_user_is_in_no_group(world: World, ours: dict[str, Any]) -> None:
    await world.database.write(access.delete_user, **ours, name="ann")
    (etl,) = await world.database.read(groups.list_groups, **ours)
    assert etl.members == ()
    await world.database.write(access.create_user, **ours, name="ann", role=Role.AUTHOR)
    await world.database.write(access.add_access_key, **ours, user_name="ann", key_id="NEW", sealed_secret="s")
    again = await heard(world, "NEW")
    assert again is not None
    assert again.groups == frozenset()


async def test_a_group_that_owns_something_stays(world: World, ours: dict[str, Any]) -> None:
    place: dict[str, Any] = {**ours, "namespace": "glue"}
    for name in ("one", "two"):
        await world.database.write(
            jobs.create_job, **place, name=name, owner="etl", spec=JobSpec(kind="shell"), definition={}, tags={}
        )
    with pytest.raises(NotAllowed, match="'etl' still owns 2 jobs: delete"):
        await world.database.write(groups.delete_group, **ours, name="etl")
    for name in ("one", "two"):
        await world.database.write(jobs.delete_job, **place, name=name, allow=lambda facts: None)
    await speak_for_etl(world, ours)
    await world.database.write(groups.delete_group, **ours, name="etl")
    assert await heard(world, "WC1") is None
    assert await world.database.read(access.find_token, digest="d1") is None
    assert await world.database.read(groups.list_groups, **ours) == []
    with pytest.raises(NotFound, match="'etl'"):
        await world.database.write(groups.delete_group, **ours, name="etl")


async def test_another_organisation_has_its_own_groups(world: World, ours: dict[str, Any]) -> None:
    theirs = await world.database.write(access.create_organisation, account="210987654321", name="theirs")
    assert await world.database.read(groups.list_groups, org_id=theirs.id) == []
    with pytest.raises(NotFound, match="group 'etl'"):
        await world.database.write(groups.delete_group, org_id=theirs.id, name="etl")
    await world.database.write(groups.create_group, org_id=theirs.id, name="etl")
    with pytest.raises(NotFound, match="user 'ann'"):
        await world.database.write(groups.add_member, org_id=theirs.id, name="etl", user_name="ann")
