"""On PostgreSQL, who asks for one call goes to the database and to its executor itself, past the engine's loop."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor as Threads
from typing import Any

import asyncpg
import pytest

from tests.library.scheduling import LONG, Ear, ended, running, wait_until
from tests.library.test_handing_over import standing_still
from tests.services.database import beside_any_loop
from waterclock.domain.errors import CommitUnknown, Unavailable
from waterclock.events import EVENT_JOB_REMOVED, EVENT_JOB_SUBMITTED
from waterclock.jobstores.postgresql import PostgreSQLJobStore
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.schedulers.base import BaseScheduler

times: list[int] = []


def count() -> int:
    times.append(1)
    return len(times)


@pytest.fixture(autouse=True)
def fresh() -> None:
    times.clear()


def on(url: str, **options: Any) -> BackgroundScheduler:
    return BackgroundScheduler(jobstores={"default": PostgreSQLJobStore(url, **options)})


@pytest.fixture
def scheduler(postgres_url: str) -> Iterator[BaseScheduler]:
    with running(on(postgres_url)) as scheduler:
        yield scheduler


def line_of(scheduler: BaseScheduler) -> Any:
    submitting: Any = scheduler._engines()[0]._submitting
    return submitting._line


def after_it_is_stored(scheduler: BaseScheduler, then: Callable[[], object]) -> None:
    """Once, before who asks for it hears of it."""
    apart = line_of(scheduler)._apart
    send = apart.send

    async def interfere(operation: Any, *args: Any, **kwargs: Any) -> Any:
        done = await send(operation, *args, **kwargs)
        apart.send = send
        then()
        return done

    apart.send = interfere


def test_a_call_is_made_while_the_engine_stands_still_and_recorded_when_it_goes_on(scheduler: BaseScheduler) -> None:
    scheduler.add_job(count)
    wait_until(lambda: len(times) == 1)
    with standing_still(scheduler):
        jobs = [scheduler.add_job(count) for _ in range(20)]
        wait_until(lambda: len(times) == 21)
    assert sorted(ended(job)[0].result for job in jobs) == list(range(2, 22))
    assert scheduler.get_jobs() == []


def test_what_many_threads_ask_for_is_made_once_each(scheduler: BaseScheduler) -> None:
    with Threads(8) as threads:
        jobs = list(threads.map(lambda _: scheduler.add_job(count), range(200)))
    assert [ended(job)[0].state for job in jobs] == ["SUCCEEDED"] * 200
    assert len(times) == 200


def test_who_is_in_a_loop_asks_by_way_of_the_engine(scheduler: BaseScheduler) -> None:
    async def ask() -> Any:
        return scheduler.add_job(count)

    assert ended(asyncio.run(ask()))[0].result == 1


def test_listeners_hear_of_it(scheduler: BaseScheduler) -> None:
    ear = Ear(scheduler, EVENT_JOB_SUBMITTED | EVENT_JOB_REMOVED)
    job = scheduler.add_job(count)
    heard = [ear.next(), ear.next()]
    assert [(each.job_id, each.code) for each in heard] == [(job.id, EVENT_JOB_SUBMITTED), (job.id, EVENT_JOB_REMOVED)]


def test_a_connection_that_was_closed_meanwhile_is_not_asked(
    postgres_url: str, scheduler: BaseScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("waterclock.app.own_line.FRESH_SECONDS", -1.0)  # however little time there was between them
    scheduler.add_job(count)
    beside_any_loop(end_all_others(postgres_url))
    assert ended(scheduler.add_job(count))[0].result == 2


async def end_all_others(url: str) -> None:
    connection = await asyncpg.connect(url)
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    assert await connection.fetchval(f"SELECT count(pg_terminate_backend(pid, {LONG * 1000:.0f})) {others}")
    await connection.close()


def test_a_call_whose_answer_was_lost_is_made_once(scheduler: BaseScheduler) -> None:
    def lose() -> None:
        raise CommitUnknown("the answer was lost")

    after_it_is_stored(scheduler, lose)
    with pytest.raises(Unavailable):
        scheduler.add_job(count)
    wait_until(lambda: times == [1], why="it was forgotten")
    assert ended(scheduler.add_job(count))[0].result == 2


class Interrupted(BaseException):
    """What the handler of a signal raises."""


def test_one_that_a_signal_interrupts_is_made_once_and_the_next_as_if_nothing_had_been(
    scheduler: BaseScheduler,
) -> None:
    def interrupt() -> None:
        raise Interrupted

    after_it_is_stored(scheduler, interrupt)
    with pytest.raises(Interrupted):
        scheduler.add_job(count)
    wait_until(lambda: times == [1], why="it was forgotten")
    with standing_still(scheduler):
        job = scheduler.add_job(count)
        wait_until(lambda: len(times) == 2)
    assert ended(job)[0].attempts == 1


def test_what_a_signal_raises_where_the_loop_would_only_log_it_goes_to_who_asked(scheduler: BaseScheduler) -> None:
    apart = line_of(scheduler)._apart
    send = apart.send

    async def never(*_: Any, **__: Any) -> None:
        asyncio.get_running_loop().call_soon(interrupt)
        await asyncio.Event().wait()

    def interrupt() -> None:
        apart.send = send
        raise Interrupted

    apart.send = never
    with pytest.raises(Interrupted):
        scheduler.add_job(count)
    assert ended(scheduler.add_job(count))[0].result == 1


def test_a_signal_handler_may_shut_down_in_the_middle_and_what_was_asked_for_never_begins(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("waterclock.app.submitting.REST_SECONDS", 0.05)
    monkeypatch.setattr("waterclock.app.own_line.CLOSE_SECONDS", 0.05)
    with running(on(postgres_url, lease_seconds=0.5)) as scheduler:
        after_it_is_stored(scheduler, scheduler.shutdown)
        job = scheduler.add_job(count)
    with running(on(postgres_url, lease_seconds=0.5)) as other:
        job._store = other._jobstores["default"]
        assert ended(job)[0].state == "FAILED"
    assert times == []


@pytest.fixture
def given_back(scheduler: BaseScheduler, monkeypatch: pytest.MonkeyPatch) -> Callable[[], object]:
    """What the ticker does about a lost answer, where a thread stands still meanwhile."""
    monkeypatch.setattr("waterclock.app.submitting.REST_SECONDS", 0.05)
    submitting: Any = scheduler._engines()[0]._submitting
    thread: Any = scheduler._thread
    return lambda: thread.call(submitting._taking.give_back())


def test_who_comes_back_after_nobody_waited_any_longer_leaves_it_to_be_claimed(
    scheduler: BaseScheduler, given_back: Callable[[], object]
) -> None:
    after_it_is_stored(scheduler, given_back)
    job = scheduler.add_job(count)
    assert (ended(job)[0].state, ended(job)[0].attempts, times) == ("SUCCEEDED", 1, [1])


def test_what_was_left_to_the_loop_and_let_go_of_meanwhile_is_made_once(
    scheduler: BaseScheduler, given_back: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    submitting: Any = scheduler._engines()[0]._submitting
    leave = submitting._leave_from_elsewhere

    def stand_still(*left: Any) -> None:
        given_back()
        leave(*left)

    monkeypatch.setattr(submitting._taking, "begin", lambda *_: False)
    monkeypatch.setattr(submitting, "_leave_from_elsewhere", stand_still)
    job = scheduler.add_job(count)
    assert (ended(job)[0].state, ended(job)[0].attempts, times) == ("SUCCEEDED", 1, [1])
    scheduler.shutdown()
    assert times == [1]


def test_a_fork_leaves_its_parents_connection_alone(postgres_url: str) -> None:
    program = """
import os, sys
from waterclock.schedulers.background import BackgroundScheduler
scheduler = BackgroundScheduler(jobstores={"default": {"type": "postgresql", "url": sys.argv[1]}})
scheduler.start()
scheduler.add_job("builtins:len", args=["abc"])
line = scheduler._engines()[0]._submitting._line
told, tell = os.pipe()
if not os.fork():
    os.write(tell, str(line.take()).encode())
    os._exit(0)
print(os.read(told, 9).decode(), line.take())
line.let_go()
scheduler.shutdown()
"""
    command = [sys.executable, "-c", program, postgres_url]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == ["False", "True"]
