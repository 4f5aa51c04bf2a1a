"""The executor of the AsyncIOScheduler: tasks of its loop, and threads of that loop's default executor."""

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace

import pytest

from tests.library.executor_calls import Told, add, fail, later
from waterclock.executors.asyncio import AsyncIOExecutor
from waterclock.executors.base import Call, How


class LoopThread:
    """A running loop for tests that play the engine, which calls executors from a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


@pytest.fixture
def running() -> Iterator[LoopThread]:
    loop = LoopThread()
    yield loop
    if not loop.loop.is_closed():
        loop.close()


@pytest.fixture
def told(running: LoopThread) -> Told:
    executor = AsyncIOExecutor()
    executor.start(SimpleNamespace(_eventloop=running.loop), "default")
    return Told(executor)


async def where() -> threading.Thread:
    return threading.current_thread()


async def forever() -> None:
    await asyncio.Event().wait()


async def fail_later(text: str) -> None:
    await asyncio.sleep(0)
    fail(text)


async def give_up() -> None:
    raise asyncio.CancelledError("of my own accord")


def test_a_coroutine_function_is_a_task_of_the_loop(told: Told, running: LoopThread) -> None:
    assert told.run(where).value is running.thread
    assert told.run(partial(later, 5)).value == 5


def test_all_else_runs_in_a_thread(told: Told, running: LoopThread) -> None:
    assert told.run(threading.current_thread).value not in (running.thread, threading.current_thread())
    assert told.run(add, 1, second=2).value == 3


def test_an_error_comes_with_its_traceback_which_begins_at_the_call(told: Told) -> None:
    for function in (fail, fail_later):
        done = told.run(function, "no such luck")
        assert (done.how, str(done.error)) == (How.RAISED, "no such luck")
        assert f"in {function.__name__}" in done.traceback.splitlines()[1]


def test_more_calls_run_at_once_than_any_pool_would_have(told: Told) -> None:
    numbers = range(500)
    told.submit(*(Call(number, forever) for number in numbers))
    for number in numbers:
        told.has_begun(number)
    told.executor.shutdown()
    assert set(told.all_ended(*numbers)) == {How.KILLED}


def test_stopping_a_task_cancels_it(told: Told) -> None:
    told.submit(Call(1, forever))
    told.has_begun(1)
    assert told.executor.stop(1) is True
    assert told.ended(1).how == How.KILLED
    assert told.run(give_up).how == How.RAISED  # nobody asked it to


def test_a_call_in_a_thread_cannot_be_stopped(told: Told) -> None:
    gate = threading.Event()
    told.submit(Call(1, gate.wait, (20,)))
    told.has_begun(1)
    assert told.executor.stop(1) is False
    gate.set()
    assert told.ended(1).value is True


def test_stopping_a_call_that_waits_means_that_it_never_begins(told: Told, running: LoopThread) -> None:
    busy = threading.Event()
    running.loop.call_soon_threadsafe(busy.wait, 20)
    told.submit(Call(1, where), Call(2, add, (2,)), Call(3, where))
    assert told.executor.stop(1) is True
    assert told.executor.stop(2) is True
    busy.set()
    assert told.all_ended(1, 2, 3) == [How.KILLED, How.KILLED, How.RETURNED]
    assert told.begun == [3]


def test_what_has_begun_cannot_be_withdrawn(told: Told, running: LoopThread) -> None:
    told.submit(Call(1, forever))
    told.has_begun(1)
    busy = threading.Event()
    running.loop.call_soon_threadsafe(busy.wait, 20)
    told.submit(Call(2, where))
    assert [told.executor.withdraw(number) for number in (1, 2)] == [False, True]
    busy.set()
    assert told.ended(2).how == How.KILLED
    told.executor.stop(1)
    assert told.ended(1).how == How.KILLED


def test_a_loop_that_was_closed_leaves_no_call_behind(told: Told, running: LoopThread) -> None:
    told.submit(Call(1, forever))
    told.has_begun(1)
    running.close()
    told.executor.shutdown()
    assert told.ended(1).how == How.KILLED
    with pytest.raises(RuntimeError):
        told.submit(Call(2, where))
    assert 2 not in told.done


async def test_shutting_down_in_the_loop_itself_does_not_wait_for_it() -> None:
    executor = AsyncIOExecutor()
    executor.start(SimpleNamespace(_eventloop=asyncio.get_running_loop()), "default")
    told = Told(executor).submit(Call(1, forever), Call(2, forever))
    await asyncio.sleep(0.01)
    told.submit(Call(3, forever))
    executor.shutdown(wait=True)
    await asyncio.to_thread(told.all_ended, 1, 2, 3)
    assert told.begun == [1, 2]


async def test_tasks_that_the_loop_itself_cancels_have_ended_too() -> None:
    executor = AsyncIOExecutor()
    executor.start(SimpleNamespace(_eventloop=asyncio.get_running_loop()), "default")
    told = Told(executor).submit(Call(1, forever))
    before = asyncio.all_tasks()
    while not (made := asyncio.all_tasks() - before):
        await asyncio.sleep(0)
    for task in made:
        task.cancel()
    await asyncio.wait(made)
    assert (await asyncio.to_thread(told.ended, 1)).how == How.KILLED


def test_it_belongs_to_a_scheduler_with_a_loop() -> None:
    with pytest.raises(RuntimeError, match="AsyncIOScheduler"):
        Told(AsyncIOExecutor()).submit(Call(1, where))
