"""What every store promises about an operation: whole or nothing, on the database's clock, heard by whoever listens."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from itertools import chain
from pathlib import Path

import pytest

from tests.stores.store import Store
from tests.stores.world import PLACE, World
from waterclock import clock
from waterclock.domain.errors import AlreadyExists, NotAllowed, NotFound, Unavailable
from waterclock.domain.job import JobSpec
from waterclock.domain.moment import SECOND
from waterclock.stores import Database
from waterclock.stores.base import Kind, StatementFailed, Topic, Tx
from waterclock.stores.ops.jobs import create_job, get_job, list_jobs
from waterclock.stores.ops.span import ALL
from waterclock.stores.postgres import database as postgres
from waterclock.stores.postgres.session import PostgresSession
from waterclock.stores.sqlite import SqliteDatabase


async def create(tx: Tx, name: str) -> None:
    await create_job(tx, **PLACE, name=name, owner="ann", spec=JobSpec(kind="shell"), definition={}, tags={})


async def names(database: Database) -> list[str]:
    found = await database.read(list_jobs, org_id=1, namespaces=["glue"], after="", limit=1_000)
    return [job.name for job in found]


class Bug(Exception):
    pass


@pytest.mark.parametrize("problem", [Bug("oops"), NotAllowed("no"), KeyError("x")])
async def test_an_operation_that_raises_leaves_nothing(database: Database, problem: Exception) -> None:
    async def half(tx: Tx) -> None:
        await create(tx, "half")
        tx.wake(Topic.TRIGGERS)
        raise problem

    with pytest.raises(type(problem)):
        await database.write(half)
    assert await names(database) == []
    await database.write(create, "whole")
    assert await names(database) == ["whole"]


async def test_what_fails_harms_no_neighbour(database: Database) -> None:
    async def fail(tx: Tx, name: str) -> None:
        await create(tx, name)
        raise Bug(name)

    work = [database.write(fail if n % 3 == 0 else create, f"job {n:02}") for n in range(30)]
    answers = await asyncio.gather(*work, return_exceptions=True)
    assert [isinstance(answer, Bug) for answer in answers] == [n % 3 == 0 for n in range(30)]
    assert await names(database) == [f"job {n:02}" for n in range(30) if n % 3]


async def test_an_operation_that_is_cancelled_leaves_nothing_or_all_of_it(database: Database) -> None:
    async def many(tx: Tx, first: int) -> None:
        for number in range(10):
            await create(tx, f"{first} {number}")

    for pause in range(8):
        task = asyncio.ensure_future(database.write(many, pause))
        for _ in range(pause * 4):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await database.write(create, "last")
    done = await names(database)
    assert all(sum(name.startswith(f"{first} ") for name in done) in (0, 10) for first in range(8))


async def test_a_state_that_nobody_knows_is_refused(world: World) -> None:
    await world.job()
    (answered,) = await world.start()

    async def invent(tx: Tx) -> None:
        values = {"id": answered.run_id, "run_at": (await world_run_at(tx)), "was": "STARTING", "now": 0}
        await tx.run("begin_run", {**values, "state": "DREAMING"})

    async def world_run_at(tx: Tx) -> int:
        row = await tx.fetch_one("whole_attempts_by_wire_ids", {"wire_ids": [answered.wire_id], **ALL})
        assert row is not None
        return int(row["run_at"])

    with pytest.raises(StatementFailed):
        await world.database.write(invent)
    assert await world.states() == ["STARTING"]


async def test_a_name_longer_than_its_column_is_refused_not_cut(store: Store, database: Database) -> None:
    if store.kind in ("sqlite", "memory"):
        await database.write(create, "x" * 300)  # SQLite has no lengths: the faces check them first
        assert await names(database) == ["x" * 300]
        return
    with pytest.raises(StatementFailed):
        await database.write(create, "x" * 300)
    assert await names(database) == []


async def test_the_clock_is_near_ours_and_moves_by_its_offset(database: Database) -> None:
    async def now(tx: Tx) -> int:
        return await tx.now()

    before = await database.read(now)
    assert abs(before - clock.wall_us()) < 10 * SECOND
    database.offset_us = 3_600 * SECOND
    assert 3_600 * SECOND <= await database.read(now) - before < 3_700 * SECOND


async def test_numbers_are_never_given_twice(shared: Store) -> None:
    databases = await shared.open_many(3)

    async def draw(tx: Tx, count: int) -> list[int]:
        return list(await tx.numbers(Kind.RUN, count))

    asked = [databases[n % 3].write(draw, count) for n, count in enumerate([1, 2, 700, 5_000, 1, 999, 1_001] * 3)]
    drawn = list(chain.from_iterable(await asyncio.gather(*asked)))
    assert len(drawn) == len(set(drawn)) == 3 * 7_704


async def test_a_number_of_an_operation_that_failed_is_not_missed(database: Database) -> None:
    async def draw(tx: Tx, fail: bool) -> int:
        (number,) = await tx.numbers(Kind.JOB, 1)
        if fail:
            raise Bug
        return number

    first = await database.write(draw, False)
    with pytest.raises(Bug):
        await database.write(draw, True)
    assert await database.write(draw, False) > first


async def test_a_look_up_sees_what_another_node_has_committed(shared: Store) -> None:
    one, other = await shared.open_many(2)
    for name in ("first", "second"):
        assert await other.look_up(get_job, **PLACE, name=name) is None
        await one.write(create, name)
        found = await other.look_up(get_job, **PLACE, name=name)
        assert found is not None
        assert found.name == name


async def test_a_look_up_that_finds_the_file_held_waits_beside_the_event_loop(tmp_path: Path) -> None:
    database = SqliteDatabase(str(tmp_path / "wc.db"))
    await database.open()
    await database.migrate()
    await database.look_up(get_job, **PLACE, name="job")
    await database.write(create, "job")
    assert database._at_hand
    database._at_hand.set_progress_handler(lambda: 1, 1)  # whatever it is asked, it cannot just now
    assert await database.look_up(get_job, **PLACE, name="job")
    await database.close()


async def test_a_file_that_cannot_be_opened_is_unavailable_to_readers_too(tmp_path: Path) -> None:
    database = SqliteDatabase(f"{tmp_path}/wc.db")
    await database.open()
    try:
        database.path = str(tmp_path)  # as where no more files may be open: the writer has its own already
        for ask in (database.read, database.look_up):
            with pytest.raises(Unavailable):
                await ask(list_jobs, org_id=1, namespaces=["glue"], after="", limit=1)
    finally:
        await database.close()


async def test_a_read_has_one_view_while_others_write(shared: Store) -> None:
    one, other = await shared.open_many(2)
    begun, written = threading.Event(), threading.Event()

    async def look_twice(tx: Tx) -> list[bool]:
        seen = [await there(tx)]
        begun.set()
        if shared.kind == "sqlite":  # in its own thread: nothing else can be awaited there
            assert written.wait(10)
        else:
            assert await asyncio.to_thread(written.wait, 10)
        return [*seen, await there(tx)]

    async def there(tx: Tx) -> bool:
        return await get_job(tx, **PLACE, name="etl") is not None

    reading = asyncio.ensure_future(one.read(look_twice))
    await asyncio.to_thread(begun.wait, 10)
    await other.write(create, "etl")
    written.set()
    assert await reading == [False, False]
    assert await one.read(look_twice) == [True, True]


async def test_a_process_paused_between_parse_and_execution_does_not_hold_its_rows(
    migrated_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store("postgres", migrated_postgres)
    other = await store.open()
    await World(other).job("held")
    monkeypatch.setattr(postgres, "TRANSACTION_SECONDS", 1)  # of the paused one alone: the other may wait for it
    paused = await store.open()
    holds = asyncio.Event()

    async def pause(tx: Tx) -> None:
        await lock(tx)
        assert isinstance(tx, PostgresSession)
        await tx._connection.prepare("SELECT 1")  # the server has it, and waits for the rest
        holds.set()
        await asyncio.Event().wait()

    async def lock(tx: Tx) -> int:
        job = await get_job(tx, **PLACE, name="held")
        assert job is not None
        return len(await tx.fetch("lock_jobs", {"ids": [job.id]}))

    holding = asyncio.ensure_future(paused.write(pause))
    await holds.wait()
    assert await other.write(lock) == 1
    holding.cancel()
    await store.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


async def heard_by(database: Database, topic: Topic, send: Callable[[], Awaitable[object]]) -> int:
    """How often it was heard, once what precedes has settled."""
    heard: list[None] = []
    await asyncio.sleep(0)
    stop = database.listen(topic, lambda: heard.append(None))
    await send()
    await until(lambda: bool(heard))
    stop()
    return len(heard)


async def ring(tx: Tx) -> None:
    tx.wake(Topic.ATTEMPTS)


async def test_a_wake_up_is_heard_in_the_same_process(database: Database) -> None:
    assert await heard_by(database, Topic.ATTEMPTS, lambda: database.write(ring)) >= 1


async def test_a_wake_up_is_heard_in_every_other_process(shared: Store) -> None:
    one, *others = await shared.open_many(3)
    heard: list[int] = []
    for number, other in enumerate(others):
        other.listen(Topic.ATTEMPTS, lambda number=number: heard.append(number))  # type: ignore[misc]
    await one.write(ring)
    await until(lambda: set(heard) == {0, 1})


async def test_a_wake_up_comes_after_what_it_tells_of(shared: Store) -> None:
    one, other = await shared.open_many(2)
    found: list[asyncio.Task[object]] = []

    async def send(tx: Tx, name: str) -> None:
        await create(tx, name)
        tx.wake(Topic.ENDS)

    def look() -> None:
        found.append(asyncio.ensure_future(other.read(get_job, **PLACE, name="etl")))

    other.listen(Topic.ENDS, look)
    await one.write(send, "etl")
    await until(lambda: bool(found))
    assert await found[0] is not None


async def test_who_stopped_listening_hears_no_more(database: Database) -> None:
    heard: list[None] = []
    stop = database.listen(Topic.ATTEMPTS, lambda: heard.append(None))
    stop()
    stop()
    await database.write(ring)
    assert heard == []


async def test_a_closed_store_is_unavailable(store: Store) -> None:
    database = await store.open()
    await database.close()
    with pytest.raises(Unavailable):
        await database.write(create, "etl")


async def test_refusals_keep_their_kind_and_words(world: World) -> None:
    await world.job("etl")
    with pytest.raises(AlreadyExists) as taken:
        await world.job("etl")
    assert (taken.value.kind, taken.value.name) == ("job", "etl")
    with pytest.raises(NotFound) as missing:
        await world.start("gone")
    assert (missing.value.kind, missing.value.name) == ("job", "gone")


async def test_a_batch_of_one_and_of_many_write_the_same(world: World, store: Store) -> None:
    """Texts that would trip a careless encoder survive both ways of writing."""
    tricky = ["'", '"', "\\", "\\n", "%s", "{}", "💧", "a\nb", "é", "\t", " pad ", "null", "1"]

    async def send(tx: Tx, bodies: list[str], first: int) -> None:
        rows = [
            {"id": first + n, "org_id": 1, "kind": "k", "severity": "s", "run_id": None if n % 2 else n, "subject": b}
            for n, b in enumerate(bodies)
        ]
        same = {"created_at": 1, **dict.fromkeys(("chain_id", "flow_run_id", "tag", "subtag", "node"))}
        await tx.run_many("insert_message", [{**row, "body": row["subject"], **same} for row in rows])

    for number, body in enumerate(tricky):
        await world.database.write(send, [body], 1_000 + number)
    await world.database.write(send, tricky, 2_000)
    from waterclock.stores.ops.messages import list_messages

    found = await world.database.read(list_messages, org_id=1, before=2**62, limit=1_000)
    assert [each.body for each in found] == tricky[::-1] * 2
    assert [each.subject for each in found] == tricky[::-1] * 2
    assert [each.run_id for each in found[: len(tricky)]] == [None if n % 2 else n for n in range(len(tricky))][::-1]
