"""N one-shot triggers due at the same instant, until every no-op callable has begun and that is recorded."""

import argparse
import asyncio
import time

from bench.harness import data_dir, report, spread, store, waterclock
from waterclock.domain.job import JobSpec
from waterclock.domain.moment import SECOND, to_datetime
from waterclock.domain.run import RunState
from waterclock.domain.schedule import parse_schedule, to_json
from waterclock.domain.trigger import Action, Target, TriggerSpec, TriggerType
from waterclock.stores.base import Database, Tx
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import reading
from waterclock.stores.ops.jobs import create_job
from waterclock.stores.ops.triggers import create_trigger


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=5_000)
    parser.add_argument("--lead-seconds", type=float, default=8.0, help="from the last creation to the due instant")


def run(given: argparse.Namespace) -> None:
    with (
        data_dir() as folder,
        store(given.store, folder) as url,
        waterclock("engine", folder, url, callables="bench.noop:noop"),
    ):
        figures = asyncio.run(_burst(url, given.count, given.lead_seconds))
    report("burst", store=given.store, count=given.count, **figures)


async def _burst(url: str, count: int, lead_seconds: float) -> dict[str, object]:
    database = database_from_url(url)
    await database.open()
    try:
        due = int(time.time() + lead_seconds + count / 400) + 1
        await _define(database, count, due)
        if time.time() > due:
            raise SystemExit("creating the triggers took longer than the lead: give a larger --lead-seconds")
        await asyncio.sleep(due - time.time())
        while (begun := await database.read(_count_begun)) < count:
            if time.time() > due + 120:
                raise SystemExit(f"only {begun} of {count} began within 120 s")
            await asyncio.sleep(0.02)
        seconds = time.time() - due
        attempts = await database.read(
            reading.list_attempts,
            org_id=1,
            namespaces=["api"],
            states=list(RunState),
            before=reading.FROM_THE_NEWEST,
            limit=count,
        )
        late = [(attempt.started_at - attempt.run_at) / SECOND for attempt in attempts if attempt.started_at]
        return {"fires_per_second": round(count / seconds), "seconds": round(seconds, 3), "lateness": spread(late)}
    finally:
        await database.close()


async def _define(database: Database, count: int, due: int) -> None:
    spec = JobSpec(kind="callable", script="bench.noop:noop", max_concurrent=0, queue="callables")
    await database.write(
        create_job, org_id=1, namespace="api", name="noop", owner="admin", spec=spec, definition={}, tags={}
    )
    instant = f"at({to_datetime(due * SECOND):%Y-%m-%dT%H:%M:%S})"
    trigger = TriggerSpec(
        type=TriggerType.SCHEDULED,
        actions=(Action(target=Target.JOB, name="noop"),),
        expression=instant,
        schedule=to_json(parse_schedule(instant)),
    )
    for first in range(0, count, 50):
        await asyncio.gather(*(_create(database, f"once {n}", trigger) for n in range(first, min(first + 50, count))))


async def _create(database: Database, name: str, spec: TriggerSpec) -> None:
    await database.write(
        create_trigger,
        org_id=1,
        namespace="api",
        name=name,
        owner="admin",
        spec=spec,
        definition={},
        tags={},
        start=True,
    )


async def _count_begun(tx: Tx) -> int:
    row = await tx.fetch_one("count_begun")
    return int(row["count"]) if row else 0
