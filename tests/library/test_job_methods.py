"""Jobs, as a program handles them: added, found, changed, paused, resumed, removed; pending, in memory, in SQLite."""

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.library import callables
from tests.library.scheduling import FAR, Ear, Work, ago, ended, now, running, wait_for_all, wait_until
from waterclock.events import (
    EVENT_ALL_JOBS_REMOVED,
    EVENT_JOB_ADDED,
    EVENT_JOB_EXECUTED,
    EVENT_JOB_MODIFIED,
    EVENT_JOB_REMOVED,
)
from waterclock.jobstores.base import ConflictingIdError, JobLookupError
from waterclock.jobstores.sqlite import SQLiteJobStore
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.schedulers.base import BaseScheduler
from waterclock.triggers.cron import CronTrigger
from waterclock.triggers.date import DateTrigger
from waterclock.triggers.interval import IntervalTrigger

LATER = FAR + timedelta(days=1)
PAST = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["pending", "memory", "sqlite"])
def any_scheduler(request: pytest.FixtureRequest) -> Iterator[BaseScheduler]:
    """Not started, or running."""
    made = BackgroundScheduler(timezone="UTC")
    if request.param == "sqlite":
        made.add_jobstore("sqlite", path=request.getfixturevalue("path"))
    if request.param != "pending":
        made.start()
    yield made
    if made.running:
        made.shutdown()


# Added


def test_a_job_has_what_it_was_given(scheduler: BaseScheduler) -> None:
    trigger = IntervalTrigger(hours=2, start_date=FAR)
    job = scheduler.add_job(
        callables.function,
        trigger,
        [1, 2],
        {"key": "value"},
        "my id",
        "my name",
        15,
        False,
        3,
        executor="other",
        queue=True,
        timeout=1.5,
        retries=2,
        backoff=timedelta(seconds=3),
    )
    for found in (job, scheduler.get_job("my id")):
        assert found
        assert (found.id, found.name, found.func, found.executor) == ("my id", "my name", callables.function, "other")
        assert found.func_ref == "tests.library.callables:function"
        assert (found.args, found.kwargs) == ((1, 2), {"key": "value"})
        assert (found.misfire_grace_time, found.coalesce, found.max_instances) == (15, False, 3)
        assert (found.queue, found.timeout, found.retries, found.backoff) == (True, 1.5, 2, 3.0)
        assert (str(found.trigger), found.next_run_time) == (str(trigger), FAR)
        assert (found.pending, found.problem) == (False, None)


def test_what_is_not_given_is_as_the_defaults_say(scheduler: BaseScheduler) -> None:
    job = scheduler.add_job("os:getpid", next_run_time=FAR)
    assert re.fullmatch("[0-9a-f]{32}", job.id)
    assert (job.name, job.args, job.kwargs, job.executor) == ("getpid", (), {}, "default")
    assert (job.misfire_grace_time, job.coalesce, job.max_instances) == (60, True, 1)
    assert (job.queue, job.timeout, job.retries, job.backoff) == (False, None, 0, 0.0)
    assert isinstance(job.trigger, DateTrigger)


def test_job_defaults_may_be_text_and_a_pending_job_gets_those_of_the_start() -> None:
    scheduler = BackgroundScheduler()
    job = scheduler.add_job(print, next_run_time=FAR, max_instances=7)
    defaults = {"coalesce": "false", "max_instances": "3", "misfire_grace_time": "none", "timeout": "2.5"}
    scheduler.configure(job_defaults={**defaults, "queue": "on"})
    with running(scheduler):
        assert (job.coalesce, job.max_instances, job.misfire_grace_time) == (False, 7, None)
        assert (job.timeout, job.queue) == (2.5, True)


def test_an_id_that_is_taken_is_refused_and_the_job_that_has_it_is_untouched(scheduler: BaseScheduler) -> None:
    scheduler.add_job("os:getpid", id="job", next_run_time=FAR)
    with pytest.raises(ConflictingIdError, match=r"Job identifier \(job\) conflicts with an existing job"):
        scheduler.add_job("os:getppid", id="job", next_run_time=LATER)
    (job,) = scheduler.get_jobs()
    assert (job.func_ref, job.next_run_time) == ("os:getpid", FAR)


def test_a_job_that_is_replaced_gets_all_that_the_new_one_has(scheduler: BaseScheduler) -> None:
    scheduler.add_job("os:getpid", "interval", hours=1, id="job", next_run_time=FAR, max_instances=5, timeout=3)
    scheduler.add_job("os:getppid", "cron", year=2100, id="job", replace_existing=True, name="other")
    (job,) = scheduler.get_jobs()
    assert (job.func_ref, job.name, job.max_instances, job.timeout) == ("os:getppid", "other", 1, None)
    assert isinstance(job.trigger, CronTrigger)
    assert job.next_run_time == datetime(2100, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"func": 5}, TypeError),
        ({"func": "nowhere"}, ValueError),
        ({"func": "no_such_module:function"}, LookupError),
        ({"args": "text"}, TypeError),
        ({"args": [1, 2, 3, 4]}, ValueError),
        ({"kwargs": [1]}, TypeError),
        ({"kwargs": {"unknown": 1}}, ValueError),
        ({"trigger": "no such trigger"}, LookupError),
        ({"trigger": 5}, TypeError),
        ({"id": 5}, TypeError),
        ({"id": ""}, TypeError),
        ({"id": "x" * 192}, ValueError),
        ({"name": 5}, TypeError),
        ({"misfire_grace_time": 0}, TypeError),
        ({"misfire_grace_time": "a while"}, TypeError),
        ({"max_instances": 0}, TypeError),
        ({"max_instances": True}, TypeError),
        ({"executor": 5}, TypeError),
        ({"executor": "x" * 41}, ValueError),
        ({"jobstore": "unknown"}, KeyError),
        ({"next_run_time": "soon"}, ValueError),
        ({"timeout": 0}, TypeError),
        ({"timeout": float("nan")}, TypeError),
        ({"retries": -1}, TypeError),
        ({"backoff": 3601}, TypeError),
        ({"no_such_option": 1}, TypeError),
    ],
    ids=str,
)
def test_what_is_wrong_is_refused_and_adds_nothing(given: dict[str, Any], problem: type[Exception]) -> None:
    with running() as scheduler:
        with pytest.raises(problem):
            scheduler.add_job(**{"func": callables.quiet, "next_run_time": FAR, **given})
        assert scheduler.get_jobs() == []


def test_a_job_may_be_due_at_once_at_a_time_or_never(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_EXECUTED)
    paused = scheduler.add_job("os:getpid", "interval", seconds=0.01, id="paused", next_run_time=None)
    scheduler.add_job("os:getpid", "interval", hours=1, id="given", next_run_time=now())
    assert ear.next().job_id == "given"
    scheduler.add_job("os:getpid", id="at once")
    assert ear.next().job_id == "at once"
    assert paused.next_run_time is None
    assert paused.runs() == []


def test_a_decorated_function_is_a_job_and_still_a_function(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_EXECUTED)
    decorate = scheduler.scheduled_job("interval", hours=1, id="job", args=[7], next_run_time=now(), retries=1)
    assert decorate(callables.function) is callables.function
    assert decorate(callables.function) is callables.function, "it replaces a job of the same id"
    assert ear.next().retval == (7, {})
    (job,) = scheduler.get_jobs()
    assert (job.id, job.retries) == ("job", 1)


def test_memory_takes_any_callable_with_any_arguments() -> None:
    heard: list[tuple[Unlike]] = []
    unlike = Unlike()
    with running() as scheduler:
        ear = Ear(scheduler, EVENT_JOB_EXECUTED)
        job = scheduler.add_job(lambda it: heard.append((it,)), "interval", hours=1, args=[unlike], next_run_time=now())
        ear.next()
        assert heard[0][0] is unlike
        job.modify(args=[Unlike()], next_run_time=now())
        ear.next()
        assert len(heard) == 2
        assert scheduler.add_job(callables.Base().method, next_run_time=FAR).name == "Base.method"


class Unlike:
    """As the arrays of numpy: there is no truth in a comparison of two."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    __hash__ = object.__hash__


# Found


def test_jobs_are_listed_by_their_next_run_time_and_paused_ones_last(scheduler: BaseScheduler) -> None:
    for name, at in {"late": LATER, "paused": None, "soon": FAR - timedelta(days=1), "next": FAR}.items():
        scheduler.add_job("os:getpid", id=name, next_run_time=at)
    assert [job.id for job in scheduler.get_jobs()] == ["soon", "next", "late", "paused"]


def test_jobs_are_found_by_id_and_by_store(any_scheduler: BaseScheduler) -> None:
    scheduler = any_scheduler
    scheduler.add_jobstore("memory", "other")
    job = scheduler.add_job("os:getpid", id="job", next_run_time=FAR, jobstore="other")
    assert scheduler.get_job("job") == job
    assert scheduler.get_job("job", "other") == job
    assert scheduler.get_job("job", "default") is None
    assert scheduler.get_job("unknown") is None
    assert scheduler.get_jobs("other") == scheduler.get_jobs() == [job]
    assert scheduler.get_jobs("default") == []
    with pytest.warns(DeprecationWarning, match="pending"):
        scheduler.get_jobs(pending=True)


def test_jobs_of_one_id_may_be_in_two_stores() -> None:
    with running(jobstores={"other": {"type": "memory"}}) as scheduler:
        for jobstore in ("default", "other"):
            scheduler.add_job("os:getpid", id="job", next_run_time=FAR, jobstore=jobstore)
        scheduler.modify_job("job", "other", name="changed")
        assert scheduler.get_jobs("other")[0].name == "changed"
        assert scheduler.get_jobs("default")[0].name == "getpid"
        scheduler.remove_job("job", "default")
        assert scheduler.get_jobs("default") == []
        assert len(scheduler.get_jobs()) == 1


def test_what_is_not_there_cannot_be_changed(any_scheduler: BaseScheduler) -> None:
    scheduler = any_scheduler
    for method in (scheduler.modify_job, scheduler.pause_job, scheduler.resume_job, scheduler.remove_job):
        with pytest.raises(JobLookupError, match="No job by the id of unknown was found"):
            method("unknown")
    with pytest.raises(JobLookupError):
        scheduler.reschedule_job("unknown", trigger="interval", seconds=1)


def test_jobs_are_printed(scheduler: BaseScheduler) -> None:
    scheduler.add_jobstore("memory", "another")
    scheduler.add_job("os:getpid", "interval", hours=1, next_run_time=FAR)
    scheduler.add_job("os:getpid", next_run_time=None, name="resting", trigger="interval", hours=2)
    assert printed(scheduler) == (
        "Jobstore another:\n    No scheduled jobs\nJobstore default:\n"
        "    getpid (trigger: interval[1:00:00], next run at: 2099-01-01 00:00:00 UTC)\n"
        "    resting (trigger: interval[2:00:00], paused)\n"
    )
    assert printed(scheduler, "another") == "Jobstore another:\n    No scheduled jobs\n"


def test_pending_jobs_are_printed() -> None:
    scheduler = BackgroundScheduler()
    assert printed(scheduler) == "Pending jobs:\n    No pending jobs\n"
    scheduler.add_job(print, "interval", hours=1)
    assert printed(scheduler) == "Pending jobs:\n    print (trigger: interval[1:00:00], pending)\n"


def printed(scheduler: BaseScheduler, jobstore: str | None = None) -> str:
    out = io.StringIO()
    scheduler.print_jobs(jobstore, out)
    return out.getvalue()


# Changed


def test_a_job_is_changed_by_its_id_and_by_itself(any_scheduler: BaseScheduler) -> None:
    ear = Ear(any_scheduler, EVENT_JOB_MODIFIED)
    job = any_scheduler.add_job(callables.function, id="job", next_run_time=FAR)
    any_scheduler.modify_job("job", name="by id", max_instances=4, misfire_grace_time=None)
    job.modify(args=[1], kwargs={"a": 2}, timeout=9, next_run_time=LATER)
    found = any_scheduler.get_job("job")
    assert found
    for each in (job, found):
        assert (each.name, each.max_instances, each.misfire_grace_time) == ("by id", 4, None)
        assert (each.args, each.kwargs, each.timeout, each.next_run_time) == ((1,), {"a": 2}, 9, LATER)
    assert [event.job_id for event in ear.all()] == ["job", "job"]


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"id": "other"}, ValueError),
        ({"max_instances": 0}, TypeError),
        ({"next_run_time": "soon"}, ValueError),
        ({"trigger": "interval"}, TypeError),
        ({"args": [1, 2, 3]}, ValueError),
        ({"func": "nowhere:function"}, LookupError),
        ({"pending": True}, AttributeError),
    ],
    ids=str,
)
def test_a_change_with_one_thing_wrong_changes_nothing(
    any_scheduler: BaseScheduler, wrong: dict[str, Any], problem: type[Exception]
) -> None:
    job = any_scheduler.add_job(callables.quiet, "interval", hours=1, start_date=FAR, id="job")
    before = str(job), job._declared
    with pytest.raises(problem):
        any_scheduler.modify_job("job", name="changed", **wrong)
    found = any_scheduler.get_job("job")
    assert found
    assert (str(found), found.name, found.func, found.args) == (before[0], "quiet", callables.quiet, ())
    assert (str(job), job._declared) == before


def test_a_change_keeps_the_reference_that_was_given_as_a_text(scheduler: BaseScheduler) -> None:
    """What it refers to, a lambda here, could not say itself where it is."""
    job = scheduler.add_job("tests.library.callables:nameless", next_run_time=FAR)
    job.modify(args=[])
    job.modify(kwargs={})
    assert job.func_ref == "tests.library.callables:nameless"


def test_a_job_that_is_rescheduled_has_the_next_run_time_of_its_new_trigger(any_scheduler: BaseScheduler) -> None:
    job = any_scheduler.add_job("os:getpid", "interval", hours=1, id="job")
    any_scheduler.reschedule_job("job", trigger="cron", year=2099)
    job.reschedule("date", run_date=FAR)
    assert isinstance(job.trigger, DateTrigger)
    assert job.next_run_time == FAR


def test_a_job_that_is_paused_does_not_run_until_it_is_resumed(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_EXECUTED)
    job = scheduler.add_job("os:getpid", "interval", seconds=0.02)
    ear.next()
    assert job.pause() is job
    assert (job.next_run_time, str(job)) == (None, "getpid (trigger: interval[0:00:00.020000], paused)")
    wait_for_all(job)
    ear.all()
    assert scheduler.resume_job(job.id)
    ear.next()


def test_a_pending_job_can_be_paused_and_resumed() -> None:
    scheduler = BackgroundScheduler()
    job = scheduler.add_job(print, "interval", hours=1)
    assert not hasattr(job, "next_run_time")
    assert job.pause().next_run_time is None
    assert str(job) == "print (trigger: interval[1:00:00], paused)"
    assert job.resume().next_run_time is not None
    assert job.pending


def test_a_job_whose_schedule_is_over_is_removed_when_it_is_resumed(any_scheduler: BaseScheduler) -> None:
    ear = Ear(any_scheduler, EVENT_JOB_REMOVED)
    trigger = IntervalTrigger(hours=1, start_date=PAST, end_date=PAST)
    job = any_scheduler.add_job("os:getpid", trigger, id="job", next_run_time=None)
    assert any_scheduler.resume_job("job") is None
    assert any_scheduler.get_jobs() == []
    assert ear.next().job_id == "job"
    with pytest.raises(JobLookupError):
        job.resume()


def test_the_next_run_time_of_a_job_in_memory_is_always_the_one_that_it_has() -> None:
    with running() as scheduler:
        job = scheduler.add_job(Work(held=False), "interval", seconds=0.02)
        first = job.next_run_time
        assert first
        wait_until(lambda: job.next_run_time and job.next_run_time > first)
        job.remove()
        assert job.next_run_time is None


# Removed


def test_a_job_is_removed_by_its_id_and_by_itself(any_scheduler: BaseScheduler) -> None:
    ear = Ear(any_scheduler, EVENT_JOB_ADDED | EVENT_JOB_REMOVED)
    first = any_scheduler.add_job("os:getpid", next_run_time=FAR, id="first")
    any_scheduler.add_job("os:getpid", next_run_time=FAR, id="second")
    any_scheduler.remove_job("second")
    first.remove()
    assert any_scheduler.get_jobs() == []
    assert [event.job_id for event in ear.all() if event.code == EVENT_JOB_REMOVED] == ["second", "first"]
    with pytest.raises(JobLookupError):
        first.remove()


def test_all_jobs_of_one_store_or_of_all_are_removed(any_scheduler: BaseScheduler) -> None:
    scheduler = any_scheduler
    ear = Ear(scheduler, EVENT_ALL_JOBS_REMOVED)
    scheduler.add_jobstore("memory", "other")
    for number in range(4):
        scheduler.add_job("os:getpid", next_run_time=FAR, jobstore="other" if number % 2 else "default")
    scheduler.remove_all_jobs("other")
    assert len(scheduler.get_jobs()) == 2
    scheduler.remove_all_jobs()
    assert scheduler.get_jobs() == []
    assert [event.alias for event in ear.all()] == ["other", None]


def test_a_run_that_has_begun_goes_on_when_its_job_is_removed() -> None:
    work = Work()
    with running() as scheduler:
        ear = Ear(scheduler, EVENT_JOB_EXECUTED)
        job = scheduler.add_job(work, "interval", hours=1, next_run_time=now())
        work.wait()
        job.remove()
        work.release()
        assert ear.next().retval == "done"
        assert [line.state for line in ended(job)] == ["SUCCEEDED"]


def test_a_job_that_has_run_for_the_last_time_is_gone_and_its_history_is_not(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_REMOVED | EVENT_JOB_EXECUTED)
    job = scheduler.add_job(callables.function, id="once")
    assert {ear.next().code, ear.next().code} == {EVENT_JOB_REMOVED, EVENT_JOB_EXECUTED}
    assert scheduler.get_job("once") is None
    assert [(line.state, line.result) for line in ended(job)] == [("SUCCEEDED", ({},))]
    scheduler.add_job(callables.function, id="once", next_run_time=FAR)


def test_a_job_whose_last_run_time_was_missed_is_gone_too(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_REMOVED)
    scheduler.add_job("os:getpid", "date", run_date=ago(300), id="late")
    assert ear.next().job_id == "late"
    assert scheduler.get_jobs() == []


# Carried


def test_what_is_exported_is_imported_again(scheduler: BaseScheduler, tmp_path: Path) -> None:
    """Between stores of every kind."""
    path = tmp_path / "jobs.json"
    given: dict[str, Any] = {"args": [1, PAST, {2, 3}], "kwargs": {"key": (4, b"5")}, "queue": True, "timeout": 2.5}
    scheduler.add_job(callables.function, "cron", hour="*/2", id="cron", next_run_time=FAR, **given)
    scheduler.add_job("os:getpid", IntervalTrigger(hours=1), id="paused", next_run_time=None, misfire_grace_time=None)
    scheduler.export_jobs(path)
    with running(jobstores={"kept": SQLiteJobStore(tmp_path / "other.sqlite")}) as other:
        with path.open() as file:
            other.import_jobs(file, "kept")
        was, found = scheduler.get_jobs(), other.get_jobs()
        assert [shown(job) for job in found] == [shown(job) for job in was]
        with pytest.raises(ConflictingIdError):
            other.import_jobs(path, "kept")
        assert len(other.get_jobs()) == 2


def shown(job: Any) -> dict[str, Any]:
    state = dict(job.__getstate__())
    return {**state, "trigger": str(state["trigger"]), "queue": job.queue, "timeout": job.timeout}


def test_jobs_that_cannot_be_written_down_are_not_exported_and_that_is_said(tmp_path: Path) -> None:
    with running() as scheduler:
        scheduler.add_job(lambda: None, id="nameless", next_run_time=FAR)
        with pytest.raises(ValueError, match=r"job 'nameless': .*could not be determined"):
            scheduler.export_jobs(tmp_path / "jobs.json")
        scheduler.remove_all_jobs()
        scheduler.add_job(callables.function, id="object", args=[object()], next_run_time=FAR)
        with pytest.raises(TypeError, match="job 'object'"):
            scheduler.export_jobs(tmp_path / "jobs.json")
        assert not (tmp_path / "jobs.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"version": 2, "jobs": []}',
        '{"version": 1, "jobs": 5}',
        '{"version": 1, "jobs": [5]}',
        '{"version": 1, "jobs": [{"id": "a"}]}',
        '{"version": 1, "jobs": [{"id": "a", "func": "os:getpid", "trigger": {"type": "?"}, "args": [], "kwargs": {},'
        ' "timeout": null, "next_run_time": null, "name": "n", "executor": "default", "misfire_grace_time": 1,'
        ' "coalesce": true, "max_instances": 1, "queue": false, "retries": 0, "backoff": 0}]}',
    ],
)
def test_a_file_that_is_not_one_of_exported_jobs_is_refused(text: str) -> None:
    with running() as scheduler:
        with pytest.raises(ValueError, match=r"not a file of exported jobs|in the file is not whole"):
            scheduler.import_jobs(io.StringIO(text))
        assert scheduler.get_jobs() == []


def test_only_a_scheduler_that_runs_exports_and_imports() -> None:
    scheduler = BackgroundScheduler()
    for carry in (scheduler.export_jobs, scheduler.import_jobs):
        with pytest.raises(RuntimeError, match="must have been started"):
            carry(io.StringIO())
