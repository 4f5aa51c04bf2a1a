"""Secrets in every store: sealed, version by version, of one organisation, and changed by their owners alone."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.stores.store import Store
from waterclock.domain.access import Caller, Role
from waterclock.domain.errors import CannotRun, Forbidden, NotAllowed, NotFound
from waterclock.services.access import Access, NewKey
from waterclock.services.paging import PageRequest
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets
from waterclock.stores.base import Database
from waterclock.stores.ops import access as access_ops


def caller(name: str = "ann", role: Role = Role.AUTHOR, org_id: int = 1, **more: Any) -> Caller:
    return Caller(user=name, org_id=org_id, account="", role=role, address="", request_id="", **more)


@pytest.fixture
def box(tmp_path: Path) -> SecretBox:
    return SecretBox(tmp_path / "secret.keys")


@pytest.fixture
def secrets(database: Database, box: SecretBox) -> Secrets:
    return Secrets(database, box)


async def names(secrets: Secrets, org_id: int = 1) -> list[str]:
    return [each.name for each in (await secrets.list(caller(org_id=org_id), PageRequest())).items]


async def test_a_secret_is_listed_and_given_but_lies_sealed_in_the_store(
    secrets: Secrets, database: Database, store: Store
) -> None:
    made = await secrets.put(caller(), "warehouse", "hunter2", "for the nightly load")
    assert (made.version, made.owner, made.description, made.created_by) == (1, "ann", "for the nightly load", "ann")
    assert (await secrets.list(caller(role=Role.VIEWER), PageRequest())).items == [made]
    assert await secrets.values(1, ["warehouse"]) == {"warehouse": "hunter2"}
    if store.kind != "memory":
        assert "hunter2" not in str(await store.rows("SELECT * FROM secrets"))


async def test_a_new_value_is_given_and_all_that_ever_were_are_masked(secrets: Secrets) -> None:
    first = await secrets.put(caller(), "warehouse", "hunter2", "why")
    second = await secrets.put(caller("bob", Role.ADMIN), "warehouse", "hunter3")
    assert (second.version, second.owner, second.created_by, second.description) == (2, "ann", "bob", "why")
    assert second.created_at == first.created_at
    assert await secrets.values(1, ["warehouse"]) == {"warehouse": "hunter3"}
    assert (await secrets.masks(1, ["warehouse"])).text("hunter2 hunter3 hunter4") == "*** *** hunter4"


async def test_a_deleted_secret_is_given_to_nobody_and_stays_masked(secrets: Secrets) -> None:
    await secrets.put(caller(), "warehouse", "hunter2")
    await secrets.delete(caller(), "warehouse")
    assert await names(secrets) == []
    with pytest.raises(CannotRun, match="the secret 'warehouse' was deleted"):
        await secrets.values(1, ["warehouse"])
    assert (await secrets.masks(1, ["warehouse"])).text("hunter2") == "***"
    with pytest.raises(NotFound, match="'warehouse'"):
        await secrets.delete(caller(), "warehouse")


async def test_a_name_that_is_free_again_is_its_next_owners(secrets: Secrets) -> None:
    await secrets.put(caller(), "warehouse", "hunter2")
    await secrets.delete(caller(), "warehouse")
    again = await secrets.put(caller("bob"), "warehouse", "hunter3")
    assert (again.version, again.owner, again.created_at) == (2, "bob", again.updated_at)
    assert await secrets.values(1, ["warehouse"]) == {"warehouse": "hunter3"}
    assert (await secrets.masks(1, ["warehouse"])).text("hunter2") == "***"


async def test_only_its_owner_its_group_or_an_admin_changes_a_secret(secrets: Secrets) -> None:
    await secrets.put(caller(), "hers", "hunter2")
    await secrets.put(caller(groups=frozenset({"etl"}), group="etl"), "theirs", "hunter2")
    bob = caller("bob")
    for name in ("hers", "theirs"):
        with pytest.raises(Forbidden, match="belongs to"):
            await secrets.put(bob, name, "hunter3")
        with pytest.raises(Forbidden, match="belongs to"):
            await secrets.delete(bob, name)
    await secrets.put(caller("bob", groups=frozenset({"etl"})), "theirs", "hunter3")
    await secrets.delete(caller("root", Role.ADMIN), "hers")
    with pytest.raises(Forbidden, match="may not define"):
        await secrets.put(caller("eve", Role.OPERATOR), "new", "hunter2")


async def test_organisations_have_their_own(secrets: Secrets) -> None:
    await secrets.put(caller(), "warehouse", "hunter2")
    await secrets.put(caller("eve", org_id=2), "warehouse", "hunter9")
    assert await secrets.values(2, ["warehouse"]) == {"warehouse": "hunter9"}
    assert (await secrets.masks(2, ["warehouse"])).text("hunter2") == "hunter2"
    await secrets.delete(caller("eve", org_id=2), "warehouse")
    assert await names(secrets) == ["warehouse"]
    with pytest.raises(CannotRun, match="there is no secret 'warehouse'"):
        await secrets.values(3, ["warehouse"])


async def test_those_who_set_one_at_the_same_moment_each_make_a_version(secrets: Secrets) -> None:
    made = await asyncio.gather(*(secrets.put(caller(), "warehouse", f"hunter{n}") for n in range(4)))
    assert sorted(each.version for each in made) == [1, 2, 3, 4]


async def test_the_list_goes_on_where_a_page_ends(secrets: Secrets) -> None:
    for name in ("c", "a", "B", "b.1"):
        await secrets.put(caller(), name, "hunter2")
    page = await secrets.list(caller(), PageRequest(size=3))
    rest = await secrets.list(caller(), PageRequest(size=3, token=page.next_token))
    assert [each.name for each in (*page.items, *rest.items)] == ["B", "a", "b.1", "c"]
    assert rest.next_token is None


async def test_a_seal_opens_only_in_its_own_place(shared: Store, tmp_path: Path) -> None:
    secrets = Secrets(await shared.open(), SecretBox(tmp_path / "secret.keys"))
    await secrets.put(caller(), "mine", "hunter2")
    await secrets.put(caller("eve", org_id=2), "hers", "hunter9")
    (stolen,) = await shared.rows("SELECT sealed FROM secrets WHERE org_id = 1")
    await shared.rows(f"UPDATE secrets SET sealed = '{stolen['sealed']}' WHERE org_id = 2", "SELECT 1")
    with pytest.raises(CannotRun, match="cannot open its secrets here: a sealed secret is damaged"):
        await secrets.values(2, ["hers"])


async def test_without_their_key_secrets_are_neither_given_nor_are_their_logs_shown(
    secrets: Secrets, database: Database, tmp_path: Path
) -> None:
    await secrets.put(caller(), "warehouse", "hunter2")
    elsewhere = Secrets(database, SecretBox(tmp_path / "other.keys"))
    with pytest.raises(CannotRun, match="a worker needs the key file that the API has"):
        await elsewhere.values(1, ["warehouse"])
    with pytest.raises(NotAllowed, match="the log cannot be shown"):
        await elsewhere.masks(1, ["warehouse"])


async def test_a_rotated_key_seals_all_that_is_stored_again(
    secrets: Secrets, database: Database, box: SecretBox, tmp_path: Path
) -> None:
    organisation = await database.write(access_ops.create_organisation, account="123456789012", name="ours")
    await database.write(access_ops.create_user, org_id=organisation.id, name="ann", role=Role.AUTHOR)
    key: NewKey = await Access(database, box).create_key(caller(org_id=organisation.id), "ann")
    for value in ("hunter2", "hunter3"):
        await secrets.put(caller(), "warehouse", value)
    await secrets.put(caller("eve", org_id=2), "hers", "hunter9")
    done = await secrets.rotate_key(caller("root", Role.ADMIN))
    assert (done.resealed, done.unreadable) == (4, 0)
    _keep_only_the_last_key(tmp_path / "secret.keys")
    fresh = SecretBox(tmp_path / "secret.keys")
    assert await Secrets(database, fresh).values(1, ["warehouse"]) == {"warehouse": "hunter3"}
    assert (await Secrets(database, fresh).masks(1, ["warehouse"])).text("hunter2") == "***"
    assert await Secrets(database, fresh).values(2, ["hers"]) == {"hers": "hunter9"}
    found = await Access(database, fresh).secret_of(key.id)
    assert found is not None
    assert found.secret == key.secret


async def test_what_cannot_be_opened_any_more_is_counted_and_left_as_it_is(
    secrets: Secrets, database: Database, tmp_path: Path
) -> None:
    await Secrets(database, SecretBox(tmp_path / "lost.keys")).put(caller(), "lost", "hunter2")
    await secrets.put(caller(), "kept", "hunter3")
    done = await secrets.rotate_key(caller("root", Role.ADMIN))
    assert (done.resealed, done.unreadable) == (1, 1)
    assert await secrets.values(1, ["kept"]) == {"kept": "hunter3"}


async def test_only_admins_of_the_first_organisation_rotate_the_key_of_all(secrets: Secrets) -> None:
    for other in (caller(), caller("eve", Role.ADMIN, org_id=2)):
        with pytest.raises(Forbidden):
            await secrets.rotate_key(other)


def _keep_only_the_last_key(file: Path) -> None:
    file.write_text(file.read_text().splitlines()[-1] + "\n")
