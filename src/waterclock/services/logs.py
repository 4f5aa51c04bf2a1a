"""Logs: of runs that the caller may see, read where they lie, inside the log root and nowhere else."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waterclock import clock
from waterclock.domain.access import Caller
from waterclock.domain.errors import InvalidInput
from waterclock.domain.run import Attempt
from waterclock.runners import logs as files
from waterclock.services.runs import Runs
from waterclock.stores.base import Database, Topic

FOLLOW_BYTES: Final = 64 * 1024
LOOK_SECONDS: Final = 0.1  # how often a file that is followed is looked at
ASK_SECONDS: Final = 1.0  # how often the store is asked about a run that is followed, besides wake-ups
GATHER_SECONDS: Final = 0.02  # under a storm of wake-ups, the pause before the store is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """A piece of a log; `ended` when there will never be more of it after `next_offset`."""

    text: str
    next_offset: int
    ended: bool


class Logs:
    def __init__(self, database: Database, runs: Runs, root: Path) -> None:
        self._database = database
        self._runs = runs
        self._root = root

    async def read(self, caller: Caller, wire_id: str, *, offset: int, limit: int) -> LogPage:
        """What is there now. The run is looked at before its log: what it wrote until its end is then in it."""
        return await self._page(await self._runs.get(caller, wire_id), offset, limit)

    async def follow(self, caller: Caller, wire_id: str, *, offset: int) -> AsyncIterator[LogPage | Attempt]:
        """The log as it grows, and the run: at first, when it changes, now and then as a sign of life, and at its end.

        The end comes last, after all of the log.
        """
        attempt = await self._runs.get(caller, wire_id)
        if not attempt.ended:
            yield attempt
        with self._woken_by_ends() as woken:
            pace = _Pace(woken)
            while not (page := await self._page(attempt, offset, FOLLOW_BYTES)).ended:
                offset = page.next_offset
                if page.text:
                    yield page
                elif await pace.time_to_ask(began=attempt.log_path is not None):
                    was, attempt = attempt, await self._runs.get(caller, wire_id)
                    if not attempt.ended and (attempt.state is not was.state or not pace.was_woken):
                        yield attempt
        yield page
        yield attempt

    async def _page(self, attempt: Attempt, offset: int, limit: int) -> LogPage:
        if offset < 0:
            raise InvalidInput("must not be negative", field="offset", value=offset)
        if attempt.log_path is None:
            return LogPage(text="", next_offset=offset, ended=attempt.ended)
        path = files.inside(self._root, Path(attempt.log_path))
        chunk = await asyncio.to_thread(files.read, path, offset, limit, is_finished=attempt.ended)
        return LogPage(text=chunk.text, next_offset=chunk.next_offset, ended=attempt.ended and chunk.at_end)

    @contextlib.contextmanager
    def _woken_by_ends(self) -> Iterator[asyncio.Event]:
        woken = asyncio.Event()
        deaf = self._database.listen(Topic.ENDS, woken.set)
        try:
            yield woken
        finally:
            deaf()


class _Pace:
    """When to ask the store about a run that is followed: after a wake-up, and now and then."""

    def __init__(self, woken: asyncio.Event) -> None:
        self._woken = woken
        self._asked_at = clock.monotonic()
        self.was_woken = False

    async def time_to_ask(self, *, began: bool) -> bool:
        """Rests until the log is worth a look; whether the run is, too."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._woken.wait()
        self.was_woken = self._woken.is_set()
        if self.was_woken:
            self._woken.clear()
            await asyncio.sleep(GATHER_SECONDS)
        # Nobody is woken when a run begins: until then ask at every look.
        due = not began or clock.monotonic() - self._asked_at >= ASK_SECONDS
        if self.was_woken or due:
            self._asked_at = clock.monotonic()
            return True
        return False
