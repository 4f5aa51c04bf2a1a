"""Many threads and one scheduler: nothing is lost, and nobody waits for ever."""

import random
import threading
from collections import Counter
from contextlib import suppress
from datetime import timedelta

from tests.library.scheduling import FAR, LONG, Ear, ended, in_thread, now, running, wait_until
from waterclock.events import EVENT_JOB_EXECUTED
from waterclock.jobstores.base import ConflictingIdError, JobLookupError
from waterclock.schedulers import SchedulerNotRunningError
from waterclock.schedulers.base import BaseScheduler

THREADS = 8


counts: Counter[str] = Counter()
count_lock = threading.Lock()


def count(name: str) -> None:
    with count_lock:
        counts[name] += 1


def test_jobs_are_added_changed_and_removed_by_many_threads_while_they_fire(scheduler: BaseScheduler) -> None:
    counts.clear()
    rounds = 6

    def work(number: int) -> int:
        choose, kept = random.Random(number), 0
        for turn in range(rounds):
            name = f"{number}-{turn}"
            scheduler.add_job(count, id=f"once {name}", args=[f"once {name}"])
            scheduler.add_job(count, "interval", seconds=0.01, id=f"often {name}", args=["often"])
            scheduler.modify_job(f"often {name}", name="changed", max_instances=choose.randint(1, 3))
            with suppress(JobLookupError):  # of somebody else, who may have removed it already
                other = f"often {choose.randrange(THREADS)}-{turn}"
                scheduler.pause_job(other)
                scheduler.resume_job(other)
            scheduler.get_jobs()
            if choose.random() < 0.5:
                scheduler.remove_job(f"often {name}")
            else:
                kept += 1
        return kept

    with running(scheduler):
        threads = [in_thread(lambda number=number: work(number)) for number in range(THREADS)]  # type: ignore[misc]
        kept = sum(result() for result in threads)
        wait_until(lambda: sum(name.startswith("once") for name in counts) == THREADS * rounds)
        assert len([job for job in scheduler.get_jobs() if job.name == "changed"]) == kept
        scheduler.remove_all_jobs()
        assert scheduler.get_jobs() == []
    assert {counts[name] for name in counts if name.startswith("once")} == {1}
    assert kept == 0 or counts["often"] > 0


def test_of_many_threads_that_add_one_id_one_succeeds(scheduler: BaseScheduler) -> None:
    barrier = threading.Barrier(THREADS)

    def add() -> bool:
        barrier.wait(LONG)
        try:
            scheduler.add_job("os:getpid", id="job", next_run_time=FAR)
        except ConflictingIdError:
            return False
        return True

    with running(scheduler):
        assert sorted(result() for result in [in_thread(add) for _ in range(THREADS)]) == [False] * 7 + [True]
        assert len(scheduler.get_jobs()) == 1


def test_changes_of_one_job_by_many_threads_are_all_made(scheduler: BaseScheduler) -> None:
    """Each takes away one argument: what another has changed meanwhile is not undone."""
    with running(scheduler):
        scheduler.add_job("builtins:print", "interval", seconds=0.01, id="job", args=[""])
        fields = ["name", "max_instances", "misfire_grace_time", "timeout", "retries", "backoff", "coalesce", "queue"]
        values = ["other", 5, 6, 7.0, 8, 9.0, False, True]
        for result in [
            in_thread(lambda name=name, value=value: scheduler.modify_job("job", **{name: value}))  # type: ignore[misc]
            for name, value in zip(fields, values, strict=True)
        ]:
            result()
        job = scheduler.get_job("job")
        assert [getattr(job, name) for name in fields] == values


def test_a_shutdown_in_the_middle_of_calls_leaves_nobody_waiting(scheduler: BaseScheduler) -> None:
    added: list[str] = []

    def add() -> int:
        refused = 0
        for _ in range(100):
            try:
                added.append(scheduler.add_job("os:getpid", next_run_time=FAR).id)
            except SchedulerNotRunningError:
                refused += 1
        return refused

    threads = [in_thread(add) for _ in range(4)]
    wait_until(lambda: len(added) > 20)
    scheduler.shutdown()
    refused = sum(result() for result in threads)
    assert len(added) + refused == 400
    assert refused <= 4, "those that were under way; who comes later adds a pending job"


def test_jobs_may_do_to_the_scheduler_whatever_threads_may(scheduler: BaseScheduler) -> None:
    current[:] = [scheduler]
    with running(scheduler):
        ear = Ear(scheduler, EVENT_JOB_EXECUTED)
        job = scheduler.add_job(busy, "interval", hours=1, id="busy", next_run_time=now())
        assert ear.next(EVENT_JOB_EXECUTED).retval is None
        assert [line.state for line in ended(job)] == ["SUCCEEDED"]
        assert [job.id for job in scheduler.get_jobs()] == ["child"]


current: list[BaseScheduler] = []


def busy() -> None:
    scheduler = current[0]
    child = scheduler.add_job("os:getpid", next_run_time=FAR, id="child")
    child.modify(name="other")
    child.reschedule("date", run_date=FAR + timedelta(days=1))
    scheduler.pause()
    scheduler.resume()
    scheduler.wakeup()
    scheduler.add_executor("threadpool", "mine")
    scheduler.remove_executor("mine")
    scheduler.add_jobstore("memory", "mine")
    scheduler.remove_jobstore("mine")
    scheduler.remove_job("busy")
