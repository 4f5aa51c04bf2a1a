"""Many jobs in one call: all of them or none, with an error that names its entry."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.library.callables import function
from tests.library.scheduling import FAR, Ear, ended, running
from waterclock.events import EVENT_JOB_ADDED, EVENT_JOB_EXECUTED
from waterclock.jobstores.base import ConflictingIdError
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.schedulers.base import BaseScheduler

CALLED = "tests.library.callables:function"


def results(scheduler: BaseScheduler, *entries: Any, **common: Any) -> list[Any]:
    return [ended(job)[0].result for job in scheduler.add_jobs(entries, **common)]


def test_one_callable_with_many_arguments(scheduler: BaseScheduler) -> None:
    found = results(scheduler, {"args": [1]}, {"args": [2], "kwargs": {"three": 3}}, {}, func=function)
    assert found == [(1, {}), (2, {"three": 3}), ({},)]


def test_each_entry_says_what_add_job_would_be_told_or_is_just_the_callable(scheduler: BaseScheduler) -> None:
    entries: list[Any] = [{"func": CALLED, "name": "one", "args": [1]}, function, CALLED]
    jobs = scheduler.add_jobs(entries, misfire_grace_time=5)
    assert [job.name for job in jobs] == ["one", "function", "function"]
    assert [job.misfire_grace_time for job in jobs] == [5, 5, 5]
    assert [ended(job)[0].result for job in jobs] == [(1, {}), ({},), ({},)]


def test_some_may_be_scheduled_and_some_run_at_once(scheduler: BaseScheduler) -> None:
    later, now = scheduler.add_jobs([{"trigger": "date", "run_date": FAR, "id": "later"}, {"args": [1]}], func=function)
    assert ended(now)[0].result == (1, {})
    assert [job.id for job in scheduler.get_jobs()] == ["later"] == [later.id]


def test_what_an_entry_says_goes_before_what_all_share(scheduler: BaseScheduler) -> None:
    given: dict[str, Any] = {"func": function, "args": ["shared"], "retries": 1}
    first, second = scheduler.add_jobs([{}, {"args": ["own"], "retries": 2}], **given)
    assert (first.args, first.retries, second.args, second.retries) == (("shared",), 1, ("own",), 2)


@pytest.mark.parametrize(
    ("entry", "problem", "words"),
    [
        ({"args": "text"}, TypeError, r"entries\[1\]: args must be a non-string iterable"),
        ({"retries": -1}, TypeError, r"entries\[1\]: retries must be an integer of 0 or more"),
        ({"surprise": 1}, TypeError, r'entries\[1\]: The trigger "date" has no option surprise'),
        ({"jobstore": "other"}, TypeError, r"entries\[1\]: the jobstore is that of all entries"),
        ({"func": None}, TypeError, r"entries\[1\]: func must be a callable"),
        (7, TypeError, r"entries\[1\]: func must be a callable"),
    ],
)
def test_a_wrong_entry_is_named_and_nothing_is_added(
    scheduler: BaseScheduler, entry: Any, problem: type[Exception], words: str
) -> None:
    ear = Ear(scheduler, EVENT_JOB_ADDED)
    with pytest.raises(problem, match=words):
        scheduler.add_jobs([{"id": "good", "next_run_time": None}, entry], func=function)
    assert (scheduler.get_jobs(), ear.all()) == ([], [])


def test_arguments_that_cannot_be_kept_name_their_entry_and_nothing_runs(path: Any) -> None:
    with running(jobstores={"default": {"type": "sqlite", "path": path}}) as scheduler:
        ear = Ear(scheduler, EVENT_JOB_ADDED | EVENT_JOB_EXECUTED)
        with pytest.raises(TypeError, match=r"entries\[2\]: args"):
            scheduler.add_jobs([{}, {}, {"args": [object()]}], func=function)
        assert ended(scheduler.add_job(function))
        assert [event.code for event in ear.all()][:1] == [EVENT_JOB_ADDED]


def test_an_entry_without_a_callable_says_so(scheduler: BaseScheduler) -> None:
    with pytest.raises(TypeError, match=r"entries\[0\]: it needs a func"):
        scheduler.add_jobs([{"args": [1]}])


def test_an_id_that_is_taken_leaves_none_of_them(scheduler: BaseScheduler) -> None:
    scheduler.add_job(function, id="taken", next_run_time=None)
    with pytest.raises(ConflictingIdError, match="taken"):
        scheduler.add_jobs([{"id": "free", "next_run_time": None}, {"id": "taken"}], func=function)
    with pytest.raises(ConflictingIdError, match="twice"):
        scheduler.add_jobs([{"id": "twice"}, {"id": "twice"}], func=function)
    assert [job.id for job in scheduler.get_jobs()] == ["taken"]


def test_many_may_take_the_place_of_others(scheduler: BaseScheduler) -> None:
    scheduler.add_job(function, id="one", next_run_time=None)
    given: dict[str, Any] = {"func": function, "next_run_time": FAR, "replace_existing": True}
    scheduler.add_jobs([{"id": "one"}, {"id": "two"}], **given)
    assert [job.next_run_time for job in scheduler.get_jobs()] == [FAR, FAR]


def test_before_the_start_they_are_pending_and_run_then(stopped: BackgroundScheduler) -> None:
    jobs = stopped.add_jobs([{"args": [number]} for number in range(3)], func=function)
    assert [job.pending for job in jobs] == [True] * 3
    stopped.start()
    assert [ended(job)[0].result for job in jobs] == [(number, {}) for number in range(3)]


def test_none_at_all_is_no_mistake(scheduler: BaseScheduler) -> None:
    assert scheduler.add_jobs([], func=function) == []


def test_thousands_run_and_are_recorded(scheduler: BaseScheduler) -> None:
    jobs = scheduler.add_jobs(({"args": [number]} for number in range(1_200)), func=function)
    assert len({job.id for job in jobs}) == 1_200
    for number in (499, 500, 1_199):  # memory remembers the last thousand
        (line,) = ended(jobs[number])
        assert (line.state, line.result) == ("SUCCEEDED", (number, {}))
        assert line.scheduled_run_time <= datetime.now(UTC)


def test_one_name_is_not_taken_for_many_entries(scheduler: BaseScheduler) -> None:
    with pytest.raises(TypeError, match="add_job"):
        scheduler.add_jobs("tests.library.callables:function")
