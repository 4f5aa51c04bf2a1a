"""W3: 5,000 no-op jobs submitted by one client, one by one and in batches, until all are done and recorded as done."""

import argparse
from collections.abc import Sequence

from bench.contest.contestant import Contest, Figure
from bench.contest.entrants import REDIS, limit, ours, peer, seldom
from bench.peers import quartz
from bench.peers.measures import PATIENCE_SECONDS

NAME = "submit"
COUNT, QUICK = 5_000, 300
BATCH = 1_000
LIBRARY, SERVER, BARE = "bench.ours.library", "bench.ours.server", "bench.limits.postgres"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, help=f"default: {COUNT:,}")
    parser.add_argument(
        "--batch", type=int, default=BATCH, help=f"jobs to a call of the batched one; default: {BATCH:,}"
    )


def contests(given: argparse.Namespace) -> Sequence[Contest]:
    count = given.count or (QUICK if given.quick else COUNT)
    return [one_by_one(count), batched(count, given.batch)]


def one_by_one(count: int) -> Contest:
    order = ("submit", "--count", str(count))
    return Contest(
        name="W3-one-by-one",
        title=f"W3: {count:,} no-op jobs, one client, one call each, until done and recorded",
        figures=figures(1_500),
        contestants=[
            ours("waterclock", LIBRARY, *order),
            peer("apscheduler, PostgreSQL", "apscheduler", *order),
            peer("procrastinate", "procrastinate", *order),
            peer("pgqueuer", "pgqueuer", *order),
            peer("celery + redis", "celery", *order, on=REDIS),
            *seldom(quartz.contestants("W3", count=count, limit=PATIENCE_SECONDS)),
            limit("bare asyncpg", BARE, *order),
        ],
    )


def batched(count: int, batch: int) -> Contest:
    order = ("submit", "--count", str(count), "--batch", str(batch))
    return Contest(
        name="W3-batched",
        title=f"W3: {count:,} no-op jobs, one client, {batch:,} with a call, until done and recorded",
        figures=figures(20_000),
        contestants=[
            ours("waterclock", LIBRARY, *order),
            ours("waterclock server", SERVER, *order),
            peer("procrastinate", "procrastinate", *order),
            peer("pgqueuer", "pgqueuer", *order),
            *quartz.contestants("W3", count=count, together=batch, limit=PATIENCE_SECONDS),
            limit("bare asyncpg", BARE, *order),
        ],
    )


def figures(goal: float) -> list[Figure]:
    return [Figure(key="jobs_per_second", title="jobs a second", unit="/s", more_is_better=True, goal=goal)]
