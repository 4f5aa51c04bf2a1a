"""The same small shard twice: as processes on this machine, and on the virtual clock. Lateness of fires, side by side.

The real one is a server's engine on PostgreSQL; it says itself, with its heartbeat, how late the fires of its last
minute were, once each was committed. Nobody serves the queue of what it fires.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

import asyncpg

from bench.harness import waterclock
from bench.peers.stored_window import tree_cpu_seconds
from bench.scale.constants import Constants
from bench.scale.mix import Line
from bench.scale.model import LAPTOP, Load
from bench.scale.shard import Shard
from waterclock.domain.job import JobSpec
from waterclock.domain.moment import SECOND, to_datetime
from waterclock.domain.schedule import Every, to_json
from waterclock.domain.trigger import Action, Target, TriggerSpec, TriggerType
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.jobs import create_job
from waterclock.stores.ops.nodes import Node, list_nodes
from waterclock.stores.ops.triggers import create_trigger

T = TypeVar("T")

PERIOD_SECONDS: Final = 60  # of every schedule; so many times what is due each second is stored
WINDOW_SECONDS: Final = 75  # the engine speaks of its last minute
LEAD_SECONDS: Final = 20  # for filling and starting


def real(url: str, postmaster: int, folder: Path, due: int) -> dict[str, float]:
    """With so many due at each whole second."""
    base = int(time.time()) + LEAD_SECONDS
    asyncio.run(_on(url, lambda database: _fill(database, url, due, base)))
    with waterclock("engine", folder, url):
        time.sleep(max(0.0, base - time.time()))
        before = tree_cpu_seconds(postmaster)
        time.sleep(WINDOW_SECONDS)
        spent = tree_cpu_seconds(postmaster) - before
        (node,) = asyncio.run(_on(url, _nodes))
    return {
        "late_p50_ms": node.late_median_us / 1_000,
        "late_p99_ms": node.late_us / 1_000,
        "database_percent": 100 * spent / WINDOW_SECONDS,
    }


def simulated(constants: Constants, due: int) -> dict[str, float]:
    """The fires alone: nobody claims."""
    begin = 1_000_000 * SECOND
    minute = timedelta(seconds=PERIOD_SECONDS)
    lines = [
        Line(Every(interval=minute, anchor=to_datetime(begin + second * SECOND)), 1 / PERIOD_SECONDS, 1_440)
        for second in range(PERIOD_SECONDS)
    ]
    load = Load(name="one shard", schedules=due * PERIOD_SECONDS, runs_a_day=due * 86_400)
    counts = [due] * PERIOD_SECONDS
    shard = Shard(lines, counts, constants=constants, machine=LAPTOP, slots=0, load=load, begin_us=begin, seed=1)
    for second in range(1, WINDOW_SECONDS + 1):
        shard.second(begin + second * SECOND)
    late = shard.tally.late
    return {
        "late_p50_ms": 1_000 * late.quantile(0.5),
        "late_p99_ms": 1_000 * late.quantile(0.99),
        "database_percent": 100 * shard.cores.busy / WINDOW_SECONDS,
    }


async def _on(url: str, work: Callable[[Database], Awaitable[T]]) -> T:
    database = database_from_url(url)
    await database.open()
    try:
        return await work(database)
    finally:
        await database.close()


async def _nodes(database: Database) -> list[Node]:
    return await database.read(list_nodes, within_seconds=60)


async def _fill(database: Database, url: str, due: int, base: int) -> None:
    """One trigger as it is made by a call, and the others as copies of its row: one by one they take minutes."""
    await database.migrate()
    spec = JobSpec(kind="callable", script="bench.noop:noop", max_concurrent=0, queue="nobody")
    place: dict[str, Any] = {"org_id": 1, "namespace": "glue", "owner": "bench", "definition": {}, "tags": {}}
    await database.write(create_job, name="noop", spec=spec, **place)
    every = Every(interval=timedelta(seconds=PERIOD_SECONDS), anchor=to_datetime(base * SECOND))
    actions = (Action(target=Target.JOB, name="noop"),)
    trigger = TriggerSpec(type=TriggerType.SCHEDULED, actions=actions, schedule=to_json(every))
    await database.write(create_trigger, name="at", spec=trigger, start=True, **place)
    connection = await asyncpg.connect(url)
    try:
        for statement in await _copies(connection, due, base):
            await connection.execute(statement)
        await connection.execute("VACUUM ANALYZE")
    finally:
        await connection.close()


async def _copies(connection: Any, due: int, base: int) -> list[str]:
    rows = await connection.fetch(
        "SELECT column_name AS name FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND table_name = 'triggers'"
    )
    kept = ", ".join(row["name"] for row in rows if row["name"] not in ("id", "name", "schedule", "next_fire_at"))
    copies = f"generate_series(1, {due * PERIOD_SECONDS - 1}) n"
    at = f"({base} + n / {due}) * CAST({SECOND} AS BIGINT)"
    anchored = f"replace(schedule, '{base * SECOND}', CAST({at} AS TEXT))"
    named = "trigger_id + n, action_no, org_id, namespace, target, name, arguments"
    return [
        f"INSERT INTO triggers (id, name, schedule, next_fire_at, {kept})"
        f" SELECT id + n, name || ' ' || n, {anchored}, {at}, {kept} FROM triggers, {copies}",
        "INSERT INTO trigger_actions (trigger_id, action_no, org_id, namespace, target, name, arguments)"
        f" SELECT {named} FROM trigger_actions, {copies}",
    ]
