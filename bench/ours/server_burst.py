"""The server's engine fires N one-shot triggers due at the same instant, until every begin is recorded in the store."""

import asyncio
import time

from bench.harness import spread
from bench.peers.measures import burst_figures
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

NO_WAIT = "?synchronous_commit=off"  # triggers are made without waiting for the disk; they fire with fsync
SIDE_BY_SIDE = 20  # triggers that are created at the same time
TRIAL = 100


async def fired(url: str, count: int, lead_seconds: float) -> tuple[dict[str, object], dict[str, float]]:
    """By an observer that polls the store, and by the begins that are in it."""
    due = await _defined(url + NO_WAIT if url.startswith("postgres") else url, count, lead_seconds)
    database = database_from_url(url)
    await database.open()
    try:
        if time.time() > due - 0.5:
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
        observed = {"fires_per_second": round(count / seconds), "seconds": round(seconds, 3), "lateness": spread(late)}
        return observed, burst_figures(late, 0)
    finally:
        await database.close()


async def _defined(url: str, count: int, lead_seconds: float) -> int:
    """All triggers, for a second that comes when they are there; some for tomorrow, to see how long one takes."""
    database = database_from_url(url)
    await database.open()
    try:
        spec = JobSpec(kind="callable", script="bench.noop:noop", max_concurrent=0, queue="callables")
        await database.write(
            create_job, org_id=1, namespace="api", name="noop", owner="admin", spec=spec, definition={}, tags={}
        )
        began = time.time()
        await _create_all(database, "trial", TRIAL, _once_at(int(began) + 86_400))
        each = (time.time() - began) / TRIAL
        due = int(time.time() + lead_seconds + 2 * count * each) + 1
        await _create_all(database, "once", count, _once_at(due))
        return due
    finally:
        await database.close()


def _once_at(due: int) -> TriggerSpec:
    instant = f"at({to_datetime(due * SECOND):%Y-%m-%dT%H:%M:%S})"
    return TriggerSpec(
        type=TriggerType.SCHEDULED,
        actions=(Action(target=Target.JOB, name="noop"),),
        expression=instant,
        schedule=to_json(parse_schedule(instant)),
    )


async def _create_all(database: Database, name: str, count: int, spec: TriggerSpec) -> None:
    for first in range(0, count, SIDE_BY_SIDE):
        numbers = range(first, min(first + SIDE_BY_SIDE, count))
        await asyncio.gather(*(_create(database, f"{name} {number}", spec) for number in numbers))


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
