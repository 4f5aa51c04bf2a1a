"""A program that starts again and says its jobs again: what is due stays due, and what has run is not run again."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from waterclock.job import Job
from waterclock.schedulers.background import BackgroundScheduler

DUE = datetime.now(UTC) - timedelta(minutes=5)


@contextmanager
def started(url: str, **options: Any) -> Iterator[Job]:
    """A program with one job, once a day from then on; nothing fires."""
    scheduler = BackgroundScheduler(jobstores={"default": {"type": "sql", "url": url}})
    given = {"trigger": "interval", "days": 1, "start_date": DUE, "id": "daily", "replace_existing": True}
    job = scheduler.add_job("time:monotonic", **{**given, **options})
    scheduler.start(paused=True)
    try:
        found = scheduler.get_job("daily")
        assert found
        assert found.next_run_time == job.next_run_time
        yield job
    finally:
        scheduler.shutdown()


def test_what_came_due_while_the_program_was_down_stays_due(store_url: str) -> None:
    with started(store_url, next_run_time=DUE):
        pass
    with started(store_url, name="another name") as job:
        assert (job.next_run_time, job.name) == (DUE, "another name")


def test_what_another_process_has_run_meanwhile_is_not_due_again(store_url: str) -> None:
    """Between the moment when this one asked the trigger and the moment when it told the store."""
    later = DUE + timedelta(days=2)
    with started(store_url, next_run_time=later):
        pass
    with started(store_url) as job:
        assert job.next_run_time == later


def test_another_trigger_another_time_and_a_job_that_was_paused_begin_anew(sqlite_url: str) -> None:
    with started(sqlite_url, next_run_time=DUE):
        pass
    with started(sqlite_url, days=2) as job:
        assert job.next_run_time == DUE + timedelta(days=2)
    with started(sqlite_url, days=2, next_run_time=DUE) as job:
        assert job.next_run_time == DUE
    with started(sqlite_url, days=2, next_run_time=None) as job:
        assert job.next_run_time is None
    with started(sqlite_url, days=2) as job:
        assert job.next_run_time == DUE + timedelta(days=2)
