"""PgQueuer: an asynchronous entrypoint, its worker in a process of its own, on uvloop and asyncpg.

Batches of 500 for the worker, which claims as many and writes their ends together; 100 was slower in the one run that
it had, 1,000 could not be told from 500 on a busy machine. For jobs of a later time it sleeps until the first of them.
A job is done when it has left the queue for the log. The schedules of a burst come in batches.
"""

import asyncio
import time
from argparse import Namespace
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

from bench.peers import measures
from bench.peers.marks import FileMarks
from bench.peers.workers import warm_up, worker

MODULE = "bench.peers.pgqueuer"
BATCH = 500
DEFINED = 100  # schedules of a burst with a call: their delays count from when it arrives


def work(given: Namespace) -> Mapping[str, float]:
    uvloop.run(_work(given.url))
    return {}


async def _work(url: str) -> None:
    marks = FileMarks.of_environment()
    queue = PgQueuer(AsyncpgDriver(await asyncpg.connect(url)))

    @queue.entrypoint("noop")
    async def noop(_: object) -> None:
        marks.mark()

    await queue.run(batch_size=BATCH)


def burst(given: Namespace) -> Mapping[str, float]:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        client = _Client(given.url, runner)
        with worker(MODULE, given.url) as marks:
            warm_up(client.submit, marks)
            at = measures.instant(given.count, 0.0005)
            for part in measures.batches(given.count, DEFINED):
                client.submit_many(part, at)
            measures.check_lead(at)
            measures.wait_for(marks.count, given.count, 0.02)
            return measures.burst_figures(marks.all(), at)


def latency(given: Namespace) -> Mapping[str, float]:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        client = _Client(given.url, runner)
        with worker(MODULE, given.url) as marks:
            warm_up(client.submit, marks)
            return measures.one_at_a_time(given.count, client.submit, marks.nth)


def submit(given: Namespace) -> Mapping[str, float]:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        client = _Client(given.url, runner)
        with worker(MODULE, given.url) as marks:
            warm_up(client.submit, marks)
            began = time.perf_counter()
            if given.batch:
                for part in measures.batches(given.count, given.batch):
                    client.submit_many(part)
            else:
                for _ in range(given.count):
                    client.submit()
            measures.wait_for(marks.count, given.count, 0.02)
            measures.wait_for(client.is_empty, True, 0.02)
            return {"jobs_per_second": given.count / (time.perf_counter() - began)}


class _Client:
    """Who submits, in an event loop of its own."""

    def __init__(self, url: str, runner: asyncio.Runner) -> None:
        self._runner = runner
        self._connection: Any = runner.run(asyncpg.connect(url))
        self._queries = Queries(AsyncpgDriver(self._connection))
        runner.run(self._queries.install())

    def submit(self) -> None:
        self._runner.run(self._queries.enqueue("noop", None))

    def submit_many(self, count: int, at: float | None = None) -> None:
        after = None if at is None else [timedelta(seconds=at - time.time())] * count
        self._runner.run(self._queries.enqueue(["noop"] * count, [None] * count, [0] * count, after))

    def is_empty(self) -> bool:
        return not self._runner.run(self._connection.fetchval("SELECT EXISTS (SELECT 1 FROM pgqueuer)"))


if __name__ == "__main__":
    measures.main({"burst": burst, "latency": latency, "submit": submit, "work": work})
