"""What the store's operations cost: fire, claim, begin, renew, end, prune and beat, in batches, without an engine."""

import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any

import asyncpg

from bench.peers.stored_window import tree_cpu_seconds
from bench.scale.constants import Cost
from waterclock.domain.claim import Claimant
from waterclock.domain.job import JobSpec
from waterclock.domain.moment import SECOND
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.run import RunState
from waterclock.domain.trigger import Action, Target, TriggerSpec, TriggerType
from waterclock.stores.base import Tx
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.claiming import begin, claim, renew
from waterclock.stores.ops.ending import end_attempts
from waterclock.stores.ops.firing import fire_due
from waterclock.stores.ops.jobs import create_job
from waterclock.stores.ops.nodes import Node, beat
from waterclock.stores.ops.pruning import prune_ledger, prune_runs
from waterclock.stores.ops.triggers import create_trigger

SIZE = """SELECT COALESCE(SUM(pg_total_relation_size(part.relid)), pg_total_relation_size($1::text::regclass))::bigint
FROM pg_partition_tree($1::text::regclass) part"""  # a table that is divided has no size of its own
SMALL = 60  # transactions of one thing each, beside as many things in large ones
BATCH = 500
CREATED = 100  # in a transaction; a busy machine takes its time
HOUR_US = 3_600 * SECOND
SCHEDULE_TABLES = ("jobs", "job_versions", "triggers", "trigger_actions")
RUN_TABLES = ("fires", "runs", "attempts", "transitions")
TTL_SECONDS = 60.0
ME = Claimant(node="n" * 36, host="h" * 36)


@dataclass(frozen=True, slots=True)
class Seen:
    """What so many transactions over so many things took together."""

    transactions: int
    things: int
    python_seconds: float
    database_seconds: float
    wal_bytes: float
    statements: float


def cost_of(small: Seen, large: Seen) -> Cost:
    """The fixed part and the part of each, from two that differ in how many things a transaction has."""

    def parts(name: str) -> tuple[float, float]:
        one, many = getattr(small, name), getattr(large, name)
        share = small.transactions * large.things - large.transactions * small.things
        fixed = max(0.0, (one * large.things - many * small.things) / share)
        return fixed, max(0.0, (many - fixed * large.transactions) / large.things)

    (python, python_each), (database, database_each), (wal, wal_each) = map(
        parts, ("python_seconds", "database_seconds", "wal_bytes")
    )
    return Cost(
        python_us=python * 1e6,
        database_us=database * 1e6,
        python_us_each=python_each * 1e6,
        database_us_each=database_each * 1e6,
        wal_bytes=wal,
        wal_bytes_each=wal_each,
        trips=large.statements / large.transactions,
    )


def fixed(seen: Seen) -> Cost:
    """Of transactions that do one thing and no more."""
    each = each_alone(seen)
    return Cost(
        python_us=each.python_us_each,
        database_us=each.database_us_each,
        python_us_each=0.0,
        database_us_each=0.0,
        wal_bytes=each.wal_bytes_each,
        wal_bytes_each=0.0,
        trips=each.trips,
    )


def each_alone(seen: Seen) -> Cost:
    """Where the fixed part was not told apart."""
    return Cost(
        python_us=0.0,
        database_us=0.0,
        python_us_each=seen.python_seconds / seen.things * 1e6,
        database_us_each=seen.database_seconds / seen.things * 1e6,
        wal_bytes=0.0,
        wal_bytes_each=seen.wal_bytes / seen.things,
        trips=seen.statements / seen.transactions,
    )


class StoreCosts:
    """One store with `count` schedules of the server's kind, each with a job of its own, all of them due."""

    def __init__(self, url: str, postmaster: int, count: int) -> None:
        self._url = url
        self._postmaster = postmaster
        self._count = count
        self._claims: list[Beginning] = []

    async def measured(self) -> dict[str, Any]:
        self._raw = await asyncpg.connect(self._url)
        self._database = database_from_url(self._url)
        await self._database.open()
        try:
            await self._database.migrate()
            await self._raw.execute("CREATE EXTENSION pg_stat_statements")
            return await self._all()
        finally:
            await self._database.close()
            await self._raw.close()

    async def _all(self) -> dict[str, Any]:
        due = time.time_ns() // 1_000 + HOUR_US
        for first in range(0, self._count, CREATED):
            await self._database.write(_create, range(first, min(first + CREATED, self._count)), due)
        schedule_bytes = await self._bytes(SCHEDULE_TABLES) / self._count
        self._database.offset_us += 2 * HOUR_US
        costs = {"fire": await self._cost(self._fire)}
        self._database.offset_us += SECOND
        for name, work in (("claim", self._claim), ("begin", self._begin), ("renew", self._renew), ("end", self._end)):
            self._done = 0
            costs[name] = await self._cost(work)
        run_bytes = await self._bytes(RUN_TABLES) / self._count
        costs["beat"] = await self._beats()
        commits = await self._spans("UPDATE counters SET value = value WHERE kind = 'job'")
        trips = await self._spans("SELECT 1")
        costs["prune"] = await self._prunes()
        return {
            **{name: asdict(cost) for name, cost in costs.items()},
            "commit_ms": statistics.median(commits),
            "commit_p99_ms": commits[int(len(commits) * 0.99)],
            "trip_ms": statistics.median(trips),
            "schedule_bytes": schedule_bytes,
            "run_bytes": run_bytes,
        }

    async def _cost(self, work: Callable[[int], Awaitable[int]]) -> Cost:
        small = await self._seen(work, 1, SMALL)
        return cost_of(small, await self._seen(work, BATCH, self._count - SMALL))

    async def _seen(self, work: Callable[[int], Awaitable[int]], limit: int, things: int) -> Seen:
        before = await self._spent()
        transactions, done = 0, 0
        while done < things:
            done += await work(min(limit, things - done))
            transactions += 1
        spent = [after - was for was, after in zip(before, await self._spent(), strict=True)]
        return Seen(transactions, done, *spent)

    async def _spent(self) -> tuple[float, float, float, float]:
        row = await self._raw.fetchrow(
            "SELECT pg_current_wal_insert_lsn() - '0/0' AS wal, (SELECT SUM(calls) FROM pg_stat_statements) AS calls"
        )
        return time.process_time(), tree_cpu_seconds(self._postmaster), float(row["wal"]), float(row["calls"])

    async def _fire(self, limit: int) -> int:
        return (await self._database.write(fire_due, limit=limit, rules={})).triggers

    async def _claim(self, limit: int) -> int:
        found = (await self._database.write(claim, claimant=ME, limit=limit, ttl_seconds=TTL_SECONDS)).claimed
        self._claims += [Beginning(attempt_id=each.attempt.id, fence=each.attempt.fence, pid=4711) for each in found]
        return len(found)

    async def _begin(self, limit: int) -> int:
        return len(await self._next(limit, lambda some: self._database.write(begin, some)))

    async def _renew(self, limit: int) -> int:
        def renewed(some: list[Beginning]) -> Awaitable[object]:
            held = [(each.attempt_id, each.fence) for each in some]
            return self._database.write(renew, held=held, ttl_seconds=TTL_SECONDS)

        return len(await self._next(limit, renewed))

    async def _end(self, limit: int) -> int:
        def ended(some: list[Beginning]) -> Awaitable[object]:
            outcomes = [
                Outcome(attempt_id=each.attempt_id, fence=each.fence, state=RunState.SUCCEEDED, exit_code=0)
                for each in some
            ]
            return self._database.write(end_attempts, outcomes)

        return len(await self._next(limit, ended))

    async def _next(self, limit: int, work: Callable[[list[Beginning]], Awaitable[object]]) -> list[Beginning]:
        some = self._claims[self._done : self._done + limit]
        self._done += len(some)
        await work(some)
        return some

    async def _beats(self) -> Cost:
        node = Node(id="n" * 36, host="h" * 36, name="bench", duties=("worker",), version="0", pid=os.getpid())

        async def one(_: int) -> int:
            await self._database.write(beat, node=node, wall_us=time.time_ns() // 1_000)
            return 1

        return fixed(await self._seen(one, 1, 4 * SMALL))

    async def _prunes(self) -> Cost:
        self._database.offset_us += HOUR_US
        before = await self._spent()
        pages, runs = 0, 0
        while found := (await self._database.write(prune_runs, keep_seconds=0)).runs:
            pages, runs = pages + 1, runs + found
        while await self._database.write(prune_ledger, keep_seconds=0, keep_moves_seconds=0):
            pass
        await self._raw.execute("VACUUM")
        spent = [after - was for was, after in zip(before, await self._spent(), strict=True)]
        return each_alone(Seen(pages, runs, *spent))

    async def _spans(self, statement: str) -> list[float]:
        found = []
        for _ in range(4 * SMALL):
            began = time.perf_counter()
            await self._raw.execute(statement)
            found.append(1_000 * (time.perf_counter() - began))
        return sorted(found)

    async def _bytes(self, tables: tuple[str, ...]) -> float:
        sizes = [await self._raw.fetchval(SIZE, each) for each in tables]
        return float(sum(sizes))


async def _create(tx: Tx, numbers: range, due: int) -> None:
    spec = JobSpec(kind="python", script="s3://bench/script.py", max_concurrent=0)
    for number in numbers:
        name = f"job {number}"
        place = {"org_id": 1, "namespace": "glue", "owner": "bench", "tags": {}}
        await create_job(tx, name=name, spec=spec, definition={"Name": name}, **place)  # type: ignore[arg-type]
        when = {"kind": "every", "interval": 24 * HOUR_US, "anchor": due}
        trigger = TriggerSpec(
            type=TriggerType.SCHEDULED,
            actions=(Action(target=Target.JOB, name=name),),
            schedule=when,
            misfire={"grace_seconds": 86_400},
        )
        await create_trigger(tx, name=f"at {number}", spec=trigger, definition={}, start=True, **place)  # type: ignore[arg-type]


def store_costs(url: str, postmaster: int, count: int) -> dict[str, Any]:
    return asyncio.run(StoreCosts(url, postmaster, count).measured())
