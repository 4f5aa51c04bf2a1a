"""APScheduler 3.11 on the stored workload (W4): in memory, or its SQLAlchemy job store on a database."""

import logging
import pickle
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from apscheduler.job import Job
from apscheduler.jobstores.base import BaseJobStore
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger
from apscheduler.util import datetime_to_utc_timestamp

from bench.peers.stored_window import Work, asked, measured, note, tell

AT_ONCE = 5_000


def jobs(work: Work, scheduler: BackgroundScheduler) -> Iterator[Job]:
    """As `add_job` makes them, with the job's defaults filled in."""
    for number in range(work.count):
        first = datetime.fromtimestamp(work.base + work.slot(number), UTC)
        yield Job(
            scheduler,
            id=f"stored-{number}",
            name="note",
            func="bench.peers.stored_window:note" if work.url else note,
            args=(work.slot(number),),
            kwargs={},
            trigger=IntervalTrigger(seconds=work.period, start_date=first, timezone=UTC),
            executor="default",
            misfire_grace_time=3_600,
            coalesce=True,
            max_instances=1,
            next_run_time=first,
        )


def fill_database(work: Work, store: BaseJobStore, scheduler: BackgroundScheduler) -> None:
    """By SQLAlchemy Core, many rows at a time: one by one takes as many commits."""
    rows = []
    store.start(scheduler, "default")
    with store.engine.begin() as connection:
        for job in jobs(work, scheduler):
            state = pickle.dumps(job.__getstate__(), store.pickle_protocol)
            due = datetime_to_utc_timestamp(job.next_run_time)
            rows.append({"id": job.id, "next_run_time": due, "job_state": state})
            if len(rows) == AT_ONCE:
                connection.execute(store.jobs_t.insert(), rows)
                rows = []
        if rows:
            connection.execute(store.jobs_t.insert(), rows)


def fill_memory(work: Work, store: MemoryJobStore, scheduler: BackgroundScheduler) -> None:
    for job in jobs(work, scheduler):  # in their order: each is put at the end of the list
        job._jobstore_alias = "default"
        store.add_job(job)


def store_of(work: Work) -> BaseJobStore:
    if not work.url:
        return MemoryJobStore()
    from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore

    return SQLAlchemyJobStore(url=work.url.replace("postgresql://", "postgresql+psycopg://"))


def main() -> None:
    work, began = asked(), time.perf_counter()
    logging.disable(logging.CRITICAL)
    store = store_of(work)
    scheduler = BackgroundScheduler(jobstores={"default": store}, timezone=UTC)
    if work.step == "fill":
        fill_database(work, store, scheduler)
        tell({"fill_seconds": time.perf_counter() - began})
        return
    if isinstance(store, MemoryJobStore):
        fill_memory(work, store, scheduler)
    scheduler.start()
    tell(measured(work))
    scheduler.shutdown()


if __name__ == "__main__":
    main()
