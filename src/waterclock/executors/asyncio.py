"""The executor of the AsyncIOScheduler: coroutine functions are tasks of its event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction
from typing import Any, Final

from waterclock.executors.base import BaseExecutor, Call, Done, How, Order
from waterclock.executors.outcome import outcome_of, raised

UNLIMITED: Final = 1_000_000


class AsyncIOExecutor(BaseExecutor):
    """Runs coroutine functions as tasks in the scheduler's event loop, and all else in that loop's default executor.

    A task is stopped by cancelling it; one that does not let itself be cancelled ends when it ends. A call in a thread
    cannot be stopped. Plug-in name: `asyncio`.
    """

    max_workers = UNLIMITED  # the loop has no limit, and its default executor one of its own
    any_thread = True

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[int, Order] = {}  # not begun: whoever takes one out decides what becomes of it
        self._tasks: dict[int, tuple[asyncio.Task[None], Order]] = {}
        self._is_closed = False

    def start(self, scheduler: Any, alias: str) -> None:
        self._loop = scheduler._eventloop
        self._is_closed = False

    def submit(self, calls: Sequence[Call], begun: Callable[[int], None], done: Callable[[Done], None]) -> None:
        if self._loop is None:
            raise RuntimeError("the executor was not started: it belongs to an AsyncIOScheduler, whose loop it uses")
        if self._is_closed:
            raise RuntimeError("the executor was shut down: it takes no more calls")
        orders = [(call, begun, done) for call in calls]
        self._waiting.update((order[0].number, order) for order in orders)
        try:
            self._loop.call_soon_threadsafe(self._begin, orders)
        except RuntimeError:  # the loop is closed
            for call in calls:
                self._waiting.pop(call.number, None)
            raise

    def stop(self, number: int) -> bool:
        if self.withdraw(number):
            return True
        found = self._tasks.get(number)
        if found is None:
            return False
        task, (_, _, done) = found
        try:
            task.get_loop().call_soon_threadsafe(task.cancel)
        except RuntimeError:  # the loop is closed: nothing of it runs any more
            if self._tasks.pop(number, None):
                done(Done(number, How.KILLED))
        return True

    def withdraw(self, number: int) -> bool:
        order = self._waiting.pop(number, None)
        if order:
            order[2](Done(number, How.KILLED))
        return order is not None

    def shutdown(self, wait: bool = True) -> None:
        """Cancels what runs and drops what has not begun, whatever `wait` says, as APScheduler does.

        The loop may stand still for this very call: to wait for its tasks here would be to wait for ever.
        """
        self._is_closed = True
        for number in (*self._waiting, *self._tasks):
            self.stop(number)

    def _begin(self, orders: Sequence[Order]) -> None:
        for order in orders:
            if iscoroutinefunction(order[0].function):
                self._begin_task(order)
            else:
                self._hand_to_thread(order)

    def _begin_task(self, order: Order) -> None:
        """For a moment it is both waiting and a task: `stop` finds it here or there."""
        task = asyncio.create_task(self._run(*order))
        self._tasks[order[0].number] = task, order
        task.add_done_callback(lambda _: self._forget(order[0].number))

    async def _run(self, call: Call, begun: Callable[[int], None], done: Callable[[Done], None]) -> None:
        if self._waiting.pop(call.number, None) is None:
            return
        begun(call.number)
        try:
            ended = Done(call.number, How.RETURNED, await call.function(*call.args, **call.kwargs))
        except GeneratorExit:  # its loop was closed over it; `stop` may have told that already
            if self._tasks.pop(call.number, None):
                done(Done(call.number, How.KILLED))
            raise
        except BaseException as error:
            is_ours = isinstance(error, asyncio.CancelledError) and _is_cancelling()
            ended = Done(call.number, How.KILLED) if is_ours else raised(call.number, error)
        done(ended)

    def _hand_to_thread(self, order: Order) -> None:
        call, begun, done = order
        try:
            asyncio.get_running_loop().run_in_executor(None, self._call, *order)
        except RuntimeError as error:  # the loop's default executor was shut down
            if self._waiting.pop(call.number, None):
                begun(call.number)
                done(raised(call.number, error))

    def _call(self, call: Call, begun: Callable[[int], None], done: Callable[[Done], None]) -> None:
        if self._waiting.pop(call.number, None):
            begun(call.number)
            done(outcome_of(call))

    def _forget(self, number: int) -> None:
        self._tasks.pop(number, None)
        self.withdraw(number)  # a task that somebody else cancelled before it ran a line


def _is_cancelling() -> bool:
    """Whether somebody asked this task to end; else the error is the call's own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
