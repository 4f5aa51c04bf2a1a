"""W1: N one-shot schedules due at the same instant in a durable store, until every no-op has begun.

Alone (`--store`) it is the server's engine, and every begin is in the store, too.
"""

import argparse
import asyncio
from collections.abc import Sequence

from bench.contest.contestant import Contest, Contestant, Figure
from bench.contest.entrants import MEMORY, REDIS, limit, ours, peer, seldom
from bench.harness import data_dir, report, store, waterclock
from bench.ours.server_burst import fired
from bench.peers import quartz
from bench.peers.measures import PATIENCE_SECONDS

NAME = "burst"
COUNTS, QUICK = (5_000, 10_000), (300,)
IN_MEMORY = 10_000
GOAL, LATENESS_GOAL = 25_000, 250
LIBRARY, SERVER = "bench.ours.library", "bench.ours.server"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, help="default: 5,000; in a contest 5,000 and 10,000")
    parser.add_argument("--lead-seconds", type=float, default=8.0, help="from the last creation to the due instant")


def run(given: argparse.Namespace) -> None:
    count = given.count or COUNTS[0]
    with (
        data_dir() as folder,
        store(given.store, folder) as url,
        waterclock("engine", folder, url, callables="bench.noop:noop"),
    ):
        figures, _ = asyncio.run(fired(url, count, given.lead_seconds))
    report("burst", store=given.store, count=count, **figures)


def contests(given: argparse.Namespace) -> Sequence[Contest]:
    counts = (given.count,) if given.count else QUICK if given.quick else COUNTS
    return [*(durable(count, slow=count <= COUNTS[0]) for count in counts), in_memory(given)]


def durable(count: int, *, slow: bool) -> Contest:
    """`slow`: also those who need tens of seconds; they are not asked for more than 5,000."""
    order = ("burst", "--count", str(count))
    return Contest(
        name=f"W1-burst-{count}",
        title=f"W1: {count:,} one-shot schedules due at one instant, durable store",
        figures=figures(GOAL, LATENESS_GOAL if count == COUNTS[0] else None),
        contestants=[
            ours("waterclock", LIBRARY, *order),
            ours("waterclock server", SERVER, *order),
            peer("pgqueuer", "pgqueuer", *order),
            peer("celery + redis", "celery", *order, on=REDIS),
            peer("apscheduler, memory (not durable)", "apscheduler", *order, on=MEMORY),
            *(_slow(count, order) if slow else ()),
            limit("bare asyncpg", "bench.limits.postgres", *order),
        ],
    )


def _slow(count: int, order: Sequence[str]) -> list[Contestant]:
    return [
        peer("apscheduler, PostgreSQL", "apscheduler", *order),
        peer("procrastinate", "procrastinate", *order),
        *seldom(quartz.contestants("W1", count=count, limit=PATIENCE_SECONDS)),
    ]


def in_memory(given: argparse.Namespace) -> Contest:
    count = given.count or (QUICK[0] if given.quick else IN_MEMORY)
    order = ("burst", "--count", str(count))
    return Contest(
        name="W1-burst-memory",
        title=f"W1: {count:,} one-shot schedules due at one instant, in memory",
        figures=figures(None, None),
        contestants=[
            ours("waterclock, memory", LIBRARY, *order, on=MEMORY),
            peer("apscheduler, memory", "apscheduler", *order, on=MEMORY),
            limit("a heap and a thread", "bench.limits.memory", *order, on=MEMORY),
        ],
    )


def figures(fires: float | None, lateness: float | None) -> list[Figure]:
    p50, p99 = "lateness_p50_ms", "lateness_p99_ms"
    return [
        Figure(key="fires_per_second", title="fires a second", unit="/s", more_is_better=True, goal=fires),
        Figure(key=p50, title="lateness p50", unit="ms", more_is_better=False),
        Figure(key=p99, title="lateness p99", unit="ms", more_is_better=False, goal=lateness),
    ]
