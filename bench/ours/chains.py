"""Chains of no-op steps on our engine, and as many bare runs of their program: seconds until the store has all."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from bench.contest.contestant import BenchProblem
from tests.stores.raw import rows
from waterclock.domain.chain import ChainSpec, Step
from waterclock.domain.job import JobSpec
from waterclock.domain.moment import SECOND, to_datetime
from waterclock.stores.base import Database, Tx
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.chains import create_chain
from waterclock.stores.ops.jobs import create_job
from waterclock.stores.ops.starting import RunRequest, start_runs

LONGEST_SECONDS = 300.0
WARMING = 10  # chains, and as many runs as they have steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """So many chains, each of so many levels with so many steps."""

    count: int
    levels: int = 3
    steps: int = 3
    env: str = "python"  # what runs the program: `python` is warm

    @property
    def each(self) -> int:
        return self.levels * self.steps

    @property
    def all_steps(self) -> int:
        return self.count * self.each


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainWork:
    """Due at one instant, until all have ended and every step has run once."""

    shape: Shape
    url: str
    script: Path
    lead_seconds: float

    async def seconds(self) -> tuple[float, float]:
        """The chains', and the bare runs'."""
        shape = self.shape
        database = database_from_url(self.url)
        await database.open()
        try:
            await database.write(_define_job, shape.env, self.script)
            await self._chains(database, WARMING, in_all=WARMING)
            await self._bare(database, WARMING * shape.each, in_all=WARMING * shape.each)
            chains = await self._chains(database, shape.count, in_all=WARMING + shape.count)
            bare = await self._bare(database, shape.all_steps, in_all=WARMING * shape.each + shape.all_steps)
            return chains, bare
        finally:
            await database.close()

    async def _chains(self, database: Database, count: int, *, in_all: int) -> float:
        due = int(time.time() + self.lead_seconds) + 1
        await database.write(_define_chains, self.shape, count, due)
        if time.time() > due:
            raise BenchProblem("creating the chains took longer than the lead: give a larger --lead-seconds")
        await asyncio.sleep(due - time.time())
        await self._until("SELECT COUNT(*) AS n FROM flow_runs WHERE ended_at IS NOT NULL", in_all)
        seconds = time.time() - due
        await self._check(in_all)
        return seconds

    async def _bare(self, database: Database, count: int, *, in_all: int) -> float:
        began = time.time()
        requests = [RunRequest(job_name="noop")] * count
        await database.write(start_runs, org_id=1, namespace="api", requested_by="admin", requests=requests)
        await self._until("SELECT COUNT(*) AS n FROM runs WHERE namespace = 'api' AND state = 'SUCCEEDED'", in_all)
        return time.time() - began

    async def _until(self, counted: str, wanted: int) -> None:
        deadline = time.monotonic() + LONGEST_SECONDS
        while (n := (await rows(self.url, counted))[0]["n"]) < wanted:
            if time.monotonic() > deadline:
                raise BenchProblem(f"only {n} of {wanted} within {LONGEST_SECONDS:g} s")
            await asyncio.sleep(0.1)  # often enough: the one who looks must not be the one who works

    async def _check(self, chains: int) -> None:
        """Every step once, and well: one attempt of one run for each node, and no chain that is not complete."""
        steps = chains * self.shape.each
        (nodes,) = await rows(self.url, "SELECT COUNT(*) AS n FROM flow_nodes WHERE outcome = 'SUCCEEDED'")
        attempts = await rows(
            self.url,
            "SELECT state, COUNT(*) AS n, COUNT(DISTINCT run_id) AS runs FROM attempts"
            " WHERE namespace = 'chains' GROUP BY state",
        )
        ended = await rows(self.url, "SELECT state, COUNT(*) AS n FROM flow_runs GROUP BY state")
        found = (nodes["n"], [tuple(row.values()) for row in attempts], [tuple(row.values()) for row in ended])
        if found != (steps, [("SUCCEEDED", steps, steps)], [("COMPLETED", chains)]):
            raise BenchProblem(f"not every step ran once: {found}")


async def _define_job(tx: Tx, kind: str, script: Path) -> None:
    spec = JobSpec(kind=kind, script=f"file://{script}", max_concurrent=0)
    await create_job(tx, org_id=1, namespace="api", name="noop", owner="admin", spec=spec, definition={}, tags={})


async def _define_chains(tx: Tx, shape: Shape, count: int, due: int) -> None:
    """All in one transaction: none of them can be due before the others are there."""
    timestr = to_datetime(due * SECOND).strftime("%-S %-M %-H %-d %-m ? %Y")
    steps = tuple(
        Step(command=f"noop/step.py;{level};{step}", step_lvl=level, ottime=5, env=shape.env)
        for level in range(shape.levels)
        for step in range(shape.steps)
    )
    for _ in range(count):
        spec = ChainSpec(timestr=timestr, steps=steps)
        await create_chain(tx, org_id=1, owner="admin", spec=spec, probe_seconds=60)
