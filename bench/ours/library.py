"""The library: BackgroundScheduler with its thread pool of 10, in memory or on a store; the words of a peer's program.

Its settings are its defaults, but that nothing late is dropped (`misfire_grace_time=None`). A submission is `add_job`
without a trigger: once, at once; a batch is `add_jobs`. A job is done when its run is SUCCEEDED in the store. The
schedules of a burst are made without waiting for the disk; they fire with fsync.
"""

import asyncio
import logging
import time
from argparse import Namespace
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import asyncpg

from bench.peers import marks, measures
from bench.peers.workers import warm_up
from waterclock.schedulers.background import BackgroundScheduler

NOOP = "bench.peers.marks:mark"
NO_WAIT = "?synchronous_commit=off"
TRIAL = 80
BATCH = 1_000
THREADS = 8
DONE = "SELECT count(*) FROM runs WHERE state = 'SUCCEEDED'"


def burst(given: Namespace) -> Mapping[str, float]:
    scheduler, at = _scheduled(given) if given.url else _in_memory(given)
    measures.check_lead(at)
    measures.wait_for(lambda: len(marks.begins), given.count)
    scheduler.shutdown()
    return measures.burst_figures(marks.begins, at)


def _in_memory(given: Namespace) -> tuple[Any, float]:
    scheduler = _scheduler("")
    scheduler.start()
    at = measures.instant(given.count, 0.0002)
    _define(scheduler, given.count, at)
    return scheduler, at


def _scheduled(given: Namespace) -> tuple[Any, float]:
    definer = _scheduler(given.url + NO_WAIT)
    definer.start(paused=True)
    at = measures.instant(given.count, _seconds_each(definer))
    _define(definer, given.count, at)
    definer.shutdown()
    scheduler = _scheduler(given.url)
    scheduler.start()
    return scheduler, at


def _seconds_each(scheduler: Any) -> float:
    _define(scheduler, TRIAL, time.time() + 3600)
    began = time.perf_counter()
    _define(scheduler, TRIAL, time.time() + 3600)
    seconds = time.perf_counter() - began
    scheduler.remove_all_jobs()
    return seconds / TRIAL


def _define(scheduler: Any, count: int, at: float) -> None:
    _add_many(scheduler, count, BATCH, trigger="date", run_date=datetime.fromtimestamp(at, UTC))


def latency(given: Namespace) -> Mapping[str, float]:
    scheduler = _scheduler(given.url)
    scheduler.start()
    figures = measures.one_at_a_time(given.count, lambda: scheduler.add_job(NOOP), marks.nth)
    scheduler.shutdown()
    return figures


def submit(given: Namespace) -> Mapping[str, float]:
    scheduler = _scheduler(given.url)
    scheduler.start()
    warm_up(lambda: scheduler.add_job(NOOP), marks)
    began = time.perf_counter()
    if given.batch:
        _add_many(scheduler, given.count, given.batch)
    else:
        for _ in range(given.count):
            scheduler.add_job(NOOP)
    measures.wait_for(lambda: len(marks.begins), given.count)
    with asyncio.Runner() as runner:
        connection: Any = runner.run(asyncpg.connect(given.url))
        measures.wait_for(lambda: int(runner.run(connection.fetchval(DONE))), given.count + 1)
        seconds = time.perf_counter() - began
        runner.run(connection.close())
    scheduler.shutdown()
    return {"jobs_per_second": given.count / seconds}


def _add_many(scheduler: Any, count: int, batch: int, **job: Any) -> None:
    """In batches; by several threads where a version is measured that has none."""
    if hasattr(scheduler, "add_jobs"):
        for part in measures.batches(count, batch):
            scheduler.add_jobs([{}] * part, func=NOOP, **job)
        return
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(lambda _: scheduler.add_job(NOOP, **job), range(count)))


def _scheduler(url: str) -> Any:
    logging.disable(logging.CRITICAL)
    stores = {"default": {"type": "sql", "url": url}} if url else {}
    return BackgroundScheduler(jobstores=stores, job_defaults={"misfire_grace_time": None}, timezone=UTC)


if __name__ == "__main__":
    measures.main({"burst": burst, "latency": latency, "submit": submit})
