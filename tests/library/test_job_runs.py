"""What becomes of the run times of a job: run, missed, coalesced, skipped, timed out, tried again; and who is told."""

import random
import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from apscheduler.job import Job as TheirJob
from apscheduler.schedulers.base import BaseScheduler as TheirScheduler
from apscheduler.triggers.interval import IntervalTrigger as TheirInterval

from tests.library.scheduling import FAR, Ear, Work, ago, ended, now, running, wait_for_all, wait_until
from waterclock.domain.planning import plan
from waterclock.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_EXECUTED,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    EVENT_JOB_SUBMITTED,
)
from waterclock.executors.errors import JobTimeout
from waterclock.executors.pool import ProcessPoolExecutor
from waterclock.faces.library.keeping import _misfire
from waterclock.faces.library.runner import ABANDONED
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.base import BaseScheduler
from waterclock.triggers.interval import IntervalTrigger


def give(value: Any) -> Any:
    return value


def fail() -> None:
    raise ValueError("on purpose")


works: list[Work] = []


def work(number: int = 0) -> str:
    """For stores that cannot keep a `Work`."""
    return works[number]()


def every_minute(since: datetime) -> dict[str, Any]:
    return {"trigger": IntervalTrigger(minutes=1, start_date=since), "next_run_time": since}


# Missed and coalesced


def test_of_several_run_times_that_are_due_the_latest_runs_for_all(scheduler: BaseScheduler) -> None:
    since = ago(130)
    job = scheduler.add_job(give, args=[1], misfire_grace_time=None, **every_minute(since))
    skipped, run = ended(job, 2)
    assert (run.state, run.scheduled_run_time) == ("SUCCEEDED", since + timedelta(minutes=2))
    assert (skipped.state, skipped.first_run_time, skipped.count) == ("SKIPPED", since, 2)
    assert "together" in (skipped.message or "")


def test_without_coalescing_each_of_them_runs_one_after_another(scheduler: BaseScheduler) -> None:
    """Though only one instance may run at a time: APScheduler runs them in one instance."""
    works[:] = [Work()]
    ear = Ear(scheduler, EVENT_JOB_MAX_INSTANCES)
    since = ago(130)
    job = scheduler.add_job(work, coalesce=False, misfire_grace_time=None, **every_minute(since))
    works[0].wait()
    wait_until(lambda: len(job.runs()) == 3)
    assert [line.state for line in job.runs()][:2] == ["WAITING"] * 2
    assert not works[0].begun.acquire(timeout=0)
    works[0].release()
    lines = ended(job, 3)
    assert [line.state for line in lines] == ["SUCCEEDED"] * 3
    assert [line.scheduled_run_time for line in lines] == [since + timedelta(minutes=number) for number in range(3)]
    assert ear.all() == []


def test_run_times_later_than_the_grace_are_missed_and_that_is_told_and_kept(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_MISSED)
    since = ago(150)
    job = scheduler.add_job(give, args=[1], coalesce=False, id="late", **every_minute(since))
    missed, run = ended(job, 2)
    assert (missed.state, missed.first_run_time, missed.count) == ("MISSED", since, 2)
    assert (run.state, run.scheduled_run_time) == ("SUCCEEDED", since + timedelta(minutes=2))
    events = [ear.next(), ear.next()]
    assert [event.scheduled_run_time for event in events] == [since, since + timedelta(minutes=1)]
    assert {(event.job_id, event.retval, event.exception) for event in events} == {("late", None, None)}


def test_where_the_latest_is_missed_nothing_runs(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_MISSED | EVENT_JOB_EXECUTED)
    since = ago(100)
    job = scheduler.add_job(give, args=[1], misfire_grace_time=1, **every_minute(since))
    (missed,) = ended(job)
    assert (missed.state, missed.count, missed.scheduled_run_time) == ("MISSED", 2, since + timedelta(minutes=1))
    scheduler._listeners.flush()
    assert [event.scheduled_run_time for event in ear.all()] == [since + timedelta(minutes=1)]


class Theirs(TheirScheduler):  # type: ignore[misc]
    def shutdown(self, wait: bool = True) -> None: ...

    def wakeup(self) -> None: ...


def test_the_decisions_are_those_of_apscheduler() -> None:
    """Which of the run times that are due run, and which are missed: as its scheduler and its executors decide it."""
    choose = random.Random(20261116)
    their_scheduler = Theirs(timezone="UTC")
    epoch = datetime(2026, 11, 15, 12, tzinfo=UTC)
    for _ in range(500):
        seconds, grace = choose.randint(1, 90), choose.choice([None, 1, choose.randint(1, 200)])
        coalesce, start = choose.random() < 0.5, epoch + timedelta(seconds=choose.randint(0, 300))
        end = choose.choice([None, start + timedelta(seconds=choose.randint(0, 400))])
        interval: dict[str, Any] = {"seconds": seconds, "start_date": start, "end_date": end, "timezone": "UTC"}
        due = start + timedelta(seconds=seconds * choose.randint(0, 2))
        if end and due > end:
            continue
        at = due + timedelta(seconds=choose.randint(0, 300), microseconds=choose.choice([0, 1, 500_000]))
        their_job = TheirJob(
            their_scheduler,
            id="job",
            func=print,
            args=(),
            kwargs={},
            trigger=TheirInterval(**interval),
            executor="default",
            name="job",
            misfire_grace_time=grace,
            coalesce=coalesce,
            max_instances=1,
            next_run_time=due,
        )
        due_times = their_job._get_run_times(at)
        expected = [due_times[-1:] if coalesce else due_times][0]
        expected = [time for time in expected if grace is None or at - time <= timedelta(seconds=grace)]
        ours = plan(IntervalTrigger(**interval).schedule, due, at, _misfire(grace, coalesce))
        assert list(ours.fires) == expected, (interval, due, at, grace, coalesce)
        assert ours.next_at == their_job.trigger.get_next_fire_time(due_times[-1], at)
        counted = sum(skip.count for skip in ours.skips) + len(ours.fires)
        assert counted == len(due_times), "every due instant has a run, or a line that says why not"


# Instances


def test_a_run_over_the_number_of_instances_is_skipped_and_that_is_told_and_kept(scheduler: BaseScheduler) -> None:
    works[:] = [Work()]
    ear = Ear(scheduler, EVENT_JOB_MAX_INSTANCES)
    job = scheduler.add_job(work, "interval", hours=1, id="one", next_run_time=now())
    works[0].wait()
    again = now()
    job.modify(next_run_time=again)
    event = ear.next()
    assert (event.job_id, event.scheduled_run_times) == ("one", [again])
    works[0].release()
    assert [line.state for line in ended(job, 2)] == ["SUCCEEDED", "SKIPPED"]
    assert works[0].times == 1


def test_with_queue_it_waits_instead(scheduler: BaseScheduler) -> None:
    works[:] = [Work()]
    job = scheduler.add_job(work, "interval", hours=1, queue=True, next_run_time=now())
    works[0].wait()
    job.modify(next_run_time=now())
    wait_until(lambda: [line.state for line in job.runs()][:1] == ["WAITING"])
    works[0].release()
    assert [line.state for line in ended(job, 2)] == ["SUCCEEDED"] * 2


def test_as_many_run_at_once_as_may(scheduler: BaseScheduler) -> None:
    works[:] = [Work()]
    job = scheduler.add_job(work, "interval", hours=1, max_instances=2, next_run_time=now())
    works[0].wait()
    job.modify(next_run_time=now())
    works[0].wait()
    works[0].release()
    ended(job, 2)


def test_the_number_of_instances_is_that_of_all_schedulers_of_a_store(path: Path) -> None:
    works[:] = [Work()]
    with running(jobstores={"default": SQLiteJobStore(path)}) as one:
        one.add_job(work, "interval", hours=1, id="job", next_run_time=now())
        works[0].wait()
        with running(jobstores={"default": SQLiteJobStore(path)}) as other:
            others = Ear(other, EVENT_JOB_MAX_INSTANCES)
            ones = Ear(one, EVENT_JOB_MAX_INSTANCES)
            other.modify_job("job", next_run_time=now())
            wait_until(lambda: len(others.all()) + len(ones.all()) == 1)
            works[0].release()
    assert works[0].times == 1


# Ended


@pytest.mark.parametrize(
    "value",
    [None, 0, "text", [1, {"two": 3.5}], {"a": None}, (1, 2), {1, 2}, b"bytes", Decimal("1.50"), FAR, timedelta(1)],
    ids=repr,
)
def test_what_a_job_returns_is_told_and_kept(value: Any) -> None:
    with running() as scheduler:
        ear = Ear(scheduler, EVENT_JOB_EXECUTED)
        job = scheduler.add_job(lambda: value)
        assert ear.next().retval == value
        (line,) = ended(job)
        assert (line.state, line.result, line.message, line.attempts) == ("SUCCEEDED", value, None, 1)
        assert line.started_at
        assert line.ended_at
        assert line.ended_at >= line.started_at >= line.scheduled_run_time


def test_of_what_cannot_be_written_down_its_repr_is_kept(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_EXECUTED)
    job = scheduler.add_job("threading:current_thread")
    thread = ear.next().retval
    assert isinstance(thread, threading.Thread)
    (line,) = ended(job)
    assert "Thread(" in str(line.result)


def test_what_a_job_raises_is_told_with_its_traceback_and_kept(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_SUBMITTED | EVENT_JOB_ERROR)
    at = now()
    job = scheduler.add_job(fail, "interval", hours=1, id="bad", next_run_time=at)
    submitted, event = ear.next(), ear.next()
    assert (submitted.code, submitted.scheduled_run_times) == (EVENT_JOB_SUBMITTED, [at])
    assert (event.job_id, event.jobstore, event.scheduled_run_time) == ("bad", "default", at)
    assert isinstance(event.exception, ValueError)
    assert 'raise ValueError("on purpose")' in event.traceback
    (line,) = ended(job)
    assert (line.state, line.message, line.result) == ("FAILED", "ValueError: on purpose", None)


def test_a_job_that_fails_is_tried_again_as_often_as_it_may_be(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_ERROR)
    job = scheduler.add_job(fail, "interval", hours=1, retries=2, backoff=0.01, next_run_time=now())
    assert [isinstance(ear.next().exception, ValueError) for _ in range(3)] == [True] * 3
    (line,) = ended(job)
    assert (line.state, line.attempts) == ("FAILED", 3)


def test_a_retry_that_succeeds_is_the_end_of_it(scheduler: BaseScheduler) -> None:
    failures[:] = [ValueError("once"), ValueError("twice")]
    job = scheduler.add_job(fail_at_first, "interval", hours=1, retries=5, next_run_time=now())
    (line,) = ended(job)
    assert (line.state, line.attempts, line.result, line.message) == ("SUCCEEDED", 3, "at last", None)


failures: list[Exception] = []


def fail_at_first() -> str:
    if failures:
        raise failures.pop()
    return "at last"


def test_a_retry_waits_for_its_backoff_and_holds_nobody_up() -> None:
    work = Work(held=False)
    with running() as scheduler:
        ear = Ear(scheduler, EVENT_JOB_ERROR)
        job = scheduler.add_job(fail, retries=1, backoff=3600)
        ear.next()
        scheduler.add_job(work)
        work.wait()
        wait_until(lambda: [(line.state, line.attempts) for line in job.runs()] == [("STARTING", 2)])


def test_a_failed_run_of_long_ago_is_tried_again_too() -> None:
    """More has happened since than is kept of a job in memory."""
    stuck, failing = Work(), threading.Event()

    def mostly_short() -> None:
        if not failing.is_set():
            failing.set()
            stuck()
            raise ValueError("the first")

    with running() as scheduler:
        job = scheduler.add_job(mostly_short, "interval", seconds=0.001, max_instances=2, retries=1, coalesce=False)
        stuck.wait()
        wait_until(lambda: len(job.runs(1_000)) > 150)
        wait_until(lambda: "RUNNING" not in {line.state for line in job.runs(1_000)[-50:]})
        stuck.release()
        job.pause()
        wait_for_all(job)


# Timed out


def test_a_job_in_a_thread_is_given_up_when_its_time_is_over(scheduler: BaseScheduler) -> None:
    works[:] = [Work()]
    ear = Ear(scheduler, EVENT_JOB_ERROR | EVENT_JOB_EXECUTED)
    job = scheduler.add_job(work, "interval", hours=1, timeout=0.05, next_run_time=now())
    error = ear.next().exception
    assert isinstance(error, JobTimeout)
    (line,) = ended(job)
    assert (line.state, line.message) == ("TIMEOUT", f"did not end within 0.05 s; {ABANDONED}")
    assert str(error) == line.message
    works[0].release()
    job.modify(next_run_time=now(), timeout=None)
    assert ear.next().code == EVENT_JOB_EXECUTED, "its slot is free again"
    assert [line.state for line in ended(job, 2)] == ["TIMEOUT", "SUCCEEDED"]


def test_a_job_in_a_process_is_killed_when_its_time_is_over() -> None:
    with running(executors={"default": ProcessPoolExecutor(1)}) as scheduler:
        ear = Ear(scheduler, EVENT_JOB_ERROR | EVENT_JOB_EXECUTED)
        job = scheduler.add_job("time:sleep", args=[3600], timeout=0.2)
        assert isinstance(ear.next().exception, JobTimeout)
        assert [(line.state, line.message) for line in ended(job)] == [("TIMEOUT", "did not end within 0.2 s")]
        scheduler.add_job("os:getpid")
        assert ear.next().retval > 1, "and the pool goes on"


def test_a_job_that_ends_in_time_has_no_time_out(scheduler: BaseScheduler) -> None:
    job = scheduler.add_job(give, args=[5], timeout=3600)
    assert [(line.state, line.result) for line in ended(job)] == [("SUCCEEDED", 5)]
