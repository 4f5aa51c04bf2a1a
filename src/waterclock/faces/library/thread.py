"""The engine's own thread: an event loop that the program's threads hand work to, and wait for."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, Generic, TypeVar

import uvloop

import waterclock.executors.leaving  # noqa: F401  # registers its own hook: ours, registered later, runs before it
from waterclock.schedulers import SchedulerNotRunningError

T = TypeVar("T")

_alive: Final[set[EngineThread]] = set()


class EngineThread:
    """Started once. What runs here never runs code of the user's, so that no job can hold the scheduler up."""

    def __init__(self, *, daemon: bool = True, at_exit: Callable[[], object] | None = None) -> None:
        """`at_exit` is to end it when the program ends; one that is no daemon keeps the program alive instead."""
        self._at_exit = at_exit if daemon else None
        self._loop = uvloop.new_event_loop()  # a trip to the store is a tenth quicker than by asyncio's own
        self._open = threading.RLock()  # a signal handler may come in the middle of what it guards, and shut down
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="waterclock-engine", daemon=daemon)
        _alive.add(self)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for it; SchedulerNotRunningError where the engine ends before. A signal's exception goes to the caller:
        the work goes on."""
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("the engine's thread cannot wait for itself")
        asked = _Asked(work)
        with self._open:
            if self._is_closed:
                work.close()
                raise SchedulerNotRunningError
            self._loop.call_soon_threadsafe(asked.begin)
        return asked.answer()

    def later(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Do it without anybody waiting."""
        with self._open:
            if self._is_closed:
                work.close()
                raise SchedulerNotRunningError
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def soon(self, do: Callable[[], object]) -> None:
        """Nothing at all where the engine has ended."""
        with self._open:
            if not self._is_closed:
                self._loop.call_soon_threadsafe(do)

    def stop(self) -> None:
        """Once what is under way has ended; from the loop itself, too."""
        self.soon(self._loop.stop)

    def join(self, timeout: float | None = None) -> None:
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def leave(self) -> None:
        """The program ends: whatever runs is left to finish, and is recorded."""
        if self._at_exit:
            self._at_exit()
        self.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            with self._open:
                self._is_closed = True
            self._loop.run_until_complete(_cancel_the_others())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()
            _alive.discard(self)


class _Asked(Generic[T]):
    """Work for the loop, and one thread that waits for it: a lock costs less than two futures in a row."""

    __slots__ = ("_ended", "_task", "_work")

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._task: asyncio.Task[T] | None = None
        self._ended = threading.Lock()
        self._ended.acquire()

    def begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._work)
        self._task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[T]) -> None:
        if not task.cancelled():
            task.exception()  # it is seen, also where a signal has called the one who waits away
        self._ended.release()

    def answer(self) -> T:
        self._ended.acquire()
        assert self._task is not None
        try:
            return self._task.result()
        except asyncio.CancelledError:
            raise SchedulerNotRunningError from None


async def _cancel_the_others() -> None:
    """Somebody waits for each of them."""
    await asyncio.sleep(0)  # what was handed over at the last moment becomes a task first
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def _leave_all() -> None:
    for thread in tuple(_alive):
        thread.leave()


# As the hook of the executors, which must still be open when engines end.
threading._register_atexit(_leave_all)  # type: ignore[attr-defined]
os.register_at_fork(after_in_child=_alive.clear)  # a fork has no thread of its parent's to wait for
