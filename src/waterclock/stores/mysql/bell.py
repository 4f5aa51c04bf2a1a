"""Wake-ups without NOTIFY: whoever has written counts up a row, and everybody looks at the rows five times a second."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from waterclock.domain.errors import Unavailable
from waterclock.stores.base import StatementFailed, Topic
from waterclock.stores.server import ConnectionLost, RolledBack
from waterclock.stores.wakeups import Listeners

POLL_SECONDS: Final = 0.2
REST_SECONDS: Final = 0.05  # between two rounds at least, however often it rings

Counts = Mapping[str, int]


class Bell:
    """`count_up` and `counts` speak to the database, each on its own and at once."""

    def __init__(
        self,
        count_up: Callable[[set[Topic]], Awaitable[None]],
        counts: Callable[[], Awaitable[Counts]],
        listeners: Listeners,
    ) -> None:
        self._count_up = count_up
        self._counts = counts
        self._listeners = listeners
        self._rung: set[Topic] = set()
        self._ringing = asyncio.Event()
        self._closed = False
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Once it is open, everything that is rung from then on is heard."""
        self._task = asyncio.create_task(self._watch(await self._look(None)), name="mysql-bell")

    async def close(self) -> None:
        self._closed = True  # a cancellation in the middle of connecting may get lost
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def ring(self, topics: set[Topic]) -> None:
        """After a commit. Our own listeners have been told: this is for the other processes."""
        self._rung |= topics
        self._ringing.set()

    async def _watch(self, seen: Counts | None) -> None:
        while not self._closed:
            await asyncio.sleep(REST_SECONDS)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS - REST_SECONDS):  # wait_for may swallow a cancellation
                    await self._ringing.wait()
            seen = await self._look(seen)

    async def _look(self, seen: Counts | None) -> Counts | None:
        """None where it is not there, or not migrated yet: once it answers everybody is woken."""
        try:
            return await self._round(seen)
        except (ConnectionLost, RolledBack, Unavailable, StatementFailed):
            return None

    async def _round(self, seen: Counts | None) -> Counts:
        self._ringing.clear()
        if rung := self._rung:
            self._rung = set()
            await self._count_up(rung)
        counts = await self._counts()
        self._listeners.tell(topic for topic in Topic if seen is None or counts.get(topic) != seen.get(topic))
        return counts
