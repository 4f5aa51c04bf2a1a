"""Events and who hears of them: APScheduler's names and numbers; listeners neither wait for nor disturb anybody."""

import inspect
import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any

import apscheduler.events
import pytest
from apscheduler.schedulers.background import BackgroundScheduler

import waterclock.events
from waterclock.events import (
    EVENT_ALL,
    EVENT_JOB_ADDED,
    EVENT_JOB_ERROR,
    EVENT_JOB_EXECUTED,
    EVENT_JOB_MISSED,
    JobEvent,
    JobExecutionEvent,
    SchedulerEvent,
)
from waterclock.faces.library.listeners import Listeners

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
LONG = 20.0  # a deadline, not a wait
CODES = {name for name in vars(apscheduler.events) if name.startswith("EVENT_")}
CLASSES = {
    "SchedulerEvent": (1, "default"),
    "JobEvent": (EVENT_JOB_ADDED, "id", "default"),
    "JobSubmissionEvent": (EVENT_JOB_ADDED, "id", "default", [NOON]),
    "JobExecutionEvent": (EVENT_JOB_ERROR, "id", "default", NOON, None, ValueError("x"), "Traceback"),
}


def test_the_codes_are_those_of_apscheduler() -> None:
    assert {name for name in vars(waterclock.events) if name.startswith("EVENT_")} == CODES
    assert [getattr(waterclock.events, name) for name in CODES] == [getattr(apscheduler.events, name) for name in CODES]
    assert set(waterclock.events.__all__) == set(apscheduler.events.__all__)
    assert EVENT_ALL.bit_count() == 17


@pytest.mark.parametrize(("name", "args"), CLASSES.items())
def test_the_classes_are_those_of_apscheduler(name: str, args: tuple[Any, ...]) -> None:
    ours, theirs = getattr(waterclock.events, name), getattr(apscheduler.events, name)
    assert [base.__name__ for base in ours.__mro__] == [base.__name__ for base in theirs.__mro__]
    declared, expected = (inspect.signature(each).parameters for each in (ours, theirs))
    assert list(declared) == list(expected)
    assert [(each.kind, each.default) for each in declared.values()] == [
        (each.kind, each.default) for each in expected.values()
    ]
    for given in (args, args[: sum(each.default is each.empty for each in expected.values())]):
        assert vars(ours(*given)) == vars(theirs(*given))
        assert repr(ours(*given)) == f"<{name} (code={given[0]})>", "which is what APScheduler 3.11 meant to say"


@pytest.fixture
def listeners() -> Iterator[Listeners]:
    made = Listeners()
    yield made
    made.close()


def executed(job_id: str) -> JobExecutionEvent:
    return JobExecutionEvent(EVENT_JOB_EXECUTED, job_id, "default", NOON)


def test_events_are_heard_in_order_in_a_thread_of_their_own(listeners: Listeners) -> None:
    heard: list[tuple[str, str]] = []
    listeners.add(lambda event: heard.append(("first", event.job_id)))
    listeners.add(lambda event: heard.append(("second", event.job_id)))
    threads = set[threading.Thread]()
    listeners.add(lambda event: threads.add(threading.current_thread()))
    for number in range(100):
        listeners.tell(executed(str(number)))
    assert listeners.flush(LONG)
    assert heard == [(name, str(number)) for number in range(100) for name in ("first", "second")]
    (thread,) = threads
    assert thread is not threading.current_thread()
    assert (thread.name, thread.daemon) == ("waterclock-listeners", True)


def test_what_the_caller_does_itself_is_heard_before_its_call_returns(listeners: Listeners) -> None:
    heard: list[threading.Thread] = []
    listeners.add(lambda event: heard.append(threading.current_thread()))
    listeners.tell_now(JobEvent(EVENT_JOB_ADDED, "a", "default"))
    assert heard == [threading.current_thread()]


def test_a_listener_hears_what_it_asked_for(listeners: Listeners) -> None:
    heard: list[int] = []
    listeners.add(lambda event: heard.append(event.code), EVENT_JOB_ERROR | EVENT_JOB_MISSED)
    others: list[SchedulerEvent] = []
    listeners.add(others.append, EVENT_JOB_EXECUTED)
    for code in (EVENT_JOB_EXECUTED, EVENT_JOB_ERROR, EVENT_JOB_ADDED, EVENT_JOB_MISSED):
        listeners.tell_now(SchedulerEvent(code))
        listeners.tell(SchedulerEvent(code))
    assert listeners.flush(LONG)
    assert sorted(heard) == sorted([EVENT_JOB_ERROR, EVENT_JOB_MISSED] * 2)
    assert [event.code for event in others] == [EVENT_JOB_EXECUTED] * 2


def test_what_nobody_listens_to_costs_no_thread(listeners: Listeners) -> None:
    def hear(event: SchedulerEvent) -> None: ...

    threads = threading.active_count()
    assert not listeners.wants(EVENT_ALL)
    listeners.add(hear, EVENT_JOB_ERROR)
    assert listeners.wants(EVENT_JOB_ERROR)
    assert listeners.wants(EVENT_JOB_ERROR | EVENT_JOB_MISSED)
    assert not listeners.wants(EVENT_JOB_MISSED)
    listeners.tell(executed("a"))
    listeners.remove(hear)
    assert not listeners.wants(EVENT_ALL)
    listeners.tell(SchedulerEvent(EVENT_JOB_ERROR))
    assert threading.active_count() == threads
    assert listeners.flush(0), "there is nothing to wait for"


@pytest.mark.parametrize("problem", [ZeroDivisionError("oh"), SystemExit(3)])
def test_a_listener_that_raises_is_logged_and_silences_nobody(
    listeners: Listeners, problem: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(event: SchedulerEvent) -> None:
        raise problem

    heard: list[SchedulerEvent] = []
    listeners.add(fail)
    listeners.add(heard.append)
    events = [SchedulerEvent(1), SchedulerEvent(2)]
    listeners.tell_now(events[0])
    listeners.tell(events[1])
    assert listeners.flush(LONG)
    assert heard == events
    assert [record.getMessage() for record in caplog.records] == [
        f"a listener failed at <SchedulerEvent (code={code})>" for code in (1, 2)
    ]
    assert all(record.levelno == logging.ERROR and "in fail" in (record.exc_text or "") for record in caplog.records)


def test_telling_never_waits_for_a_listener(listeners: Listeners) -> None:
    gate, heard = threading.Event(), list[SchedulerEvent]()
    listeners.add(lambda event: gate.wait(LONG))
    listeners.add(heard.append)
    events = [executed(str(number)) for number in range(1000)]
    for event in events:
        listeners.tell(event)
    assert not listeners.flush(0)
    assert heard == []
    gate.set()
    assert listeners.flush(LONG)
    assert heard == events


def test_a_listener_may_do_whatever_its_program_may(listeners: Listeners) -> None:
    heard, flushed = list[SchedulerEvent](), list[bool]()
    first, second = SchedulerEvent(1), SchedulerEvent(2)

    def once(event: SchedulerEvent) -> None:
        listeners.remove(once)
        listeners.add(heard.append)
        flushed.append(listeners.flush())  # it cannot wait for itself
        listeners.tell_now(first)
        listeners.tell(second)

    listeners.add(once)
    listeners.tell(SchedulerEvent(4))
    assert listeners.flush(LONG)
    assert listeners.flush(LONG), "for what the listener told in its turn"
    assert heard == [first, second], "and not what happened before it was added"
    assert flushed == [False]


def test_a_listener_that_was_removed_hears_nothing_more(listeners: Listeners) -> None:
    arrived, gate, heard = threading.Event(), threading.Event(), list[SchedulerEvent]()

    def hold(event: SchedulerEvent) -> None:
        arrived.set()
        gate.wait(LONG)

    listeners.add(hold)
    listeners.add(heard.append)
    listeners.tell(executed("a"))
    listeners.tell(executed("b"))
    assert arrived.wait(LONG)
    listeners.remove(heard.append)
    gate.set()
    assert listeners.flush(LONG)
    assert heard == []


def test_removing_takes_a_listener_away_however_often_it_was_added(listeners: Listeners) -> None:
    heard: list[SchedulerEvent] = []
    listeners.add(heard.append, EVENT_JOB_ADDED)
    listeners.add(heard.append, EVENT_JOB_ADDED)
    listeners.tell_now(SchedulerEvent(EVENT_JOB_ADDED))
    assert len(heard) == 2
    listeners.remove(heard.append)
    listeners.remove(heard.append)
    listeners.tell_now(SchedulerEvent(EVENT_JOB_ADDED))
    assert len(heard) == 2


def test_closing_ends_the_thread_after_what_was_told_and_listeners_hear_of_a_restart() -> None:
    listeners, heard = Listeners(), SimpleQueue[tuple[int, threading.Thread]]()
    listeners.add(lambda event: heard.put((event.code, threading.current_thread())))
    threads: list[threading.Thread] = []
    for code in (1, 2):
        listeners.tell(SchedulerEvent(code))
        listeners.close()
        listeners.close()
        told, thread = heard.get(timeout=LONG)
        thread.join(LONG)
        assert not thread.is_alive()
        assert told == code
        threads.append(thread)
    assert threads[0] is not threads[1]


def test_many_threads_may_tell_at_once(listeners: Listeners) -> None:
    heard: list[str] = []
    listeners.add(lambda event: heard.append(event.job_id))

    def tell(name: str) -> None:
        for number in range(200):
            listeners.tell(executed(f"{name}{number:03}"))
            listeners.remove(tell)

    threads = [threading.Thread(target=tell, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert listeners.flush(LONG)
    for name in "abcd":
        assert [each for each in heard if each.startswith(name)] == [f"{name}{number:03}" for number in range(200)]


def test_only_what_can_be_called_listens(listeners: Listeners) -> None:
    with pytest.raises(TypeError, match="a listener must be callable, not int"):
        listeners.add(5)  # type: ignore[arg-type]


def test_apscheduler_tells_what_a_caller_does_itself_at_once_too() -> None:
    """Why `tell_now` is there: programs look at what their listener heard right after add_job."""
    heard: list[int] = []
    theirs = BackgroundScheduler(timezone="UTC")
    theirs.add_listener(lambda event: heard.append(event.code))
    theirs.start(paused=True)
    theirs.add_job(print, "date", run_date=NOON)
    assert heard[-1] == EVENT_JOB_ADDED
    theirs.shutdown()
