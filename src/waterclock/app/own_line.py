"""The way of a program's own thread to the store: a loop that runs only while that thread waits for its answer.

By way of the engine's thread a trip is two more wake-ups of a thread, each of which takes as long as a short statement.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from typing import Any, Final, ParamSpec, TypeVar

from waterclock import clock
from waterclock.stores.base import Database, Operation

T = TypeVar("T")
P = ParamSpec("P")

CLOSE_SECONDS: Final = 1.0  # for a thread that is at it still: the handler of a signal may keep it there
FRESH_SECONDS: Final = 0.05  # what was said on a connection for so long nobody has to have heard
TURNS: Final = 4  # of the loop: it reads last words, then the end, closes, and forgets the connection


class OwnLine:
    """For one thread at a time: who finds it taken goes by the engine's loop, and so does who is in a loop itself."""

    def __init__(self, database: Database, apart: Database) -> None:
        """`apart`: of the same store, and not opened; it is when it is first needed, in a loop of its own."""
        self._database = database
        self._apart = apart
        self._process = os.getpid()
        self._free = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._used_at = 0.0
        self._swallowed: BaseException | None = None
        self._is_closed = False

    def take(self) -> bool:
        """Not in a fork, for its parent's connection is not its own."""
        if self._is_closed or os.getpid() != self._process or _is_in_a_loop():
            return False
        return self._free.acquire(blocking=False)

    def let_go(self) -> None:
        self._free.release()

    def send(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """For who has taken it; as `Database.send`. Where a signal ends it, nobody knows whether it was done."""
        self._swallowed = None
        try:
            loop = self._loop or self._begin()
            self._apart.offset_us = self._database.offset_us
            done = loop.run_until_complete(self._sent(operation, *args, **kwargs))
        except BaseException as problem:
            self._unless_interrupted(problem)
            raise
        self._unless_interrupted(None)
        return done

    def _begin(self) -> asyncio.AbstractEventLoop:
        loop = self._loop = asyncio.new_event_loop()
        loop.set_exception_handler(self._complain)
        loop.run_until_complete(self._apart.open())
        return loop

    def _complain(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """The handler of a signal may raise in the middle of the loop, which would only log it, and run for ever."""
        if "handle" in context or "transport" in context:
            self._swallowed = context.get("exception")
            loop.stop()

    def _unless_interrupted(self, problem: BaseException | None) -> None:
        """What a signal raises ends everything in the middle, and nothing more can be asked there; it is passed on."""
        if self._swallowed or not isinstance(problem, Exception | None):
            self._hang_up()
        if self._swallowed:
            raise self._swallowed

    async def _sent(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if clock.monotonic() > self._used_at + FRESH_SECONDS:  # it may have been closed: then another is made
            await _turns()
        try:
            return await self._apart.send(operation, *args, **kwargs)
        finally:
            self._used_at = clock.monotonic()

    def close(self) -> None:
        """In a thread without a loop. Who is in the middle of something is left to it."""
        self._is_closed = True
        if self._free.acquire(timeout=CLOSE_SECONDS):
            self._hang_up()

    def _hang_up(self) -> None:
        loop, self._loop = self._loop, None
        if loop is None:
            return
        with contextlib.suppress(RuntimeError):  # a signal has come just when it began or ended: it is left as it is
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.run_until_complete(self._ended())
            loop.close()

    async def _ended(self) -> None:
        await self._apart.close()
        await _turns()  # until the sockets are closed


async def _turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def _is_in_a_loop() -> bool:
    with contextlib.suppress(RuntimeError):
        return asyncio.get_running_loop() is not None
    return False
