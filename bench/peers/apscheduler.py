"""APScheduler 3.11: BackgroundScheduler, its thread pool of 10, in memory or in PostgreSQL by SQLAlchemyJobStore.

With psycopg 3, as SQLAlchemy advises; `misfire_grace_time=None`, so that nothing late is dropped. A submission is
`add_job` without a trigger: once, at once. It has no batches. A job is done when its row is gone, which is all that
its store keeps of it. The schedules of a burst are made without waiting for the disk; they fire with fsync.
"""

import logging
import time
from argparse import Namespace
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy import func, select

from bench.peers import marks, measures
from bench.peers.workers import warm_up

NOOP = "bench.peers.marks:mark"
NO_WAIT = "?options=-csynchronous_commit%3Doff"
TRIAL = 20


def burst(given: Namespace) -> Mapping[str, float]:
    if not given.url:
        scheduler = _scheduler("")
        scheduler.start()
        at = measures.instant(given.count, 0.0002)
        _define(scheduler, given.count, at)
        return _fired(scheduler, given.count, at)
    definer = _scheduler(given.url, NO_WAIT)
    definer.start(paused=True)
    at = measures.instant(given.count, _seconds_each(definer))
    _define(definer, given.count, at)
    definer.shutdown()
    scheduler = _scheduler(given.url)
    scheduler.start()
    return _fired(scheduler, given.count, at)


def _seconds_each(scheduler: Any) -> float:
    began = time.perf_counter()
    _define(scheduler, TRIAL, time.time() + 3600)
    seconds = time.perf_counter() - began
    scheduler.remove_all_jobs()
    return seconds / TRIAL


def _define(scheduler: Any, count: int, at: float) -> None:
    due = datetime.fromtimestamp(at, UTC)
    for _ in range(count):
        scheduler.add_job(NOOP, "date", run_date=due)


def _fired(scheduler: Any, count: int, at: float) -> Mapping[str, float]:
    measures.check_lead(at)
    measures.wait_for(lambda: len(marks.begins), count)
    scheduler.shutdown()
    return measures.burst_figures(marks.begins, at)


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
    for _ in range(given.count):
        scheduler.add_job(NOOP)
    measures.wait_for(lambda: len(marks.begins), given.count)
    measures.wait_for(lambda: not _stored(scheduler), True)
    seconds = time.perf_counter() - began
    scheduler.shutdown()
    return {"jobs_per_second": given.count / seconds}


def _stored(scheduler: Any) -> int:
    store = scheduler._lookup_jobstore("default")
    with store.engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(store.jobs_t)).scalar())


def _scheduler(url: str, options: str = "") -> Any:
    logging.disable(logging.CRITICAL)
    stores = (
        {"default": SQLAlchemyJobStore(url=url.replace("postgresql:", "postgresql+psycopg:") + options)} if url else {}
    )
    return BackgroundScheduler(jobstores=stores, job_defaults={"misfire_grace_time": None}, timezone=UTC, daemon=True)


if __name__ == "__main__":
    measures.main({"burst": burst, "latency": latency, "submit": submit})
