"""The life of a scheduler: started, paused, resumed, shut down, started again; and never half of it."""

import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.library.scheduling import FAR, Ear, Work, ago, ended, in_thread, running, wait_until
from waterclock.events import (
    EVENT_JOB_ADDED,
    EVENT_JOB_EXECUTED,
    EVENT_SCHEDULER_PAUSED,
    EVENT_SCHEDULER_RESUMED,
    EVENT_SCHEDULER_SHUTDOWN,
    EVENT_SCHEDULER_STARTED,
)
from waterclock.executors.pool import ThreadPoolExecutor
from waterclock.jobstores.base import ConflictingIdError
from waterclock.jobstores.memory import MemoryJobStore
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers import SchedulerAlreadyRunningError, SchedulerNotRunningError
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.schedulers.base import STATE_PAUSED, STATE_RUNNING, STATE_STOPPED
from waterclock.schedulers.blocking import BlockingScheduler

LIFE = EVENT_SCHEDULER_STARTED | EVENT_SCHEDULER_PAUSED | EVENT_SCHEDULER_RESUMED | EVENT_SCHEDULER_SHUTDOWN


def names(events: list[Any]) -> list[int]:
    return [event.code for event in events]


# States


def test_its_state_follows_what_it_was_told() -> None:
    scheduler = BackgroundScheduler()
    ear = Ear(scheduler, LIFE)
    assert (scheduler.state, scheduler.running) == (STATE_STOPPED, False)
    scheduler.start()
    assert (scheduler.state, scheduler.running) == (STATE_RUNNING, True)
    scheduler.pause()
    scheduler.pause()
    assert (scheduler.state, scheduler.running) == (STATE_PAUSED, True)
    scheduler.resume()
    scheduler.resume()
    assert scheduler.state == STATE_RUNNING
    scheduler.shutdown()
    assert (scheduler.state, scheduler.running) == (STATE_STOPPED, False)
    told = [EVENT_SCHEDULER_STARTED, EVENT_SCHEDULER_PAUSED, EVENT_SCHEDULER_RESUMED, EVENT_SCHEDULER_SHUTDOWN]
    assert names(ear.all()) == told


def test_one_that_runs_can_be_neither_started_nor_configured() -> None:
    with running() as scheduler:
        with pytest.raises(SchedulerAlreadyRunningError, match="already running"):
            scheduler.start()
        with pytest.raises(SchedulerAlreadyRunningError):
            scheduler.configure(timezone="UTC")
        assert scheduler.running


def test_one_that_does_not_run_can_be_neither_paused_nor_resumed_nor_shut_down() -> None:
    scheduler = BackgroundScheduler()
    for method in (scheduler.pause, scheduler.resume, scheduler.shutdown):
        with pytest.raises(SchedulerNotRunningError, match="not running"):
            method()
    scheduler.wakeup()
    with running(scheduler):
        pass
    with pytest.raises(SchedulerNotRunningError):
        scheduler.shutdown()


def test_one_that_starts_paused_fires_nothing_until_it_is_resumed(stopped: BackgroundScheduler) -> None:
    ear = Ear(stopped, EVENT_JOB_EXECUTED)
    stopped.add_job("os:getpid", id="pending")
    stopped.start(paused=True)
    stopped.add_job("os:getppid", id="added")
    assert {job.id for job in stopped.get_jobs()} == {"pending", "added"}
    stopped.wakeup()
    assert stopped.state == STATE_PAUSED
    assert ear.all() == []
    stopped.resume()
    assert {ear.next().job_id, ear.next().job_id} == {"pending", "added"}


def test_what_runs_when_it_is_paused_goes_on() -> None:
    work = Work()
    with running() as scheduler:
        ear = Ear(scheduler, EVENT_JOB_EXECUTED)
        scheduler.add_job(work)
        work.wait()
        scheduler.pause()
        work.release()
        assert ear.next().retval == "done"


# Started again


def test_one_that_was_shut_down_can_be_started_again(stopped: BackgroundScheduler) -> None:
    """APScheduler's pools cannot: every run fails there."""
    ear = Ear(stopped, EVENT_JOB_EXECUTED)
    for turn in ("first", "second"):
        stopped.start()
        stopped.add_job("os:getpid", id=turn)
        assert ear.next().job_id == turn
        stopped.shutdown()


def test_one_may_be_started_again_while_jobs_of_its_last_life_still_run(stopped: BackgroundScheduler) -> None:
    """They need the scheduler themselves, and share its executors with those of the next."""
    to_shut_down[:] = [stopped]
    held[:] = [Work() for _ in range(3)]
    ear = Ear(stopped, EVENT_JOB_EXECUTED)
    for number, work in enumerate(held):
        stopped.start()
        stopped.add_job(add_another, args=[number], id=f"life {number}")
        work.wait()
        stopped.shutdown(wait=False)
    for work in held:
        work.release()
    assert {ear.next().retval for _ in held} == {"life 0", "life 1", "life 2"}
    wait_until(lambda: threads() == [], why="a life does not end")
    with running(stopped):
        assert len(stopped.get_jobs()) == 3


def add_another(number: int) -> str:
    held[number]()
    to_shut_down[0].add_job("os:getpid", next_run_time=FAR)
    return f"life {number}"


def test_an_executor_of_the_users_own_is_there_again_too() -> None:
    scheduler = BackgroundScheduler(executors={"default": ThreadPoolExecutor(1)})
    for _ in range(2):
        work = Work(held=False)
        with running(scheduler):
            scheduler.add_job(work)
            work.wait()
        assert work.times == 1


def test_jobs_in_memory_end_with_the_scheduler_and_those_of_a_database_do_not(stopped: BackgroundScheduler) -> None:
    """As in APScheduler: a program that starts again adds its jobs again."""
    stopped.add_jobstore("memory", "memory")
    stopped.start()
    job = stopped.add_job("os:getpid", id="kept", next_run_time=FAR)
    gone = stopped.add_job(Work(held=False), id="gone", jobstore="memory")
    ended(gone)
    stopped.shutdown()
    assert stopped.get_jobs() == []
    assert [line.state for line in gone.runs()] == ["SUCCEEDED"], "its history is still there"
    stopped.start()
    is_in_memory = isinstance(stopped._jobstores["default"], MemoryJobStore)
    assert stopped.get_jobs() == ([] if is_in_memory else [job])


# A start that fails


def test_a_start_without_its_database_can_be_tried_again(tmp_path: Path) -> None:
    scheduler = BackgroundScheduler()
    folder = tmp_path / "later"
    folder.write_text("in its way")
    scheduler.add_jobstore("sqlite", "kept", path=folder / "jobs.sqlite")
    ear = Ear(scheduler, EVENT_JOB_EXECUTED)
    pending = scheduler.add_job("os:getpid", id="kept", jobstore="kept")
    scheduler.add_job(Work(held=False), id="memory")
    with pytest.raises(FileExistsError):
        scheduler.start()
    assert (scheduler.state, pending.pending) == (STATE_STOPPED, True)
    assert [job.id for job in scheduler.get_jobs()] == ["kept", "memory"]
    assert threads() == []
    folder.unlink()
    with running(scheduler):
        assert {ear.next().job_id, ear.next().job_id} == {"kept", "memory"}


def test_a_start_with_an_id_that_is_taken_adds_nothing_and_can_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sqlite"
    for_kept: dict[str, Any] = {"trigger": "interval", "hours": 1, "jobstore": "kept"}
    with running() as other:
        other.add_jobstore("sqlite", "kept", path=path)
        other.add_job("os:getpid", id="taken", **for_kept)
        scheduler = BackgroundScheduler()
        scheduler.add_jobstore("sqlite", "first", path=tmp_path / "other.sqlite")
        scheduler.add_jobstore("sqlite", "kept", path=path)
        jobs = [
            scheduler.add_job("os:getpid", next_run_time=FAR, id="a"),
            scheduler.add_job("os:getpid", next_run_time=FAR, id="b", jobstore="first"),
            scheduler.add_job("os:getppid", id="c", **for_kept),
            scheduler.add_job("os:getppid", id="taken", **for_kept),
        ]
        ear = Ear(scheduler, EVENT_JOB_ADDED)
        with pytest.raises(ConflictingIdError, match="taken"):
            scheduler.start()
        assert all(job.pending for job in jobs)
        assert [job.func_ref for job in other.get_jobs()] == ["os:getpid"]
        ear.all()
        scheduler.remove_job("taken")
        with running(scheduler):
            assert sorted(job.id for job in scheduler.get_jobs()) == ["a", "b", "c", "taken"]
            assert not jobs[0].pending
            assert [event.job_id for event in ear.all()] == ["a", "b", "c"]


def test_two_pending_jobs_with_one_id_are_refused_at_the_start() -> None:
    scheduler = BackgroundScheduler()
    scheduler.add_job(print, id="twin")
    scheduler.add_job(print, id="twin")
    with pytest.raises(ConflictingIdError, match="twin"):
        scheduler.start()
    scheduler.remove_job("twin")
    with running(scheduler):
        pass


# Shut down


def test_shutdown_waits_for_what_runs_and_for_what_was_queued() -> None:
    work = Work()
    scheduler = BackgroundScheduler(executors={"default": {"type": "threadpool", "max_workers": 1}})
    scheduler.start()
    jobs = [scheduler.add_job(work) for _ in range(3)]
    since: Any = ago(130)
    queueing: Any = {"coalesce": False, "misfire_grace_time": None, "queue": True}
    often = scheduler.add_job(work, "interval", minutes=1, start_date=since, next_run_time=since, **queueing)
    never = scheduler.add_job(work, next_run_time=FAR)
    work.wait()
    wait_until(lambda: len(often.runs()) == 3)
    shutting_down = in_thread(scheduler.shutdown)
    wait_until(lambda: not scheduler.running)
    work.release()
    shutting_down()
    assert work.times == 6
    assert [line.state for job in [*jobs, often] for line in job.runs()] == ["SUCCEEDED"] * 6
    assert never.runs() == []


def test_shutdown_waits_for_more_than_can_be_taken_at_once() -> None:
    """What is in the memory of this process nobody else will run."""
    work = Work()
    scheduler = BackgroundScheduler()
    for _ in range(2_100):
        scheduler.add_job(work)
    scheduler.start()
    work.wait()
    wait_until(lambda: not scheduler.get_jobs())  # all have fired
    shutting_down = in_thread(scheduler.shutdown)
    wait_until(lambda: not scheduler.running)
    work.release()
    shutting_down()
    assert work.times == 2_100


def test_shutdown_without_waiting_returns_while_a_job_runs_and_its_end_is_recorded(
    stopped: BackgroundScheduler,
) -> None:
    work = Work()
    held[:] = [work]
    ear = Ear(stopped, EVENT_JOB_EXECUTED | EVENT_SCHEDULER_SHUTDOWN)
    stopped.start()
    stopped.add_job(run_held, args=[0])
    work.wait()
    stopped.shutdown(wait=False)
    assert work.times == 0
    assert ear.next().code == EVENT_SCHEDULER_SHUTDOWN
    work.release()
    assert ear.next().retval == "done"
    wait_until(lambda: threads() == [], why="its threads stay")


held: list[Work] = []


def run_held(number: int) -> str:
    return held[number]()


def test_what_had_not_begun_at_a_shutdown_that_did_not_wait_is_run_by_another(tmp_path: Path) -> None:
    first, others = Work(), Work(held=False)
    held[:] = [first, others]
    path = tmp_path / "jobs.sqlite"
    scheduler = BackgroundScheduler(executors={"default": ThreadPoolExecutor(1)})
    scheduler.add_jobstore("sqlite", path=path)
    scheduler.start()
    scheduler.add_job(run_held, args=[0])
    first.wait()
    for _ in range(2):
        scheduler.add_job(run_held, args=[1])
    scheduler.shutdown(wait=False)
    with running(jobstores={"default": SQLiteJobStore(path)}):
        others.wait(2)
        first.release()
    wait_until(lambda: threads() == [])
    assert (first.times, others.times) == (1, 2)


@pytest.mark.parametrize("wait", [True, False])
def test_a_job_may_shut_its_own_scheduler_down(stopped: BackgroundScheduler, wait: bool) -> None:
    ear = Ear(stopped, EVENT_JOB_EXECUTED)
    stopped.start()
    to_shut_down[:] = [stopped]
    stopped.add_job(shut_down, args=[wait])
    assert ear.next().retval == STATE_STOPPED
    wait_until(lambda: threads() == [])


to_shut_down: list[BackgroundScheduler] = []


def shut_down(wait: bool) -> int:
    to_shut_down[0].shutdown(wait)
    return to_shut_down[0].state


def test_a_job_that_shuts_down_another_scheduler_waits_for_it() -> None:
    work = Work()
    with running() as scheduler:
        other = BackgroundScheduler()
        other.start()
        other.add_job(work)
        work.wait()
        job = scheduler.add_job(other.shutdown)
        wait_until(lambda: not other.running)
        work.release()
        assert ended(job)[0].state == "SUCCEEDED"
        assert work.times == 1


def test_a_listener_may_shut_the_scheduler_down() -> None:
    scheduler = BackgroundScheduler()
    scheduler.add_listener(lambda event: scheduler.shutdown(), EVENT_JOB_EXECUTED)
    ear = Ear(scheduler, EVENT_SCHEDULER_SHUTDOWN)
    with running(scheduler):
        scheduler.add_job(Work(held=False))
        ear.next()
        assert not scheduler.running


# In the foreground


def test_a_blocking_scheduler_returns_from_start_when_a_job_shuts_it_down() -> None:
    scheduler = BlockingScheduler()
    scheduler.add_job(scheduler.shutdown)
    in_thread(scheduler.start)()
    assert not scheduler.running


def test_a_blocking_scheduler_returns_from_start_when_another_thread_shuts_it_down() -> None:
    scheduler = BlockingScheduler()
    starting = in_thread(scheduler.start)
    wait_until(lambda: scheduler.running)
    scheduler.shutdown()
    starting()


def test_a_blocking_scheduler_that_a_listener_shuts_down_at_once_returns() -> None:
    scheduler = BlockingScheduler()
    scheduler.add_listener(lambda event: scheduler.shutdown(), EVENT_SCHEDULER_STARTED)
    in_thread(scheduler.start)()


def test_an_interrupt_goes_to_the_caller_of_start_and_the_jobs_go_on() -> None:
    scheduler = BlockingScheduler()
    work = Work(held=False)
    interrupt_once_started(scheduler, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        scheduler.start()
    with running(scheduler):
        scheduler.add_job(work)
        work.wait()


def test_a_signal_handler_may_shut_it_down() -> None:
    scheduler = BlockingScheduler()
    was = signal.signal(signal.SIGUSR1, lambda *_: scheduler.shutdown())
    try:
        interrupt_once_started(scheduler, signal.SIGUSR1)
        scheduler.start()
    finally:
        signal.signal(signal.SIGUSR1, was)
    assert not scheduler.running


def interrupt_once_started(scheduler: BlockingScheduler, number: signal.Signals) -> None:
    whom = [threading.main_thread().ident, number]
    scheduler.add_listener(lambda event: scheduler.add_job(signal.pthread_kill, args=whom), EVENT_SCHEDULER_STARTED)


def threads() -> list[str]:
    """Of engines and listeners, which end with their schedulers."""
    return [
        thread.name for thread in threading.enumerate() if thread.name in ("waterclock-engine", "waterclock-listeners")
    ]
