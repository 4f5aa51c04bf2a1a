"""Connections of PostgreSQL that are lent for one operation each: one that is at hand costs next to nothing to get.

Not asyncpg's own pool: each of its loans is two tasks and a reset, which cost more than a short statement.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Final

import asyncpg

from waterclock import clock
from waterclock.stores.server import BORROW_SECONDS

STALE_SECONDS: Final = 300.0  # nobody has needed it for so long


class Pool:
    """At most `size` connections; the one that came back last is lent first."""

    def __init__(self, connect: Callable[[], Awaitable[Any]], size: int) -> None:
        self._connect = connect
        self._free = asyncio.Semaphore(size)
        self._idle: list[tuple[Any, float]] = []
        self._lent: set[Any] = set()

    async def acquire(self) -> Any:
        if self._free.locked():
            async with asyncio.timeout(BORROW_SECONDS):
                await self._free.acquire()
        else:
            await self._free.acquire()
        try:
            connection = self._idle_one() or await self._connect()
        except BaseException:
            self._free.release()
            raise
        self._lent.add(connection)
        return connection

    def release(self, connection: Any) -> None:
        self._free.release()
        if connection not in self._lent:
            drop(connection)
            return
        self._lent.discard(connection)
        now = clock.monotonic()
        if not connection.is_closed():
            self._idle.append((connection, now))
        while self._idle and self._idle[0][1] < now - STALE_SECONDS:
            drop(self._idle.pop(0)[0])

    def clear(self) -> None:
        """Forget them all, for they may be dead; one that is lent is dropped when it comes back."""
        self._lent.clear()
        while self._idle:
            drop(self._idle.pop()[0])

    def close(self) -> None:
        """Those that are lent, too, in the middle of whatever they do."""
        for connection in self._lent:
            drop(connection)
        self.clear()

    def _idle_one(self) -> Any | None:
        """One that the server has not ended."""
        while self._idle:
            connection, _ = self._idle.pop()
            if not connection.is_closed():
                return connection
        return None


def drop(connection: Any) -> None:
    """At once, without a word to the server."""
    with contextlib.suppress(asyncpg.InterfaceError):  # it has gone by itself
        connection.terminate()
