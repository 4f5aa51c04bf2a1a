"""A job without a time runs at once: nothing but speed tells that it was never scheduled."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.library.scheduling import FAR, LIVE, Ear, Work, ended, in_thread, running, wait_until
from waterclock.domain.errors import CommitUnknown, Unavailable
from waterclock.events import (
    EVENT_JOB_ADDED,
    EVENT_JOB_ERROR,
    EVENT_JOB_EXECUTED,
    EVENT_JOB_REMOVED,
    EVENT_JOB_SUBMITTED,
    JobEvent,
)
from waterclock.jobstores.base import BaseJobStore
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.schedulers.base import BaseScheduler
from waterclock.stores.ops.submitting import submit_calls

works: list[Work] = []
times: list[int] = []


def work(number: int = 0) -> str:
    return works[number]()


def count() -> int:
    times.append(1)
    return len(times)


def boom() -> None:
    times.append(1)
    raise ValueError("boom")


@pytest.fixture(autouse=True)
def fresh() -> None:
    works[:] = [Work() for _ in range(3)]
    times.clear()


def on(path: Path, **options: Any) -> BackgroundScheduler:
    return BackgroundScheduler(jobstores={"default": SQLiteJobStore(path, **options)})


def was_scheduled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of jobs that are added to any store from now on."""
    asked: list[str] = []
    add_jobs = BaseJobStore.add_jobs

    def note(self: Any, jobs: Any, *rest: Any) -> None:
        asked.extend(job.id for job in jobs)
        add_jobs(self, jobs, *rest)

    monkeypatch.setattr(BaseJobStore, "add_jobs", note)
    return asked


def test_it_runs_and_is_gone_with_its_history_kept(scheduler: BaseScheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduled = was_scheduled(monkeypatch)
    job = scheduler.add_job(count)
    (line,) = ended(job)
    assert (line.state, line.result, line.attempts, job.pending) == ("SUCCEEDED", 1, 1, False)
    assert (scheduler.get_job(job.id), scheduler.get_jobs(), scheduled) == (None, [], [])


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": 30},
        {"queue": True},
        {"id": "named"},
        {"trigger": "date"},
        {"run_date": None},
        {"executor": "missing"},
    ],
)
def test_what_needs_more_than_to_be_run_is_scheduled(
    scheduler: BaseScheduler, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    scheduled = was_scheduled(monkeypatch)
    job = scheduler.add_job(count, **options)
    assert scheduled == [job.id]
    if "executor" not in options:
        assert ended(job)[0].state == "SUCCEEDED"


def test_a_paused_scheduler_keeps_it_until_it_goes_on(scheduler: BaseScheduler) -> None:
    scheduler.pause()
    job = scheduler.add_job(count)
    assert ([each.id for each in scheduler.get_jobs()], times) == ([job.id], [])
    scheduler.resume()
    assert ended(job)[0].result == 1


def test_listeners_hear_of_it_in_order_each_time(scheduler: BaseScheduler) -> None:
    heard: list[tuple[str, int]] = []
    told = EVENT_JOB_ADDED | EVENT_JOB_SUBMITTED | EVENT_JOB_EXECUTED
    scheduler.add_listener(lambda event: heard.append((event.job_id, event.code)), told)
    jobs = [scheduler.add_job(count) for _ in range(30)]
    wait_until(lambda: len(heard) == 90, why="some were not told")
    for job in jobs:
        mine = [code for job_id, code in heard if job_id == job.id]
        assert mine == [EVENT_JOB_ADDED, EVENT_JOB_SUBMITTED, EVENT_JOB_EXECUTED]


def test_whoever_listens_hears_that_it_is_gone(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_REMOVED)
    job = scheduler.add_job(count)
    event: JobEvent = ear.next()
    assert event.job_id == job.id


def test_a_slow_listener_does_not_keep_it_from_running(path: Path) -> None:
    with running(on(path)) as scheduler:
        hears = Work()
        scheduler.add_listener(lambda event: hears(), EVENT_JOB_ADDED)
        adding = in_thread(lambda: scheduler.add_job(work))
        works[0].wait()
        works[0].release()
        hears.release()
        assert ended(adding())[0].state == "SUCCEEDED"


def test_what_it_was_given_is_what_it_had_then(path: Path) -> None:
    with running(on(path)) as scheduler:
        given = [1]
        scheduler.add_job(work)  # in its way, so that the other begins later
        job = scheduler.add_job("tests.library.callables:function", args=[given])
        given.append(2)
        works[0].release()
        assert ended(job)[0].result == ([1], {})


def test_one_that_fails_is_tried_again(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_ERROR)
    job = scheduler.add_job(boom, retries=1)
    (line,) = ended(job)
    assert (line.state, line.attempts, len(times)) == ("FAILED", 2, 2)
    assert str(ear.next().exception) == "boom"


def test_one_that_is_long_is_seen_to_run(scheduler: BaseScheduler) -> None:
    job = scheduler.add_job(work)
    wait_until(lambda: [line.state for line in job.runs()] == ["RUNNING"])
    works[0].release()
    assert ended(job)[0].state == "SUCCEEDED"


def test_a_shutdown_that_does_not_wait_leaves_what_has_not_begun_to_the_next(path: Path) -> None:
    options: dict[str, Any] = {"executors": {"default": {"type": "threadpool", "max_workers": 1}}}
    first = BackgroundScheduler(jobstores={"default": SQLiteJobStore(path)}, **options)
    first.start()
    first.add_job(work)
    works[0].wait()
    job = first.add_job(count)
    first.shutdown(wait=False)
    works[0].release()
    with running(on(path)):
        wait_until(lambda: times == [1])
    with running(on(path)) as last:
        job._store = last._jobstores["default"]
        assert ([line.state for line in ended(job)], times) == (["SUCCEEDED"], [1])


def test_what_is_submitted_right_before_the_end_is_run_and_recorded(scheduler: BaseScheduler) -> None:
    for _ in range(20):
        scheduler.add_job(count)
    scheduler.shutdown()
    assert len(times) == 20


@pytest.mark.parametrize(("many", "is_scheduled"), [(200, False), (2, True)])
def test_many_wait_a_moment_for_room_before_they_are_scheduled(
    path: Path, monkeypatch: pytest.MonkeyPatch, many: int, is_scheduled: bool
) -> None:
    scheduled = was_scheduled(monkeypatch)
    with running(on(path)) as scheduler:
        submitting: Any = scheduler._engines()[0]._submitting
        taker = submitting._taker
        full: list[None] = [None]  # for who asks first, and nobody else looks here
        monkeypatch.setattr(submitting, "_taker", lambda calls: full.pop() if full else taker(calls))
        jobs = scheduler.add_jobs([count] * many)
        assert [ended(job)[0].state for job in jobs] == ["SUCCEEDED"] * many
    assert bool(scheduled) is is_scheduled


class Interfering:
    """A scheduler's database, that lets something happen after calls were stored and before they are answered."""

    def __init__(self, scheduler: BaseScheduler, then: Callable[[], Any]) -> None:
        store: Any = scheduler._jobstores["default"]
        self._database = store._database
        self._send, self._then = self._database.send, then
        self._database.send = self  # instead of its own

    async def __call__(self, operation: Any, *args: Any, **kwargs: Any) -> Any:
        done = await self._send(operation, *args, **kwargs)
        if operation is submit_calls:
            self._database.send = self._send
            await self._then()
        return done


async def lose_the_answer() -> None:
    raise CommitUnknown("the answer was lost")


def test_a_call_whose_answer_was_lost_is_made_once(path: Path) -> None:
    with running(on(path)) as scheduler:
        Interfering(scheduler, lose_the_answer)
        with pytest.raises(Unavailable):
            scheduler.add_job(count)
        wait_until(lambda: times == [1], why="it was forgotten")
        assert ended(scheduler.add_job(count))[0].result == 2


def test_a_lost_answer_takes_nothing_from_what_else_is_submitted(path: Path) -> None:
    with running(on(path)) as scheduler:
        job = scheduler.add_job(work)
        works[0].wait()
        Interfering(scheduler, lose_the_answer)
        with pytest.raises(Unavailable):
            scheduler.add_job(count)
        others = [scheduler.add_job(count) for _ in range(5)]
        works[0].release()
        assert [ended(each)[0].attempts for each in (job, *others)] == [1] * 6
        wait_until(lambda: len(times) == 6)


def test_one_whose_executor_is_removed_before_it_begins_waits_for_another(path: Path) -> None:
    with running(on(path)) as scheduler:
        engine = scheduler._engines()[0]

        async def leave() -> None:
            await engine.leave("default", wait=False)

        Interfering(scheduler, leave)
        job = scheduler.add_job(count)
        assert [line.state for line in job.runs()] == ["STARTING"]
        executor = scheduler._executors["default"]
        assert scheduler._thread is not None
        scheduler._thread.call(engine.serve("default", executor))
        assert ended(job)[0].result == 1


def test_a_process_that_dies_before_it_begins_it_leaves_it_to_be_decided(path: Path) -> None:
    """As kill -9 would: stored and acknowledged, and never heard of again."""
    with running(on(path, lease_seconds=0.5)) as dying:
        stuck = asyncio.Event()

        async def stand_still() -> None:
            await stuck.wait()

        Interfering(dying, stand_still)
        adding = in_thread(lambda: dying.add_job(count))
        with running(on(path, lease_seconds=0.5)) as other:
            found = wait_until(lambda: ends(other))
            assert (found, times) == ([("FAILED", 1)], [])
        assert dying._thread is not None
        dying._thread.soon(stuck.set)
        line = ended(adding())
        assert ([each.state for each in line], times) == (["FAILED"], [])


KILLED: Final = """
import os, signal, sys
from waterclock.app.submitting import Submitting
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.background import BackgroundScheduler

async def die(self, claimed, asked_at):
    os.kill(os.getpid(), signal.SIGKILL)

Submitting._launch = die
scheduler = BackgroundScheduler(jobstores={"default": SQLiteJobStore(sys.argv[1], lease_seconds=0.5)})
scheduler.start()
scheduler.add_jobs([{"retries": 1}, {"retries": 1}], func="tests.library.test_at_once:count")
"""


def test_those_of_a_process_that_is_killed_before_they_begin_are_tried_again_by_another(path: Path) -> None:
    with running(on(path, lease_seconds=0.5)) as other:
        assert subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False).returncode == -signal.SIGKILL
        wait_until(lambda: ends(other) == [("SUCCEEDED", 2)] * 2)
        assert len(times) == 2


def ends(scheduler: BaseScheduler) -> list[tuple[str, int]]:
    async def ask(tx: Any) -> list[tuple[str, int]]:
        rows = tx.execute("SELECT state, attempts FROM runs").fetchall()
        return [(row["state"], row["attempts"]) for row in rows if row["state"] not in LIVE]

    store: Any = scheduler._jobstores["default"]
    found: list[tuple[str, int]] = store._tell(ask)
    return found


def test_one_that_was_changed_before_the_start_runs_when_it_is_told_to(stopped: BackgroundScheduler) -> None:
    paused, later, meant = (stopped.add_job(count) for _ in range(3))
    paused.pause()
    later.reschedule("date", run_date=FAR)
    stopped.start()
    assert ended(meant)[0].state == "SUCCEEDED"
    assert [job.id for job in stopped.get_jobs()] == [later.id, paused.id]
    assert times == [1]
