"""Jobs that outlive their process: what a database takes, what it keeps of it, and who runs it."""

import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.library import callables
from tests.library.nursery import Nursery
from tests.library.scheduling import FAR, Ear, ago, ended, now, running, wait_until
from waterclock.domain.errors import Unavailable
from waterclock.events import EVENT_JOB_ERROR, EVENT_JOB_EXECUTED
from waterclock.faces.library.references import Unloadable
from waterclock.jobstores.base import ConflictingIdError, JobLookupError
from waterclock.jobstores.sql import SQLJobStore
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.schedulers.base import BaseScheduler
from waterclock.triggers.interval import IntervalTrigger


@pytest.fixture
def scheduler(path: Path) -> Iterator[BaseScheduler]:
    with running(jobstores={"default": SQLiteJobStore(path)}, timezone="UTC") as made:
        yield made


def fail() -> None:
    raise ValueError("on purpose")


# Every kind


def test_every_kind_of_database_does_what_memory_does(store_url: str) -> None:
    with running(jobstores={"default": SQLJobStore(store_url)}, timezone="UTC") as scheduler:
        ear = Ear(scheduler, EVENT_JOB_EXECUTED | EVENT_JOB_ERROR)
        job = scheduler.add_job(callables.function, "interval", hours=1, args=[FAR], id="job", next_run_time=now())
        assert ear.next().retval == (FAR, {})
        assert [line.result for line in ended(job)] == [(FAR, {})]
        with pytest.raises(ConflictingIdError):
            scheduler.add_job(callables.quiet, id="job")
        scheduler.add_job(callables.quiet, "interval", hours=2, id="job", replace_existing=True, next_run_time=FAR)
        assert scheduler.modify_job("job", name="other").next_run_time == FAR
        assert scheduler.pause_job("job").next_run_time is None
        (found,) = scheduler.get_jobs()
        assert (found.name, found.func, str(found.trigger)) == ("other", callables.quiet, "interval[2:00:00]")
        scheduler.remove_job("job")
        with pytest.raises(JobLookupError):
            scheduler.remove_job("job")

        since = ago(130)
        series = scheduler.add_job(
            fail,
            IntervalTrigger(minutes=1, start_date=since),
            next_run_time=since,
            misfire_grace_time=100,
            coalesce=False,
            retries=1,
        )
        lines = ended(series, 3)
        assert [(line.state, line.attempts) for line in lines] == [("MISSED", 0), ("FAILED", 2), ("FAILED", 2)]
        assert [line.scheduled_run_time for line in lines] == [since + timedelta(minutes=each) for each in range(3)]


def test_a_database_that_is_not_there_is_named_and_nothing_is_half_started() -> None:
    scheduler = BackgroundScheduler(jobstores={"default": SQLJobStore("postgresql://nobody@127.0.0.1:1/none")})
    with pytest.raises(Unavailable):
        scheduler.start()
    assert not scheduler.running


# What can be kept


@pytest.mark.parametrize(
    "function",
    [lambda: None, callables.nameless, callables.enclosing(), callables.partly, callables.called],
    ids=["lambda", "named lambda", "nested", "partial", "object"],
)
def test_what_no_other_process_could_find_is_refused(scheduler: BaseScheduler, function: Any) -> None:
    """ValueError, as in APScheduler."""
    with pytest.raises(ValueError, match="reference"):
        scheduler.add_job(function, next_run_time=FAR)
    job = scheduler.add_job("os:getpid", next_run_time=FAR)
    with pytest.raises(ValueError, match="reference"):
        job.modify(func=function)
    assert [job.func_ref for job in scheduler.get_jobs()] == ["os:getpid"]


def test_arguments_that_json_cannot_say_are_refused_with_the_way_out(scheduler: BaseScheduler) -> None:
    refused: tuple[dict[str, Any], ...] = ({"args": [object()]}, {"kwargs": {"key": [callables.Base()]}})
    for given in refused:
        with pytest.raises(TypeError, match='serializer="pickle"'):
            scheduler.add_job(callables.function, next_run_time=FAR, **given)
    with pytest.raises(TypeError, match='serializer="pickle"'):
        scheduler.add_job(callables.Base().method, next_run_time=FAR)
    assert scheduler.get_jobs() == []


def test_with_pickle_any_object_that_can_be_pickled_is_an_argument(path: Path) -> None:
    with running(jobstores={"default": SQLiteJobStore(path, serializer="pickle")}) as scheduler:
        ear = Ear(scheduler, EVENT_JOB_EXECUTED)
        scheduler.add_job(callables.function, args=[callables.Base(), partial(callables.quiet)], id="arguments")
        base, quiet = ear.next().retval[:2]
        assert isinstance(base, callables.Base)
        assert quiet() == "quiet"
        scheduler.add_job(callables.Derived().overridden)
        assert ear.next().retval == "Derived of Base"


def test_pickled_arguments_survive_a_scheduler_that_does_not_unpickle(path: Path) -> None:
    with running(jobstores={"default": SQLiteJobStore(path, serializer="pickle")}) as scheduler:
        scheduler.add_job(callables.function, args=[callables.Base()], id="job", next_run_time=FAR)
    with running(jobstores={"default": SQLiteJobStore(path)}) as scheduler:
        (job,) = scheduler.get_jobs()
        assert 'serializer="pickle"' in (job.problem or "")
        job.modify(name="changed", max_instances=2)
        scheduler.pause_job("job")
    with running(jobstores={"default": SQLiteJobStore(path, serializer="pickle")}) as scheduler:
        (job,) = scheduler.get_jobs()
        assert (job.name, job.max_instances, type(job.args[0])) == ("changed", 2, callables.Base)


def test_jobs_of_another_table_name_are_others(path: Path) -> None:
    stores = {"default": SQLiteJobStore(path), "other": SQLiteJobStore(path, "other_jobs")}
    with running(jobstores=stores) as scheduler:
        scheduler.add_job("os:getpid", id="job", next_run_time=FAR)
        scheduler.add_job("os:getppid", id="job", next_run_time=FAR, jobstore="other")
        assert [job.func_ref for job in scheduler.get_jobs("default")] == ["os:getpid"]
        assert [job.func_ref for job in scheduler.get_jobs("other")] == ["os:getppid"]


# Quarantine


def test_a_job_that_cannot_be_loaded_is_kept_paused_and_reported_until_it_is_resumed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "comes_and_goes.py"
    module.write_text("def function(): return 'here'")
    with running(jobstores={"default": SQLiteJobStore(path)}) as scheduler:
        scheduler.add_job("comes_and_goes:function", "interval", hours=1, args=[], id="job", next_run_time=FAR)
    module.rename(tmp_path / "away.py")
    del sys.modules["comes_and_goes"]
    with running(jobstores={"default": SQLiteJobStore(path)}) as scheduler:
        ear = Ear(scheduler, EVENT_JOB_ERROR | EVENT_JOB_EXECUTED)
        scheduler.modify_job("job", next_run_time=now(), name="changed")
        event = ear.next()
        assert (event.job_id, type(event.exception)) == ("job", Unloadable)
        job = wait_until(lambda: next((job for job in scheduler.get_jobs() if job.next_run_time is None), None))
        assert (job.func, job.func_ref, job.name) == (None, "comes_and_goes:function", "changed")
        assert "No module named 'comes_and_goes'" in (job.problem or "")
        assert "quarantined" in str(job)
        (line,) = ended(job)
        assert (line.state, line.message) == ("FAILED", str(event.exception))
        (tmp_path / "away.py").rename(module)
        job.resume()
        assert (job.problem, job.modify(next_run_time=now()).problem) == (None, None)
        assert ear.next().retval == "here"


# Who runs it


def test_a_module_whose_import_asks_the_scheduler_something_does_not_hold_it_up(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As programs are that declare their jobs where their functions are."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "declares_jobs.py").write_text(
        textwrap.dedent("""
            from tests.library.test_stores_kept import current

            def function():
                return len(current[0].get_jobs())

            current[0].add_job(function, "interval", hours=1, id="declared", replace_existing=True)
        """)
    )
    with running(jobstores={"default": SQLiteJobStore(path)}) as scheduler:
        current[:] = [scheduler]
        scheduler.add_job("declares_jobs:function", "interval", hours=1, id="job", next_run_time=FAR)
    del sys.modules["declares_jobs"]
    with running(jobstores={"default": SQLiteJobStore(path)}) as scheduler:
        current[:] = [scheduler]
        ear = Ear(scheduler, EVENT_JOB_EXECUTED)
        scheduler.modify_job("job", next_run_time=now())
        assert ear.next().retval == 2
        del sys.modules["declares_jobs"]
        assert scheduler.modify_job("job", func="declares_jobs:function").func_ref == "declares_jobs:function"


current: list[BaseScheduler] = []


WITNESSING = """
def witness(path, number):
    with open(path, "a") as file:
        file.write(f"{number}\\n")
"""
PROGRAM = """
import threading
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.background import BackgroundScheduler

def runs():
    return len(open("../witnesses").readlines())

scheduler = BackgroundScheduler(jobstores={"default": SQLiteJobStore("../jobs.sqlite")})
scheduler.start()
rest = threading.Event()
for _ in range(1000):
    if runs() >= 100:
        break
    rest.wait(0.02)
scheduler.shutdown()
print(runs(), "have run", flush=True)
"""


def test_each_due_instant_runs_once_in_one_of_the_processes_that_share_a_store(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed, witnesses = tmp_path / "installed", tmp_path / "witnesses"
    monkeypatch.syspath_prepend(installed)
    installed.mkdir()
    (installed / "witnessing.py").write_text(WITNESSING)
    witnesses.touch()
    store = SQLiteJobStore(path)
    nursery = Nursery(["waterclock.schedulers.background", "waterclock.jobstores.sqlite"], installed)
    scheduler = BackgroundScheduler(jobstores={"default": store}, job_defaults={"coalesce": False, "queue": True})
    scheduler.start(paused=True)
    with ExitStack() as stack:
        stack.callback(nursery.close)
        stack.callback(scheduler.shutdown)
        programs = [stack.enter_context(nursery.running(script)) for script in scripts(tmp_path)]
        begin = now() + timedelta(seconds=0.2)
        for number in range(20):
            trigger = IntervalTrigger(seconds=0.1, start_date=begin, end_date=begin + timedelta(seconds=0.4))
            scheduler.add_job("witnessing:witness", trigger, args=[str(witnesses), number], next_run_time=begin)
        assert [program.rest() for program in programs] == ["100 have run\n"] * 2
        assert scheduler.get_jobs() == []
    assert Counter(witnesses.read_text().split()) == {str(number): 5 for number in range(20)}


def scripts(folder: Path) -> Iterator[Path]:
    for name in ("one", "other"):
        (folder / name).mkdir()
        script = folder / name / "program.py"
        script.write_text(PROGRAM)
        yield script
