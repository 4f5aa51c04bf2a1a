"""N chains of no-op steps due at one instant, until all have ended; beside bare runs of their program, `subprocess`."""

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.harness import data_dir, report, store, waterclock
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


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=200, help="of chains")
    parser.add_argument("--levels", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3, help="at each level")
    parser.add_argument("--env", default="python", help="what runs the program: `python` is warm; /usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lead-seconds", type=float, default=3.0, help="for creating the chains before they are due")


def run(given: argparse.Namespace) -> None:
    with data_dir() as folder, store(given.store, folder) as url:
        script = folder / "jobs" / "noop" / "step.py"
        script.parent.mkdir(parents=True)
        script.touch()
        settings = {"chains_jobfolder": folder / "jobs", "interpreters": f"{given.env}={given.env}"}
        with waterclock("engine", folder, url, **settings):
            work = Work(given=given, url=url, script=script)
            seconds = asyncio.run(work.rounds())
    steps = given.count * given.levels * given.steps
    chains, bare, plain = (statistics.median(each) for each in zip(*seconds, strict=True))
    report(
        "chains",
        store=given.store,
        count=given.count,
        levels=given.levels,
        steps=given.steps,
        env=given.env,
        chains_per_second=round(given.count / chains, 1),
        steps_per_second=round(steps / chains, 1),
        bare_runs_per_second=round(steps / bare, 1),
        subprocess_4_threads=round(steps / plain, 1),
        overhead_per_step_ms=round(statistics.median(c - b for c, b, _ in seconds) / steps * 1_000, 2),
        ratio_to_bare=round(statistics.median(b / c for c, b, _ in seconds), 2),
        ratio_to_subprocess=round(statistics.median(p / c for c, _, p in seconds), 2),
        rounds_seconds=[tuple(round(each, 2) for each in one) for one in seconds],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """All of it on one store; what is counted there grows from round to round."""

    given: argparse.Namespace
    url: str
    script: Path

    async def rounds(self) -> list[tuple[float, float, float]]:
        """Seconds of each round: the chains, the bare runs, the plain subprocesses."""
        given, seconds = self.given, []
        each = given.levels * given.steps
        database = database_from_url(self.url)
        await database.open()
        try:
            await database.write(_define_job, given.env, self.script)
            await self._chains(database, WARMING, chains=WARMING)
            await self._bare(database, WARMING * each, runs=WARMING * each)
            for number in range(1, given.rounds + 1):
                so_far = WARMING + number * given.count
                chains = await self._chains(database, given.count, chains=so_far)
                bare = await self._bare(database, given.count * each, runs=so_far * each)
                seconds.append((chains, bare, _subprocesses(given.env, self.script, given.count * each)))
        finally:
            await database.close()
        return seconds

    async def _chains(self, database: Database, count: int, *, chains: int) -> float:
        """`chains` have ended in all when these have."""
        due = int(time.time() + self.given.lead_seconds) + 1
        await database.write(_define_chains, self.given, count, due)
        if time.time() > due:
            raise SystemExit("creating the chains took longer than the lead: give a larger --lead-seconds")
        await asyncio.sleep(due - time.time())
        await self._until("SELECT COUNT(*) AS n FROM flow_runs WHERE ended_at IS NOT NULL", chains)
        seconds = time.time() - due
        await self._check(chains)
        return seconds

    async def _bare(self, database: Database, count: int, *, runs: int) -> float:
        began = time.time()
        requests = [RunRequest(job_name="noop")] * count
        await database.write(start_runs, org_id=1, namespace="api", requested_by="admin", requests=requests)
        await self._until("SELECT COUNT(*) AS n FROM runs WHERE namespace = 'api' AND state = 'SUCCEEDED'", runs)
        return time.time() - began

    async def _until(self, counted: str, wanted: int) -> None:
        deadline = time.monotonic() + LONGEST_SECONDS
        while (n := (await rows(self.url, counted))[0]["n"]) < wanted:
            if time.monotonic() > deadline:
                raise SystemExit(f"only {n} of {wanted} within {LONGEST_SECONDS} s")
            await asyncio.sleep(0.1)  # often enough: the one who looks must not be the one who works

    async def _check(self, chains: int) -> None:
        """Every step once, and well: one attempt of one run for each node, and no chain that is not complete."""
        steps = chains * self.given.levels * self.given.steps
        (nodes,) = await rows(self.url, "SELECT COUNT(*) AS n FROM flow_nodes WHERE outcome = 'SUCCEEDED'")
        attempts = await rows(
            self.url,
            "SELECT state, COUNT(*) AS n, COUNT(DISTINCT run_id) AS runs FROM attempts"
            " WHERE namespace = 'chains' GROUP BY state",
        )
        ended = await rows(self.url, "SELECT state, COUNT(*) AS n FROM flow_runs GROUP BY state")
        found = (nodes["n"], [tuple(row.values()) for row in attempts], [tuple(row.values()) for row in ended])
        if found != (steps, [("SUCCEEDED", steps, steps)], [("COMPLETED", chains)]):
            raise SystemExit(f"not every step ran once: {found}")


async def _define_job(tx: Tx, kind: str, script: Path) -> None:
    spec = JobSpec(kind=kind, script=f"file://{script}", max_concurrent=0)
    await create_job(tx, org_id=1, namespace="api", name="noop", owner="admin", spec=spec, definition={}, tags={})


async def _define_chains(tx: Tx, given: argparse.Namespace, count: int, due: int) -> None:
    """All in one transaction: none of them can be due before the others are there."""
    timestr = to_datetime(due * SECOND).strftime("%-S %-M %-H %-d %-m ? %Y")
    for _ in range(count):
        steps = tuple(
            Step(command=f"noop/step.py;{level};{step}", step_lvl=level, ottime=5, env=given.env)
            for level in range(given.levels)
            for step in range(given.steps)
        )
        spec = ChainSpec(timestr=timestr, steps=steps)
        await create_chain(tx, org_id=1, owner="admin", spec=spec, probe_seconds=60)


def _subprocesses(env: str, script: Path, count: int) -> float:
    command = [sys.executable if env == "python" else env, str(script)]
    began = time.perf_counter()
    with ThreadPoolExecutor(4) as threads:
        for done in threads.map(lambda _: subprocess.run(command, capture_output=True, check=False), range(count)):
            if done.returncode:
                raise SystemExit(f"the baseline failed: {done}")
    return time.perf_counter() - began
