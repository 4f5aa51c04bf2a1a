"""What a scheduler is made of: configured, added and removed while it runs, and never half of it."""

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.library.scheduling import FAR, Ear, Work, ended, in_thread, now, running, wait_until
from waterclock.domain.errors import Unavailable
from waterclock.events import (
    EVENT_EXECUTOR_ADDED,
    EVENT_EXECUTOR_REMOVED,
    EVENT_JOB_EXECUTED,
    EVENT_JOBSTORE_ADDED,
    EVENT_JOBSTORE_REMOVED,
)
from waterclock.executors.base import BaseExecutor
from waterclock.executors.debug import DebugExecutor
from waterclock.executors.pool import ProcessPoolExecutor, ThreadPoolExecutor
from waterclock.jobstores.memory import MemoryJobStore
from waterclock.jobstores.sql import SQLJobStore
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.background import BackgroundScheduler

PARTS = EVENT_EXECUTOR_ADDED | EVENT_EXECUTOR_REMOVED | EVENT_JOBSTORE_ADDED | EVENT_JOBSTORE_REMOVED
FLAT = {
    "apscheduler.jobstores.kept": {"type": "sqlalchemy", "url": "sqlite:///jobs.sqlite"},
    "apscheduler.jobstores.memory": {"class": "apscheduler.jobstores.memory:MemoryJobStore"},
    "apscheduler.executors.default": {"class": "apscheduler.executors.pool:ThreadPoolExecutor", "max_workers": "20"},
    "apscheduler.executors.processes.type": "processpool",
    "apscheduler.executors.processes.max_workers": "5",
    "apscheduler.job_defaults.coalesce": "false",
    "apscheduler.job_defaults.max_instances": "3",
    "apscheduler.timezone": "Asia/Seoul",
    "other.timezone": "UTC",
}


# Configured


def test_a_configuration_file_says_it_all() -> None:
    scheduler = BackgroundScheduler(FLAT)
    assert str(scheduler.timezone) == "Asia/Seoul"
    assert {alias: type(store) for alias, store in scheduler._jobstores.items()}["memory"] is MemoryJobStore
    assert isinstance(scheduler._jobstores["kept"], SQLJobStore)
    assert (type(scheduler._executors["default"]), scheduler._executors["default"].max_workers) == (
        ThreadPoolExecutor,
        20,
    )
    processes = scheduler._executors["processes"]
    assert (type(processes), processes.max_workers) == (ProcessPoolExecutor, 5)
    scheduler.configure({"my.timezone": "UTC"}, prefix="my.", job_defaults={"coalesce": "yes"})
    assert str(scheduler.timezone) == "UTC"
    assert scheduler._jobstores == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"jobstore": {}}, "unknown option jobstore"),
        ({"timezone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"daemon": "perhaps"}, "perhaps"),
        ({"job_defaults": {"max_instance": 1}}, "job_defaults has no max_instance"),
        ({"job_defaults": {"max_instances": 0}}, "max_instances must be a positive integer"),
        ({"job_defaults": {"max_instances": "many"}}, "many"),
        ({"job_defaults": {"coalesce": "perhaps"}}, "perhaps"),
        ({"executors": {"default": {"max_workers": 1}}}, 'either "type" or "class"'),
        ({"executors": {"default": {"type": "unknown"}}}, 'No executor by the name "unknown"'),
        ({"executors": {"default": {"type": "threadpool", "max_workers": 0}}}, "max_workers"),
        ({"executors": {"default": 5}}, r"executors\['default'\]"),
        ({"jobstores": {"default": {"type": "unknown"}}}, 'No jobstore by the name "unknown"'),
        ({"jobstores": {"default": {"type": "redis"}}}, "needs transactions"),
        ({"jobstores": {"default": 5}}, r"jobstores\['default'\]"),
        ({"jobstores": {"default": {"type": "sqlalchemy"}}}, '"url"'),
        ({"jobstores": {"default": {"type": "sqlalchemy", "url": "oracle://host/name"}}}, "oracle"),
        ({"jobstores": {"default": {"type": "postgresql", "url": "sqlite:///x"}}}, "begins with postgresql://"),
        ({"jobstores": {"default": {"type": "sqlite", "serializer": "xml"}}}, "serializer must be"),
        ({"jobstores": {"default": {"type": "sqlite", "lease_seconds": 0}}}, "lease_seconds"),
    ],
    ids=str,
)
def test_a_wrong_configuration_says_what_is_wrong(options: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError, LookupError), match=words):
        BackgroundScheduler(**options)


def test_a_wrong_configuration_leaves_the_old_one(tmp_path: Path) -> None:
    scheduler = BackgroundScheduler(executors={"mine": ThreadPoolExecutor(1)})
    with pytest.raises(LookupError):
        scheduler.configure(executors={"other": {"type": "unknown"}})
    assert list(scheduler._executors) == ["mine"]


# Several


def test_jobs_go_to_the_store_and_the_executor_that_they_name(tmp_path: Path) -> None:
    executors = {"default": ThreadPoolExecutor(2), "debug": DebugExecutor(), "processes": ProcessPoolExecutor(1)}
    with running(jobstores={"kept": SQLiteJobStore(tmp_path / "jobs.sqlite")}, executors=executors) as scheduler:
        ear = Ear(scheduler, EVENT_JOB_EXECUTED)
        for jobstore in ("default", "kept"):
            scheduler.add_job("threading:current_thread", jobstore=jobstore, executor="debug")
            event = ear.next()
            assert (event.jobstore, event.retval.name[:16]) == (jobstore, "waterclock-debug")
            scheduler.add_job("os:getpid", jobstore=jobstore, executor="processes")
            assert ear.next().retval not in (None, 0)
    with pytest.raises(KeyError, match="No such job store: nowhere"), running() as scheduler:
        scheduler.add_job(print, jobstore="nowhere")


def test_runs_of_several_stores_in_one_executor_are_not_taken_for_each_other(tmp_path: Path) -> None:
    """Each store counts its runs for itself."""
    stores = {name: SQLiteJobStore(tmp_path / name) for name in ("default", "other")}
    with running(jobstores=stores, executors={"default": ThreadPoolExecutor(1)}) as scheduler:
        scheduler.pause()
        given = {f"{name} {number}": name for name in stores for number in range(5)}
        jobs = [scheduler.add_job("builtins:str", args=[text], jobstore=name) for text, name in given.items()]
        scheduler.resume()
        assert [line.result for job in jobs for line in ended(job)] == list(given)


def test_a_job_waits_for_its_executor_and_runs_when_there_is_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running(jobstores={"kept": SQLiteJobStore(tmp_path / "jobs.sqlite")}) as scheduler:
        ear = Ear(scheduler, EVENT_JOB_EXECUTED | EVENT_EXECUTOR_ADDED)
        jobs = [scheduler.add_job("os:getpid", executor="later", jobstore=store) for store in ("default", "kept")]
        assert "waits for an executor 'later'" in caplog.text
        wait_until(lambda: all(job.runs() for job in jobs))
        scheduler.add_executor("threadpool", "later", max_workers=1)
        assert ear.next().alias == "later"
        assert {ear.next().jobstore, ear.next().jobstore} == {"default", "kept"}


# Added and removed


def test_parts_come_and_go_while_it_runs(tmp_path: Path) -> None:
    with running() as scheduler:
        ear = Ear(scheduler, PARTS)
        scheduler.add_executor(ThreadPoolExecutor(1), "other")
        scheduler.add_jobstore("sqlite", "kept", path=tmp_path / "jobs.sqlite")
        with pytest.raises(ValueError, match='already has an executor by the alias of "other"'):
            scheduler.add_executor("threadpool", "other")
        with pytest.raises(ValueError, match='already has a job store by the alias of "kept"'):
            scheduler.add_jobstore("memory", "kept")
        job = scheduler.add_job(
            "os:getpid", "interval", hours=1, jobstore="kept", executor="other", next_run_time=now()
        )
        ended(job)
        scheduler.remove_executor("other")
        scheduler.remove_jobstore("kept")
        for remove in (scheduler.remove_executor, scheduler.remove_jobstore):
            with pytest.raises(KeyError, match="No such"):
                remove("unknown")
        told = [EVENT_EXECUTOR_ADDED, EVENT_JOBSTORE_ADDED, EVENT_EXECUTOR_REMOVED, EVENT_JOBSTORE_REMOVED]
        assert [event.code for event in ear.all()] == told
        assert scheduler.get_jobs() == []
        scheduler.add_jobstore("sqlite", "kept", path=tmp_path / "jobs.sqlite")
        assert scheduler.get_jobs() == [job], "it was there all the time"


def test_a_store_that_is_removed_fires_nothing_any_more(tmp_path: Path) -> None:
    with running() as scheduler:
        for shutdown in (True, False):
            work = Work(held=False)
            scheduler.add_jobstore("memory", "other")
            scheduler.add_job(work, "interval", seconds=0.01, jobstore="other")
            work.wait()
            scheduler.remove_jobstore("other", shutdown)
            while work.begun.acquire(timeout=0.05):
                pass


def test_a_part_that_does_not_start_is_not_added() -> None:
    with running() as scheduler:
        with pytest.raises(Unavailable):
            scheduler.add_jobstore("sql", "kept", url="postgresql://nobody@127.0.0.1:1/none")
        with pytest.raises(RuntimeError, match="no start"):
            scheduler.add_executor(NeverStarts(), "other")
        scheduler.add_jobstore("memory", "kept")
        scheduler.add_executor("threadpool", "other")
        job = scheduler.add_job(Work(held=False), jobstore="kept", executor="other")
        ended(job)


class NeverStarts(BaseExecutor):
    def start(self, scheduler: Any, alias: str) -> None:
        raise RuntimeError("no start")

    def submit(self, *args: Any) -> None:
        raise AssertionError


class Refuses(BaseExecutor):
    def submit(self, *args: Any) -> None:
        raise OSError("no room")


def test_calls_that_an_executor_does_not_take_have_failed() -> None:
    with running(executors={"default": Refuses()}) as scheduler:
        job = scheduler.add_job(print, "interval", hours=1, next_run_time=now())
        assert [(line.state, line.message) for line in ended(job)] == [("FAILED", "OSError: no room")]


def test_an_executor_that_is_removed_ends_what_it_has_and_meanwhile_nobody_waits() -> None:
    """Jobs that end may need the scheduler for it."""
    began, may_end = threading.Event(), threading.Event()
    scheduler = BackgroundScheduler(executors={"other": ThreadPoolExecutor(1)})

    def work() -> int:
        began.set()
        may_end.wait()
        return len(scheduler.get_jobs())

    with running(scheduler):
        job = scheduler.add_job(work, executor="other")
        scheduler.add_job(print, next_run_time=FAR)
        assert began.wait(10)
        removing = in_thread(lambda: scheduler.remove_executor("other"))
        wait_until(lambda: "other" not in scheduler._executors)
        scheduler.add_job(print, next_run_time=FAR)
        may_end.set()
        removing()
        assert [line.result for line in ended(job)] == [2]


def test_a_job_may_remove_its_own_executor_and_its_own_store() -> None:
    for remove in ("remove_executor", "remove_jobstore"):
        scheduler = BackgroundScheduler(
            executors={"other": ThreadPoolExecutor(1)}, jobstores={"other": MemoryJobStore()}
        )
        ear = Ear(scheduler, EVENT_JOB_EXECUTED)
        with running(scheduler):
            scheduler.add_job(getattr(scheduler, remove), args=["other"], executor="other", jobstore="other")
            ear.next()
