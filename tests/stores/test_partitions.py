"""Partitions of PostgreSQL: made ahead, dropped whole with what is old, nothing lost that is to be kept."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.stores.chaining import Chaining
from tests.stores.raw import rows
from tests.stores.schema import tables
from tests.stores.world import World
from waterclock.domain.moment import SECOND
from waterclock.domain.outcome import Beginning
from waterclock.domain.run import RunState
from waterclock.engine.pruner import REST_SECONDS, Pruner
from waterclock.engine.retention import width_days
from waterclock.stores import Database, database_from_url, migrations
from waterclock.stores.base import Partitions
from waterclock.stores.dialect import POSTGRES
from waterclock.stores.ops.claiming import begin
from waterclock.stores.ops.reading import get_attempt
from waterclock.stores.postgres import partition_tables, partitioning, partitions

DAY = 86_400 * SECOND
KEEP = 90


@pytest.fixture
async def database(postgres_url: str) -> AsyncIterator[Database]:
    """Of its own: what is dropped here is gone."""
    database = database_from_url(postgres_url)
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
def url(postgres_url: str) -> str:
    return postgres_url


def parts(database: Database) -> Partitions:
    assert database.partitions is not None
    return database.partitions


async def names(url: str, table: str = "runs") -> list[str]:
    of = f"SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = '{table}'::regclass"
    return sorted(row["name"].removeprefix(f"{table}_") for row in await rows(url, of))


async def where(url: str, table: str = "runs") -> list[str]:
    found = await rows(url, f"SELECT tableoid::regclass::text AS name FROM {table} ORDER BY id")
    return [row["name"].removeprefix(f"{table}_") for row in found]


async def count(url: str, *of: str) -> list[int]:
    return [(await rows(url, f"SELECT COUNT(*) AS n FROM {table}"))[0]["n"] for table in of]


async def prune(database: Database, **options: Any) -> None:
    pruner = Pruner(database, keep_days=KEEP, **options)
    while await pruner.tick() != REST_SECONDS:
        pass


async def later(database: Database, days: int) -> None:
    """As if that time had passed while somebody made room ahead."""
    for each in (*range(0, days, 10), days):
        database.offset_us = each * DAY
        await parts(database).make(days=width_days(KEEP))


def test_partitions_are_a_sixth_of_what_is_kept_and_whole_days() -> None:
    assert [width_days(days) for days in (0.5, 1, 7, 30, 90, 100_000)] == [1, 1, 2, 5, 15, 365]


async def test_a_new_store_has_room_for_today_and_for_as_long_again(database: Database, url: str) -> None:
    connection = await asyncpg.connect(url)
    now = await connection.fetchval(partitions.NOW)
    found = await partition_tables.partitions(connection)
    await connection.close()
    assert found[0].from_at <= now < found[0].to_at == found[1].from_at
    assert found[-1].to_at >= now + 15 * DAY
    assert [await names(url, table) for table in ("fires", "attempts")] == [await names(url)] * 2


async def test_rows_are_in_the_partition_of_their_day_and_else_in_the_rest(database: Database, url: str) -> None:
    world = World(database)
    await world.job(max_concurrent=0)
    await world.start()
    database.offset_us = 400 * DAY
    (late,) = await world.start()
    first = (await names(url))[0]
    assert await where(url) == await where(url, "attempts") == [first, "rest"]
    assert await database.read(get_attempt, org_id=1, wire_id=late.wire_id)


async def test_a_partition_begins_after_what_the_rest_has_of_its_days(database: Database, url: str) -> None:
    """Nobody made room in time: what came meanwhile stays where it is, and the next day has a partition."""
    world = World(database)
    await world.job(max_concurrent=0)
    database.offset_us = 400 * DAY
    await world.start()
    await parts(database).make(days=15)
    database.offset_us = 401 * DAY
    await world.start()
    *_, newest, _ = await names(url)
    assert await where(url) == ["rest", newest]


async def test_many_who_make_room_at_once_make_it_once(database: Database, url: str) -> None:
    database.offset_us = 100 * DAY
    await asyncio.gather(*(parts(database).make(days=15) for _ in range(5)))
    assert len(await names(url)) == 2 + 2 + 1


async def test_what_is_old_goes_with_its_partition_and_its_logs(database: Database, url: str, tmp_path: Path) -> None:
    world, log = World(database), tmp_path / "old.log"
    await world.job(max_concurrent=0)
    await world.start()
    (claimed,) = await world.claim()
    log.write_text("done\n")
    beginning = Beginning(attempt_id=claimed.attempt.id, fence=claimed.attempt.fence, pid=1, log_path=str(log))
    await database.write(begin, [beginning])
    await world.end(claimed.attempt)
    first = (await names(url))[0]
    await later(database, KEEP - 1)
    await prune(database)
    assert log.exists()
    await later(database, KEEP + 16)
    await prune(database)
    assert not log.exists()
    assert first not in await names(url)
    assert await count(url, "runs", "attempts") == [0, 0]


async def test_what_lives_or_ended_late_or_is_of_a_chain_outlives_its_partition(database: Database, url: str) -> None:
    world, chaining = World(database), Chaining(database)
    await world.job(max_concurrent=0)
    gone, late, live = [(await world.start())[0] for _ in range(3)]
    by_id = {each.attempt.wire_id: each.attempt for each in await world.claim(limit=3)}
    await world.end(by_id[gone.wire_id])
    await chaining.lives()
    await chaining.start_chain(await chaining.chain(1, tag="important"))
    (step,) = await chaining.claim(roles=("", "main"))
    await chaining.end(step.attempt)
    await later(database, KEEP)
    await world.end(by_id[late.wire_id])
    first = (await names(url))[0]
    await later(database, KEEP + 16)
    await prune(database, chains_keep_days={"important": 400})
    assert first not in await names(url)
    assert await where(url) == await where(url, "attempts") == ["rest"] * 3
    found = [await database.read(get_attempt, org_id=1, wire_id=each.wire_id) for each in (gone, late, live)]
    assert [each and each.state for each in found] == [None, RunState.SUCCEEDED, RunState.STARTING]
    await world.end(by_id[live.wire_id])  # it goes on as if nothing had happened
    await later(database, KEEP * 2 + 40)
    await prune(database, chains_keep_days={"important": 400})
    assert await count(url, "runs", "attempts") == [1, 1]


async def test_a_partition_of_which_much_stays_is_emptied_page_by_page(
    database: Database, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "MOST_KEPT", 1)
    world = World(database)
    await world.job(max_concurrent=0)
    runs = [(await world.start())[0] for _ in range(3)]
    by_id = {each.attempt.wire_id: each.attempt for each in await world.claim(limit=3)}
    await world.end(by_id[runs[0].wire_id])
    first = (await names(url))[0]
    await later(database, KEEP + 16)
    await prune(database)
    assert first in await names(url)
    assert await where(url) == [first, first]


async def test_two_pruners_at_once_lose_nothing(database: Database, url: str) -> None:
    world = World(database)
    await world.job(max_concurrent=0)
    live, ended = [(await world.start())[0] for _ in range(2)]
    by_id = {each.attempt.wire_id: each.attempt for each in await world.claim(limit=2)}
    await world.end(by_id[ended.wire_id])
    await later(database, KEEP + 16)
    await asyncio.gather(*(prune(database) for _ in range(3)))
    assert await where(url) == ["rest"]
    assert await database.read(get_attempt, org_id=1, wire_id=live.wire_id)


async def test_whoever_is_in_the_way_is_not_kept_waiting(database: Database, url: str) -> None:
    """A transaction that holds a row of today: the drop gives up, and the partition is dropped another time."""
    await later(database, KEEP + 16)
    (old, *_), _ = await parts(database).old(before=KEEP_FROM)
    other = await asyncpg.connect(url)
    async with other.transaction():
        await other.execute("LOCK TABLE runs IN ROW EXCLUSIVE MODE")
        assert not await asyncio.wait_for(parts(database).drop(old, before=KEEP_FROM), 60)
    await other.close()
    assert await parts(database).drop(old, before=KEEP_FROM)


KEEP_FROM = 2**62


# The step from a store of the version before


@pytest.fixture
def only_before(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The version before step 0008."""
    steps = tuple(step for step in migrations._files() if step[0] < 8)
    monkeypatch.setattr(migrations, "_files", lambda: steps)
    return monkeypatch


INSERTS: Sequence[str] = (
    "INSERT INTO fires (id, org_id, trigger_id, trigger_name, generation, fire_at, outcome, first_at, last_at,"
    " instants, created_at) VALUES (1, 1, 1, 'old', 1, 1700000000000000, 'FIRED', 1, 1, 1, 1)",
    "INSERT INTO runs (id, run_at, org_id, namespace, wire_id, job_name, kind, owner, requested_by, fire_id,"
    " action_no, has_next, state, queue, labels, role, arguments, settings, attempts, retries, retry_delay_us,"
    " created_at, ended_at, updated_at) VALUES (2, 1700000000000000, 1, 'glue', 'jr_old', 'old', 'python', 'ann',"
    " 'ann', 1, 0, 0, 'SUCCEEDED', 'default', '', '', '{}', '{}', 1, 0, 0, 1, 1, 1)",
    "INSERT INTO attempts (id, run_at, run_id, org_id, namespace, number, wire_id, state, fence, due_at, queue,"
    " labels, role, created_at, ended_at, updated_at) VALUES (3, 1700000000000000, 2, 1, 'glue', 0, 'jr_old',"
    " 'SUCCEEDED', 1, 1, 'default', '', '', 1, 1, 1)",
)


async def test_what_an_older_version_has_written_is_the_first_partition_and_is_not_copied(
    postgres_url: str, only_before: pytest.MonkeyPatch
) -> None:
    database = database_from_url(postgres_url)
    await database.open()
    try:
        await database.migrate()
        await rows(postgres_url, *INSERTS, "SELECT 1")
        files = "SELECT pg_relation_filenode('{}') AS heap, pg_relation_filenode('{}') AS index"
        (before,) = await rows(postgres_url, files.format("attempts", "attempts_of_org"))
        only_before.undo()
        assert list(await database.migrate()) == ["partitions", "instants"]
        (after,) = await rows(postgres_url, files.format("attempts_before", "attempts_of_org_before"))
        assert after == before
        assert [await where(postgres_url, table) for table in ("fires", "runs", "attempts")] == [["before"]] * 3
        assert await names(postgres_url) == ["before", "rest"]  # which has room for a month
        await World(database).job()
        await World(database).start()
        assert await where(postgres_url) == ["before", "before"]
        assert (await database.read(get_attempt, org_id=1, wire_id="jr_old")) is not None
        migrated = await tables(postgres_url)
        await prune(database)  # its own partition will not be old for months
        assert await count(postgres_url, "fires", "runs", "attempts") == [0, 1, 1]
    finally:
        await database.close()
    assert migrated == await fresh(postgres_url)


async def fresh(url: str) -> list[str]:
    beside = f"{url}_fresh"
    await rows(url, f"CREATE DATABASE {beside.rpartition('/')[2]}")
    database = database_from_url(beside)
    await database.open()
    await database.migrate()
    await database.close()
    found = await tables(beside)
    await rows(url, f"DROP DATABASE {beside.rpartition('/')[2]}")
    return found


@pytest.mark.parametrize("broken", ["VALIDATE", "RENAME", "ATTACH"])
async def test_a_crash_in_the_step_is_resumed_and_meanwhile_the_older_version_goes_on(
    postgres_url: str, only_before: pytest.MonkeyPatch, broken: str
) -> None:
    database = database_from_url(postgres_url)
    await database.open()
    real = asyncpg.Connection.execute

    async def execute(self: Any, query: str, *values: Any, **more: Any) -> Any:
        if broken in query:
            self.terminate()
        return await real(self, query, *values, **more)

    try:
        await database.migrate()
        await rows(postgres_url, *INSERTS, "SELECT 1")
        only_before.undo()
        only_before.setattr(asyncpg.Connection, "execute", execute)
        with pytest.raises(asyncpg.InterfaceError):
            await database.migrate()
        only_before.undo()
        await rows(postgres_url, INSERTS[0].replace("(1, 1, 1,", "(9, 1, 9,"), "SELECT 1")
        assert list(await database.migrate()) == ["partitions", "instants"]
        assert await where(postgres_url, "fires") == ["before", "before"]
    finally:
        await database.close()


async def test_a_check_that_a_crash_left_long_ago_is_made_anew(
    postgres_url: str, only_before: pytest.MonkeyPatch
) -> None:
    database = database_from_url(postgres_url)
    await database.open()
    try:
        await database.migrate()
        stale = "ALTER TABLE fires ADD CONSTRAINT fires_ends CHECK (fire_at < 1700000000000001) NOT VALID"
        await rows(postgres_url, *INSERTS, stale, "SELECT 1")
        only_before.undo()
        assert list(await database.migrate()) == ["partitions", "instants"]
        await rows(postgres_url, INSERTS[0].replace("(1, 1, 1,", "(9, 1, 9,").replace("1700", "1794"), "SELECT 1")
    finally:
        await database.close()


def test_the_step_is_known_by_its_name() -> None:
    assert [step.version for step in migrations.migrations(POSTGRES) if step.name == partitioning.STEP] == [8]


async def test_one_that_somebody_drops_just_now_is_passed_over(database: Database, url: str) -> None:
    await later(database, 10)
    reader, other = await asyncpg.connect(url), await asyncpg.connect(url)
    try:
        async with reader.transaction(isolation="repeatable_read"):
            before = await partition_tables.partitions(reader)
            await other.execute(f"DROP TABLE runs_{before[0].name}")
            assert await partition_tables.partitions(reader) == before[1:]
    finally:
        await reader.close()
        await other.close()
