"""W9: W1 and W2 in a store with 10,000,000 finished runs, beside an empty store on the same server, in turns.

The full store is made once, when it is first needed (`--runs 1000000` takes a minute, ten million some ten minutes and
12 GB); an empty one is new each time. What counts is the ratio of the two: the goal is a difference below 10 %.
"""

import argparse
import asyncio
import atexit
import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from bench.contest.contestant import LIMIT, US, BenchProblem, Contest, Contestant, Figure, Figures
from bench.contest.program import figures_of
from bench.harness import ROOT
from bench.ours.finished_runs import fill, stored
from bench.peers.stored_window import tree_cpu_seconds
from waterclock.stores import database_from_url

NAME = "history"
RUNS, QUICK = 10_000_000, 100_000
OFTEN, SHARE = 5, 0.9  # ten seconds a round; what the issue leaves between the two is less than one round's noise
ALL = 0.99  # as PostgreSQL counts
LIBRARY = "bench.ours.library"
COUNT, QUICK_COUNT = 5_000, 1_000
SUBMISSIONS = 200

FIRES = (
    Figure(key="fires_per_second", title="fires a second", unit="/s", more_is_better=True, share=SHARE),
    Figure(key="lateness_p50_ms", title="lateness p50", unit="ms", more_is_better=False),
    Figure(key="lateness_p99_ms", title="lateness p99", unit="ms", more_is_better=False),
    Figure(key="database_seconds", title="CPU of the database, making and firing", unit="s", more_is_better=False),
)
LATENCY = (
    Figure(key="p50_ms", title="submit to first line, p50", unit="ms", more_is_better=False, share=SHARE),
    Figure(key="p99_ms", title="p99", unit="ms", more_is_better=False),
    Figure(key="database_seconds", title="CPU of the database", unit="s", more_is_better=False),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, help=f"finished runs in the store; default: {RUNS:,}")


def contests(given: argparse.Namespace) -> Sequence[Contest]:
    quick = getattr(given, "quick", False)
    runs = given.runs or (QUICK if quick else RUNS)
    count = QUICK_COUNT if quick else COUNT
    return [
        contest("W9-burst", f"W9: {count:,} due at one instant", FIRES, runs, "burst", count),
        contest("W9-latency", "W9: one job at a time, idle system", LATENCY, runs, "latency", SUBMISSIONS),
    ]


def contest(name: str, title: str, figures: Sequence[Figure], runs: int, workload: str, count: int) -> Contest:
    def on(store: Callable[[], contextlib.AbstractContextManager[str]]) -> Callable[[], Figures]:
        def measure() -> Figures:
            with store() as url:
                before = tree_cpu_seconds(server().pid)
                seen = figures_of([sys.executable, "-m", LIBRARY, workload, "--count", str(count), "--url", url])
                return {**seen, "database_seconds": tree_cpu_seconds(server().pid) - before}

        return measure

    return Contest(
        name=name,
        title=f"{title}, with {runs:,} finished runs in the store and with none",
        figures=figures,
        often=OFTEN,
        contestants=[
            Contestant(name=f"waterclock, {runs:,} finished runs", role=US, measure=on(lambda: full_store(runs))),
            Contestant(name="waterclock, empty store", role=LIMIT, measure=on(empty_store)),
        ],
    )


@contextlib.contextmanager
def empty_store() -> Iterator[str]:
    with server().fresh_database() as url:
        asyncio.run(migrated(url))
        yield url


@contextlib.contextmanager
def full_store(runs: int) -> Iterator[str]:
    """Kept for all rounds: what they add to it is little, and nothing of it may go."""
    url = filled(runs)
    yield url
    if (left := asyncio.run(stored(url))) < ALL * runs:
        raise BenchProblem(f"only {left:,} of {runs:,} finished runs are left in the store")


@cache
def filled(runs: int) -> str:
    url: str = server().url  # the one that goes with the server
    asyncio.run(migrated(url))
    seconds = asyncio.run(fill(url, runs))
    os.sync()  # else the disk is still busy with it in the first rounds
    print(f"{runs:,} finished runs in {seconds:.0f} s", file=sys.stderr, flush=True)
    return url


@cache
def server() -> Any:
    """One for both, with fsync on: whatever it does beside disturbs both. It is stopped with this program."""
    sys.path.insert(0, str(ROOT))
    from tests.services.postgres import PostgresServer

    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(PostgresServer())


async def migrated(url: str) -> None:
    database = database_from_url(url)
    await database.open()
    try:
        await database.migrate()
    finally:
        await database.close()
