"""In memory, who asks for a call hands it to its executor itself: nothing but speed tells that no other thread did."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from tests.library.scheduling import LONG, Ear, Work, ended, in_thread, running, wait_until
from waterclock.domain.claim import Claimant, Taker
from waterclock.domain.job import CALLABLE, JobSpec
from waterclock.domain.library import NAMESPACE, ToRun
from waterclock.events import EVENT_JOB_EXECUTED
from waterclock.executors.base import BaseExecutor, Call
from waterclock.executors.pool import ThreadPoolExecutor
from waterclock.schedulers import SchedulerNotRunningError
from waterclock.schedulers.base import BaseScheduler
from waterclock.stores.memory import MemoryDatabase
from waterclock.stores.ops.claiming import claim
from waterclock.stores.ops.submitting import submit_calls


@contextmanager
def standing_still(scheduler: BaseScheduler) -> Iterator[None]:
    """The engine's loop, that is."""
    stands, goes_on = threading.Event(), threading.Event()
    assert scheduler._thread is not None
    scheduler._thread.soon(stands.set)
    scheduler._thread.soon(lambda: goes_on.wait(LONG))
    assert stands.wait(LONG)
    try:
        yield
    finally:
        goes_on.set()


def test_a_call_is_made_while_the_engine_stands_still_and_recorded_when_it_goes_on() -> None:
    with running() as scheduler:
        work = Work(held=False)
        with standing_still(scheduler):
            jobs = [scheduler.add_job(work), *scheduler.add_jobs([work] * 20)]
            work.wait(21)
            wait_until(lambda: work.times == 21)
            assert {job.runs()[0].state for job in jobs} == {"STARTING"}
        assert [ended(job)[0].result for job in jobs] == ["done"] * 21


def test_one_that_is_asked_for_later_does_not_overtake_those_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waterclock.faces.library.pacing.ALONE", 2)
    began: list[int] = []
    executors = {"default": ThreadPoolExecutor(1)}
    with running(executors=executors) as scheduler:
        first = Work()
        scheduler.add_job(first)
        first.wait()
        jobs = [scheduler.add_job(began.append, args=[number]) for number in range(50)]
        first.release()
        jobs += [scheduler.add_job(began.append, args=[number]) for number in range(50, 100)]
        for job in jobs:
            ended(job)
    assert began == list(range(100))


def test_one_that_is_asked_for_later_does_not_overtake_what_is_due_and_not_fired_yet() -> None:
    began: list[int] = []
    with running(executors={"default": ThreadPoolExecutor(1)}) as scheduler:
        with standing_still(scheduler):
            scheduler.add_job(began.append, "date", args=[0])
            scheduler.add_job(began.append, args=[1])
        wait_until(lambda: len(began) == 2)
    assert began == [0, 1]


def test_the_store_gives_a_call_to_who_asks_unless_another_waits_or_there_is_no_room() -> None:
    memory = MemoryDatabase()
    calls = [ToRun(name, JobSpec(kind=CALLABLE, queue="q")) for name in ("one", "two")]

    def submitted(room: int) -> int:
        taker = Taker(node="me", host="here", room=room, ttl_seconds=30)
        return len(memory.do(submit_calls, namespace=NAMESPACE, calls=calls, run_at=0, taker=taker).claimed)

    claimant = Claimant(node="me", host="here", queues=("q",))
    assert [submitted(room) for room in (2, 1, 9)] == [2, 0, 0]
    assert len(memory.do(claim, claimant=claimant, limit=9, ttl_seconds=30).claimed) == 4
    assert submitted(9) == 2


def test_what_many_threads_ask_for_while_the_scheduler_ends_is_run_and_recorded_once_or_not_taken() -> None:
    began: list[int] = []

    def add(scheduler: BaseScheduler, first: int) -> None:
        for number in range(first, first + 200):
            try:
                scheduler.add_job(began.append, args=[number])
            except SchedulerNotRunningError:
                return

    with running() as scheduler:
        ear = Ear(scheduler, EVENT_JOB_EXECUTED)
        adding = [in_thread(lambda first=first: add(scheduler, first)) for first in range(0, 1_000, 200)]  # type: ignore[misc]
        wait_until(lambda: len(began) > 50)
        scheduler.shutdown()
        for each in adding:
            each()
        assert len(set(began)) == len(began) == len(ear.all())


def test_one_whose_hand_over_a_signal_interrupts_never_begins_and_nobody_waits_for_it() -> None:
    with running() as scheduler:
        executor: Any = scheduler._executors["default"]
        submit = executor.submit

        def interrupt(*_: Any) -> None:
            executor.submit = submit
            raise KeyboardInterrupt

        executor.submit = interrupt
        work = Work(held=False)
        with pytest.raises(KeyboardInterrupt):
            scheduler.add_job(work)
        assert ended(scheduler.add_job(work))[0].state == "SUCCEEDED"
        scheduler.shutdown()
        assert work.times == 1


def test_a_pool_that_was_shut_down_behind_the_schedulers_back_fails_the_run() -> None:
    with running() as scheduler:
        scheduler._executors["default"].shutdown()
        (line,) = ended(scheduler.add_job(print))
        assert (line.state, "shut down" in (line.message or "")) == ("FAILED", True)


class Elsewhere(BaseExecutor):
    """An executor that says nothing of threads."""

    def __init__(self) -> None:
        self.asked_by: list[str] = []
        self._pool = ThreadPoolExecutor(1)

    def submit(self, calls: Sequence[Call], *told: Any) -> None:
        self.asked_by.append(threading.current_thread().name)
        self._pool.submit(calls, *told)


def test_an_executor_that_says_nothing_of_threads_is_asked_by_the_engine_alone() -> None:
    executor = Elsewhere()
    with running(executors={"default": executor}) as scheduler:
        assert ended(scheduler.add_job(Work(held=False)))[0].state == "SUCCEEDED"
    assert executor.asked_by == ["waterclock-engine"]


def test_a_submit_of_ones_own_is_called_by_the_engine_alone_unless_it_says_otherwise() -> None:
    class Loud(ThreadPoolExecutor):
        def submit(self, calls: Sequence[Call], *told: Any) -> None:
            super().submit(calls, *told)

    class Quiet(ThreadPoolExecutor):
        pass

    class Careful(Loud):
        any_thread = True

    kinds = (ThreadPoolExecutor, Loud, Quiet, Careful, BaseExecutor)
    assert [kind.any_thread for kind in kinds] == [True, False, True, True, False]


def test_a_signal_handler_may_shut_down_in_the_middle_of_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waterclock.app.library_worker.TURN_SECONDS", 0.01)
    with running() as scheduler:
        work = Work(held=False)
        scheduler.add_job(work)
        with scheduler._engines()[0]._workers["default"].turn:
            scheduler.shutdown()
        assert work.times == 1


def test_a_fork_draws_ids_of_its_own() -> None:
    program = """
import os
from waterclock.faces.library.ids import new_id
new_id()
told, tell = os.pipe()
if not os.fork():
    os.write(tell, new_id().encode())
    os._exit(0)
print(os.read(told, 99).decode(), *{new_id() for _ in range(1000)})
"""
    ids = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert len(set(ids)) == 1_001
    assert {len(each) for each in ids} == {32}
