"""The one loop: it alone owns start, stop, wake-up, error logging and cancellation of a duty."""

import asyncio
import contextlib
import logging
from typing import Final, Protocol

from waterclock.domain.errors import Unavailable

log: Final = logging.getLogger("waterclock.engine")

FIRST_PAUSE_SECONDS: Final = 0.2
LONGEST_PAUSE_SECONDS: Final = 5.0


class Duty(Protocol):
    """One round of work at a time; tests call `tick` themselves."""

    name: str

    async def tick(self) -> float:
        """Do one round; how many seconds to rest before the next, unless woken."""
        ...


class Loop:
    """Runs one duty until it is stopped; a failing round is logged and tried again, a little later each time."""

    def __init__(self, duty: Duty, *, after_seconds: float = 0.0) -> None:
        """`after_seconds`: of rest before its first round, for what can wait while a process has enough to do."""
        self.duty = duty
        self._after_seconds = after_seconds
        self._awake = asyncio.Event()
        self._stopping = False
        self._paused = False
        self._busy = False  # in the middle of a round, or of one that failed and is to be tried again
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name=self.duty.name)

    def wake(self) -> None:
        self._awake.set()

    def pause(self) -> None:
        """After the round that is under way; one that fails is tried again first: its answer may have been lost."""
        self._paused = True

    def go_on(self) -> None:
        self._paused = False
        self.wake()

    @property
    def is_resting(self) -> bool:
        """It was paused, and no round of it is under way."""
        return self._paused and not self._busy

    async def stop(self) -> None:
        """After the round that is under way."""
        self._stopping = True
        self.wake()
        if self._task:
            await self._task

    async def cancel(self) -> None:
        """At once, in the middle of whatever it does."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        failures = 0
        if self._after_seconds:
            await self._rest(self._after_seconds)
        while not self._stopping:
            self._awake.clear()
            if self.is_resting:
                await self._awake.wait()
                continue
            self._busy = True
            try:
                rest = await self.duty.tick()
                failures, self._busy = 0, False
            except Unavailable as problem:
                rest, failures = _pause(failures), failures + 1
                level = logging.DEBUG if problem.is_told else logging.WARNING
                log.log(level, "%s: %s; again in %.1f s", self.duty.name, problem, rest)
            except Exception:
                rest, failures = _pause(failures), failures + 1
                log.exception("%s failed; again in %.1f s", self.duty.name, rest)
            await self._rest(rest)

    async def _rest(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._awake.wait()


def _pause(failures: int) -> float:
    return min(FIRST_PAUSE_SECONDS * 2.0**failures, LONGEST_PAUSE_SECONDS)
