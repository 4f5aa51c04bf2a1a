"""Work that blocks, with a deadline: in a thread that nobody waits for, not even the end of the process."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


class Threads:
    """At most so many at once under one name, counting those that are past their deadline and still hang."""

    def __init__(self, *, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._alive: dict[str, list[threading.Thread]] = {}

    def is_full(self, name: str) -> bool:
        alive = [thread for thread in self._alive.pop(name, ()) if thread.is_alive()]
        if alive:
            self._alive[name] = alive
        return len(alive) >= self._most

    async def run(self, name: str, work: Callable[[], T]) -> T:
        """`TimeoutError` at the deadline; a thread cannot be killed, so the work may still be done after it."""
        done: Future[T] = Future()
        done.set_running_or_notify_cancel()  # from now on it cannot be cancelled: the thread will have its say
        thread = threading.Thread(target=_do, args=(work, done), name="notice", daemon=True)
        self._alive.setdefault(name, []).append(thread)
        thread.start()
        async with asyncio.timeout(self._seconds):
            return await asyncio.wrap_future(done)


def _do(work: Callable[[], T], done: "Future[T]") -> None:
    try:
        done.set_result(work())
    except Exception as problem:  # it is raised again where the work is waited for
        done.set_exception(problem)
