"""W2: one job at a time on an idle system, from its submission to its first line; callables and Python scripts.

Alone (`--store`) it is a script, from StartJobRun's answer (boto3, SigV4) to its first line.
"""

import argparse
import sys
from collections.abc import Sequence

from bench.contest.contestant import PEER, Contest, Figure
from bench.contest.entrants import MEMORY, REDIS, entrant, limit, ours, peer
from bench.harness import data_dir, report, spread, store
from bench.ours.server_scripts import latencies
from bench.peers import quartz

NAME = "latency"
COUNT, QUICK = 200, 30
LIBRARY, SERVER = "bench.ours.library", "bench.ours.server"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, help=f"default: {COUNT}")


def run(given: argparse.Namespace) -> None:
    count = given.count or COUNT
    with data_dir() as folder, store(given.store, folder) as url:
        spans = latencies(folder, url, count)
    report("latency", store=given.store, count=count, seconds=spread(spans))


def contests(given: argparse.Namespace) -> Sequence[Contest]:
    count = str(given.count or (QUICK if given.quick else COUNT))
    return [callables(count), in_memory(count), scripts(count)]


def callables(count: str) -> Contest:
    order = ("latency", "--count", count)
    return Contest(
        name="W2-callable-postgres",
        title="W2: one callable at a time, idle system, PostgreSQL: submit → first line",
        figures=figures(2.0),
        contestants=[
            ours("waterclock", LIBRARY, *order),
            peer("apscheduler, PostgreSQL", "apscheduler", *order),
            peer("procrastinate", "procrastinate", *order),
            peer("pgqueuer", "pgqueuer", *order),
            peer("celery + redis", "celery", *order, on=REDIS),
            *quartz.contestants("W2", count=count),
            limit("bare asyncpg, in process", "bench.limits.postgres", *order),
            limit("bare asyncpg, LISTEN", "bench.limits.postgres", "notified", *order[1:]),
        ],
    )


def in_memory(count: str) -> Contest:
    order = ("latency", "--count", count)
    return Contest(
        name="W2-callable-memory",
        title="W2: one callable at a time, idle system, in memory: submit → first line",
        figures=figures(0.5),
        contestants=[
            ours("waterclock, memory", LIBRARY, *order, on=MEMORY),
            peer("apscheduler, memory", "apscheduler", *order, on=MEMORY),
            limit("a heap and a thread", "bench.limits.memory", *order, on=MEMORY),
        ],
    )


def scripts(count: str) -> Contest:
    order = ("scripts", "--count", count)
    return Contest(
        name="W2-script",
        title="W2: one Python script at a time, idle server: StartJobRun's answer → first line",
        figures=figures(6.0),
        contestants=[
            ours("waterclock server", SERVER, *order),
            ours("waterclock server, SQLite", SERVER, *order, on="sqlite"),
            entrant(
                "a fresh interpreter",
                PEER,
                lambda: [sys.executable, "-m", "bench.peers.fresh"],
                "latency",
                *order[1:],
                on=MEMORY,
            ),
            limit("bare fork server", "bench.limits.forks", "latency", *order[1:], on=MEMORY),
        ],
    )


def figures(goal: float) -> list[Figure]:
    return [
        Figure(key="p50_ms", title="p50", unit="ms", more_is_better=False, goal=goal),
        Figure(key="p99_ms", title="p99", unit="ms", more_is_better=False),
    ]
