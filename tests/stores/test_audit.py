"""The audit in every store: each line of a journal once, read newest first, pruned when it is old."""

from dataclasses import replace
from typing import Any

from tests.stores.world import World
from waterclock.domain.audit import Entry, Sought
from waterclock.domain.moment import SECOND
from waterclock.stores.dialect import statements
from waterclock.stores.ops import audit
from waterclock.stores.ops.reading import FROM_THE_NEWEST

CALL = Entry(
    at=1_000 * SECOND,
    org_id=1,
    user="ann",
    address="127.0.0.1",
    face="glue",
    action="GetJob",
    resource="nightly",
    status=200,
    error=None,
    ms=3,
    request_id="r-1",
)


async def store(world: World, *entries: Entry, journal: str = "j", begin: int = 0) -> int:
    return await world.database.write(audit.store, journal=journal, begin=begin, end=begin + 100, entries=entries)


async def found(world: World, org_id: int = 1, limit: int = 100, **sought: Any) -> list[Entry]:
    kept = await world.database.read(
        audit.list_audit, org_id=org_id, sought=Sought(**sought), before=FROM_THE_NEWEST, limit=limit
    )
    return [each.entry for each in kept]


async def test_an_entry_is_read_back_as_it_was_written(world: World) -> None:
    refused = replace(CALL, at=CALL.at + 1, user="Ωmega", status=400, error="EntityNotFoundException")
    assert await store(world, CALL, refused) == 100
    assert await found(world) == [refused, CALL]


async def test_what_is_stored_is_not_stored_again(world: World) -> None:
    """As after a commit whose answer was lost: the same piece comes once more."""
    await store(world, CALL)
    assert await store(world, CALL) == 100
    assert await store(world, replace(CALL, request_id="r-2"), begin=100) == 200
    assert await store(world, CALL, begin=100) == 200
    assert await world.database.read(audit.stored_of, journal="j") == 200
    assert len(await found(world)) == 2


async def test_a_piece_without_entries_moves_the_journal_too(world: World) -> None:
    assert await store(world) == 100
    assert await world.database.read(audit.stored_of, journal="j") == 100
    await world.database.write(audit.forget, journal="j")
    assert await world.database.read(audit.stored_of, journal="j") == 0


async def test_journals_do_not_hinder_each_other(world: World) -> None:
    await store(world, CALL, journal="one")
    await store(world, CALL, journal="two")
    assert len(await found(world)) == 2


async def test_an_organisation_finds_its_own_calls_alone(world: World) -> None:
    await store(world, CALL, replace(CALL, org_id=2), replace(CALL, org_id=0))
    assert [entry.org_id for entry in await found(world)] == [1]
    assert [entry.org_id for entry in await found(world, org_id=0)] == [0]


async def test_calls_are_found_by_user_action_resource_and_time(world: World) -> None:
    changed: list[dict[str, Any]] = [
        {"user": "bob"},
        {"action": "DeleteJob"},
        {"resource": "nightly/jr_1"},
        {"resource": "nightlyx"},
        {"resource": "n_ghtly/x"},
        {"resource": "Nightly/x"},
        {"at": CALL.at + 10 * SECOND},
    ]
    await store(world, *(replace(CALL, request_id=str(number), **each) for number, each in enumerate(changed)))

    async def ids(**sought: Any) -> set[str]:
        return {entry.request_id for entry in await found(world, **sought)}

    assert await ids(user="bob") == {"0"}
    assert await ids(user="Bob") == set()
    assert await ids(action="DeleteJob") == {"1"}
    assert await ids(resource="nightly") == {"0", "1", "2", "6"}
    assert await ids(resource="n_ghtly") == {"4"}
    assert await ids(resource="%") == set()
    assert await ids(since=CALL.at + 1) == {"6"}
    assert await ids(until=CALL.at + 10 * SECOND) == {"0", "1", "2", "3", "4", "5"}
    assert await ids(user="ann", action="GetJob", resource="nightly", since=CALL.at) == {"2", "6"}


async def test_pages_go_on_where_the_last_one_ended(world: World) -> None:
    await store(world, *(replace(CALL, request_id=str(number)) for number in range(5)))  # all of one instant
    seen: list[str] = []
    before = FROM_THE_NEWEST
    while page := await world.database.read(audit.list_audit, org_id=1, sought=Sought(), before=before, limit=2):
        seen += [kept.entry.request_id for kept in page]
        before = (page[-1].entry.at, page[-1].seq)
    assert seen == ["4", "3", "2", "1", "0"]


async def test_what_is_old_is_pruned_a_page_at_a_time(world: World) -> None:
    now = await world.now()
    old = [replace(CALL, at=now - 401 * 86_400 * SECOND)] * (audit.PAGE + 1)
    await store(world, *old, replace(CALL, at=now - 399 * 86_400 * SECOND))
    assert [await world.database.write(audit.prune_audit, keep_seconds=400 * 86_400) for _ in range(3)] == [
        audit.PAGE,
        1,
        0,
    ]
    assert len(await found(world)) == 1


def test_the_pruner_alone_takes_rows_away() -> None:
    """Append-only: no statement of ours changes a row of the audit."""
    for dialect in ("sqlite", "postgres", "mysql"):
        texts = {name: " ".join(sql.split()).upper() for name, sql in statements(dialect).items()}
        assert not [name for name, sql in texts.items() if "UPDATE AUDIT " in sql]
        assert [name for name, sql in texts.items() if "DELETE FROM AUDIT " in sql] == ["delete_audit"]
