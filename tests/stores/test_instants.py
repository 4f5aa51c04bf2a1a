"""PostgreSQL keeps the next instants in a table, whoever writes: so a fire leaves the index of names alone."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import asyncpg
import pytest

from tests.stores.astray import instants_astray
from tests.stores.programming import EVERY_MINUTE, Program
from tests.stores.raw import rows
from tests.stores.schema import tables
from tests.stores.world import World
from waterclock.domain.library import NAMESPACE
from waterclock.domain.moment import MINUTE
from waterclock.stores import Database, database_from_url, migrations
from waterclock.stores.postgres.compiling import batched, compiled

MANY: Final = 200
MOVED: Final = """SELECT pg_stat_get_xact_tuples_updated('triggers'::regclass) AS all,
pg_stat_get_xact_tuples_hot_updated('triggers'::regclass) AS in_place"""
OLD_TRIGGER: Final = """INSERT INTO triggers (id, org_id, namespace, name, owner, type, state, schedule, misfire,
  next_fire_at, version, generation, definition, tags, created_at, updated_at)
VALUES ({id}, 1, 'glue', 'old {id}', 'ann', 'SCHEDULED', '{state}', '{schedule}', '{{}}',
  {at}, 1, 1, '{{}}', '{{}}', 0, 0)"""
EVERY_HOUR: Final = '{"class": "every", "interval_us": 3600000000, "anchor_us": 0}'


@pytest.fixture
async def database(postgres_url: str) -> AsyncIterator[Database]:
    database = database_from_url(postgres_url)
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
async def program(database: Database) -> Program:
    return await Program.on(database)


@pytest.fixture
async def connection(postgres_url: str) -> AsyncIterator[Any]:
    opened = await asyncpg.connect(postgres_url)
    yield opened
    await opened.close()


async def noted(url: str) -> list[int]:
    return [row["next_fire_at"] for row in await rows(url, "SELECT next_fire_at FROM trigger_instants ORDER BY 1")]


async def test_whatever_a_program_does_to_its_jobs_is_noted(program: Program, postgres_url: str) -> None:
    due, soon, later = program.due, program.due + 2 * MINUTE, program.due + 3 * MINUTE
    await program.add(program.job("a"), program.job("b", paused=True), program.job("c", since=1), program.until_now())
    assert await noted(postgres_url) == [due - MINUTE, due, due]
    await program.change("a", next_fire_at=soon)
    await program.change("b", next_fire_at=later)
    await program.change("c", next_fire_at=None)
    assert await noted(postgres_url) == [due, soon, later]
    assert (await program.fire()).exhausted == ("job",)
    assert await noted(postgres_url) == [soon, later], "one that has fired for the last time is not due again"
    (a,) = await program.jobs("a")
    assert await program.quarantine("a", a.version)
    assert await noted(postgres_url) == [later]
    await program.remove()
    assert await noted(postgres_url) == []


async def test_whatever_is_done_to_triggers_of_the_cluster_is_noted(database: Database, postgres_url: str) -> None:
    world = World(database)
    await world.pass_minute()
    await world.job()
    one, other = [await world.trigger(name, start=start) for name, start in (("one", True), ("other", False))]
    assert await noted(postgres_url) == [one.next_fire_at]
    started = f"UPDATE triggers SET state = 'RUNNING', next_fire_at = 7 WHERE id = {other.id}"
    await rows(postgres_url, started, "SELECT 1")
    assert await noted(postgres_url) == [7, one.next_fire_at]
    await rows(postgres_url, "UPDATE triggers SET state = 'STOPPED' WHERE next_fire_at = 7", "SELECT 1")
    await world.pass_minute()
    assert (await world.fire()).triggers == 1
    assert await instants_astray(postgres_url) == []
    await rows(postgres_url, "TRUNCATE triggers", "SELECT 1")
    assert await noted(postgres_url) == []


async def test_a_fire_changes_its_trigger_in_place_and_writes_to_no_index_of_names(
    program: Program, connection: Any
) -> None:
    """All of them were made together: there is room for each beside it."""
    await program.add(*(program.job(f"job {number}") for number in range(MANY)))
    found = await connection.fetch("SELECT id, version FROM triggers ORDER BY id")
    update = batched("advance_trigger", ("int8",) * 4, frozenset({"id", "next_fire_at"}))
    async with connection.transaction():
        ids = [row["id"] for row in found]
        await connection.execute(update.sql, ids, [program.due + MINUTE] * MANY, 1, found[0]["version"])
        assert tuple(await connection.fetchrow(MOVED)) == (MANY, MANY)
        assert await connection.fetchval("SELECT DISTINCT next_fire_at FROM trigger_instants") == program.due + MINUTE


async def test_a_trigger_that_somebody_else_has_moved_on_is_not_fired_again(
    program: Program, connection: Any, postgres_url: str
) -> None:
    """It waits for the row's lock with what it saw before; what it compares is the row as it is then."""
    await program.add(program.job())
    waiting = compiled("lock_due_triggers").sql.replace("SKIP LOCKED", "")  # passed over, nothing would be compared
    other = await asyncpg.connect(postgres_url)
    try:
        async with connection.transaction():
            await connection.execute(f"UPDATE triggers SET next_fire_at = next_fire_at + {MINUTE}, version = 2")
            asked = asyncio.create_task(other.fetch(waiting, NAMESPACE, program.due + 2 * MINUTE, 10))
            await until_somebody_waits(connection)
        assert await asked == []
        assert len(await other.fetch(waiting, NAMESPACE, program.due + 2 * MINUTE, 10)) == 1
    finally:
        await other.close()


async def until_somebody_waits(connection: Any) -> None:
    async with asyncio.timeout(60):
        while not await connection.fetchval("SELECT COUNT(*) FROM pg_locks WHERE NOT granted"):
            await asyncio.sleep(0)


@pytest.mark.parametrize("name", ["lock_due_triggers", "triggers_due_at", "next_due"])
async def test_what_is_due_is_found_without_reading_all_triggers_before_anything_is_known_of_them(
    program: Program, connection: Any, name: str
) -> None:
    await program.add(*(program.job(f"job {number}", schedule=EVERY_MINUTE) for number in range(3_000)))
    given = {"ticker": f"'{NAMESPACE}'", "now": program.due - 1, "due_at": program.due - 1, "limit": 500}
    statement = compiled(name)
    prepared = f"PREPARE asked AS {statement.sql}"
    await connection.execute(prepared)
    values = ", ".join(str(given[each]) for each in statement.names)
    text = "\n".join(line for (line,) in await connection.fetch(f"EXPLAIN EXECUTE asked({values})"))
    assert "triggers_due" in text, text
    assert "Seq Scan on triggers" not in text, text


@pytest.fixture
def only_before(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The version before step 0009."""
    steps = tuple(step for step in migrations._files() if step[0] < 9)
    monkeypatch.setattr(migrations, "_files", lambda: steps)
    return monkeypatch


async def test_what_an_older_version_has_written_and_goes_on_to_write_is_noted(
    postgres_url: str, only_before: pytest.MonkeyPatch
) -> None:
    database = database_from_url(postgres_url)
    await database.open()
    try:
        await database.migrate()
        for number, state in ((1, "RUNNING"), (2, "STOPPED")):
            await rows(postgres_url, old_trigger(number, state), "SELECT 1")
        only_before.undo()
        assert list(await database.migrate()) == ["instants"]
        assert await noted(postgres_url) == [10]
        await rows(postgres_url, old_trigger(3, "RUNNING"), "SELECT 1")
        await rows(postgres_url, "UPDATE triggers SET state = 'RUNNING', next_fire_at = 5 WHERE id = 2", "SELECT 1")
        await rows(postgres_url, "DELETE FROM triggers WHERE id = 1", "SELECT 1")
        assert await noted(postgres_url) == [5, 30]
        migrated = await tables(postgres_url)
    finally:
        await database.close()
    assert "trigger_instants: next_fire_at bigint NO" in migrated


def old_trigger(number: int, state: str) -> str:
    return OLD_TRIGGER.format(id=number, state=state, schedule=EVERY_HOUR, at=10 * number)
