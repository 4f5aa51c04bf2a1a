"""Names are values, whatever they look like: to no store are they ever a piece of a statement."""

from typing import Any, Final

from tests.stores.world import PLACE, World
from waterclock.domain.access import Role
from waterclock.domain.audit import Entry, Sought
from waterclock.stores.ops import access, audit, groups, jobs, triggers
from waterclock.stores.ops.reading import FROM_THE_NEWEST

HOSTILE: Final = (
    "'; DROP TABLE jobs; --",
    '" OR 1=1 --',
    "a' OR 'a'='a",
    "\\'; DELETE FROM jobs; #",
    ":name :org_id",
    "$1",
    "%s %(name)s",
    "?",
    "{lock} {text}",
    "IN :ids",
    "%",
    "_",
    "/* x */",
    "`jobs`",
    "🚀'",
)


async def test_a_hostile_name_is_stored_found_and_deleted_as_it_is(world: World) -> None:
    bystander = await world.job("bystander")
    for name in HOSTILE:
        await world.job(name)
        await world.trigger(name, name)
    listed = await world.database.read(jobs.list_jobs, org_id=1, namespaces=["glue"], after="", after_id=0, limit=99)
    assert {job.name for job in listed} == {*HOSTILE, "bystander"}
    for name in HOSTILE:
        assert set(await world.database.read(jobs.get_jobs, **PLACE, names=[name, "nope"])) == {name}
        (started,) = await world.start(name)
        assert (await world.attempt(started.wire_id)).job_name == name
        await world.database.write(triggers.delete_trigger, **PLACE, name=name, allow=lambda _: None)
        await world.database.write(jobs.delete_job, **PLACE, name=name, allow=lambda _: None)
    left = await world.database.read(jobs.get_jobs, **PLACE, names=[*HOSTILE, "bystander"])
    assert left == {"bystander": bystander}


async def test_a_hostile_name_of_a_user_or_a_group_is_only_that(world: World) -> None:
    org = await world.database.write(access.create_organisation, account="1" * 12, name=HOSTILE[0])
    place: Any = {"org_id": org.id}
    await world.database.write(access.create_user, **place, name="bystander", role=Role.AUTHOR)
    for name in HOSTILE:
        await world.database.write(access.create_user, **place, name=name, role=Role.AUTHOR)
        await world.database.write(groups.create_group, **place, name=f"{name} too")
        await world.database.write(groups.add_member, **place, name=f"{name} too", user_name=name)
    found = {group.name: group.members for group in await world.database.read(groups.list_groups, **place)}
    assert found == {f"{name} too": (name,) for name in HOSTILE}
    for name in HOSTILE:
        await world.database.write(access.delete_user, **place, name=name)
        await world.database.write(groups.delete_group, **place, name=f"{name} too")
    assert [user.name for user in await world.database.read(access.list_users, **place)] == ["bystander"]


async def test_a_hostile_filter_finds_what_is_called_so_and_nothing_else(world: World) -> None:
    about: Any = {"org_id": 1, "address": "", "face": "api", "status": 200, "error": None, "ms": 0, "request_id": ""}
    names = (*HOSTILE, "bystander")
    entries = [Entry(at=1, user=name, action=name, resource=name, **about) for name in names]
    await world.database.write(audit.store, journal="j", begin=0, end=1, entries=entries)
    for name in HOSTILE:
        for sought in (Sought(user=name), Sought(action=name), Sought(resource=name)):
            page: Any = {"before": FROM_THE_NEWEST, "limit": 99}
            kept = await world.database.read(audit.list_audit, org_id=1, sought=sought, **page)
            assert [each.entry.user for each in kept] == [name], sought
