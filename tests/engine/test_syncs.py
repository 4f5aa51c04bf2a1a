"""From a claimed sync to its program, and what is kept of it: sources, secrets, bookmarks, turns."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.by_hand import PLACE, ByHand, Worker
from waterclock.domain.access import Caller, Role
from waterclock.domain.job import JobSpec
from waterclock.domain.lake_sync import PROBE, SyncKind
from waterclock.domain.run import RunState
from waterclock.runners import preparing
from waterclock.runners.base import Program
from waterclock.runners.lake import order as orders
from waterclock.runners.lake.order import Order
from waterclock.runners.lake.report import Reporter
from waterclock.runners.sync import bookmarks
from waterclock.stores.base import Database, Tx
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import jobs, reading, starting

ANN = Caller(user="ann", org_id=1, account="", role=Role.AUTHOR, address="", request_id="")
TASK: dict[str, Any] = {"source_id": 1, "table_name": "people", "dest_table_name": "people"}


@pytest.fixture
async def database(sqlite_url: str) -> AsyncIterator[Database]:
    database = database_from_url(sqlite_url)
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
async def worker(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Worker]:
    monkeypatch.setattr(preparing, "LOCK_SECONDS", 0.01)
    worker = Worker(database, tmp_path, ByHand())
    await worker.attempts.open()
    await worker.secrets.put(ANN, "db", "a-password")
    await have_source(database, {"host": "db", "password": "{{secret:db}}"})
    yield worker
    await worker.attempts.close()


async def have_source(database: Database, config: dict[str, Any]) -> None:
    row = {"id": 1, "org_id": 1, "name": "shop", "kind": "postgresql", "owner": "ann", "creator": "ann"}

    async def insert(tx: Tx) -> None:
        await tx.run("insert_lake_source", {**row, "config": json.dumps(config), "now": await tx.now()})

    await database.write(insert)


async def job(worker: Worker, name: str = "job", *, kind: str = SyncKind.DB, **task: Any) -> None:
    spec = JobSpec(kind=kind, call={**TASK, **task}, max_concurrent=0)
    await worker.database.write(jobs.create_job, **PLACE, name=name, owner="ann", spec=spec, definition={}, tags={})


async def start(worker: Worker, name: str) -> str:
    request = starting.RunRequest(job_name=name)
    (run,) = await worker.database.write(starting.start_runs, **PLACE, requested_by="ann", requests=[request])
    await worker.dispatcher.tick()
    return run.wire_id


async def until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(20):
        while not await holds():
            await asyncio.sleep(0.01)


def order_of(program: Program) -> Order:
    return orders.read(program.argv[1])


async def test_it_is_told_its_source_with_its_secrets_and_masks_them(worker: Worker) -> None:
    await job(worker)
    program = await worker.start()
    order = order_of(program)
    assert order.sources == ({"id": 1, "kind": "postgresql", "config": {"host": "db", "password": "a-password"}},)
    assert (order.task["sync_mode"], order.task["destinations"][0]["type"]) == ("FullSync", "parquet")
    Reporter(Path(program.cwd)).reason("login with a-password failed")
    ended = await worker.end(program, 1)
    assert (ended.message or "").startswith("login with *** failed")


async def test_one_run_may_have_another_mode(worker: Worker) -> None:
    await job(worker)
    program = await worker.start(sync_mode="IncrementalSync")
    task = order_of(program).task
    assert (task["sync_mode"], task["destinations"][0]["config"]["write_mode"]) == ("IncrementalSync", "append")
    await worker.end(program)
    wire_id = await worker.ask(sync_mode="Sideways")
    await worker.dispatcher.tick()
    assert "FullSync or IncrementalSync" in ((await worker.ended(wire_id)).message or "")


async def test_what_it_left_is_for_the_next_run_if_it_succeeded(worker: Worker) -> None:
    await job(worker)
    failed = await worker.start()
    bookmarks.write(Path(failed.cwd), '{"value": "6"}')
    await worker.end(failed, 1)
    assert await worker.bookmark() is None
    program = await worker.start()
    assert order_of(program).bookmark is None
    bookmarks.write(Path(program.cwd), '{"value": "7"}')
    await worker.end(program)
    following = await worker.start()
    assert order_of(following).bookmark == '{"value": "7"}'
    await worker.end(following)
    assert await worker.bookmark() == '{"value": "7"}'


async def test_a_source_that_is_gone_is_a_clear_end(worker: Worker) -> None:
    await job(worker, source_id=9)
    wire_id = await start(worker, "job")
    assert (await worker.ended(wire_id)).message == "its source 9 is gone: make another, and name that in the job"


async def test_who_waits_for_a_destination_starts_when_the_other_has_ended(worker: Worker) -> None:
    await job(worker, "one")
    await job(worker, "other")
    await start(worker, "one")
    first = await worker.started()
    waiting = await start(worker, "other")

    async def says_why() -> bool:
        found = await worker.database.read(reading.get_attempt, org_id=1, wire_id=waiting)
        return found is not None and "job one is writing to file://" in (found.wait_reason or "")

    await until(says_why)
    assert len(worker.runner.programs) == 1
    await worker.end(first)
    second = await worker.started()
    assert second.env["WATERCLOCK_RUN_ID"] == waiting
    await worker.end(second)


async def test_who_waits_can_be_stopped_and_never_starts(worker: Worker) -> None:
    await job(worker, "one")
    await job(worker, "other")
    await start(worker, "one")
    first = await worker.started()
    waiting = await start(worker, "other")
    found = await worker.database.read(reading.get_attempt, org_id=1, wire_id=waiting)
    assert found is not None
    await worker.attempts.stop([found.id])
    await worker.attempts.recorder.tick()
    await worker.end(first)
    assert worker.runner.programs == {}


async def test_a_probe_is_told_its_question_and_leaves_no_bookmark(worker: Worker) -> None:
    await job(worker, kind=PROBE)
    program = await worker.start(action="preview", source="1", what='{"table_name": "people", "rows": 3}')
    order = order_of(program)
    assert order.task == {"table_name": "people", "rows": 3, "action": "preview", "source_id": 1}
    assert order.sources[0]["config"]["password"] == "a-password"
    bookmarks.write(Path(program.cwd), '{"value": "7"}')
    assert (await worker.end(program)).state is RunState.SUCCEEDED
    assert await worker.bookmark() is None
