"""The shipper: brings the logs of this host to where everybody can read them, while they grow and after their end.

It goes by what lies in the outbox, and by what the other side says it has. So nothing is lost by a restart of either,
and what was not answered is simply sent again. The ends of runs do not wait for it.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from waterclock import clock
from waterclock.domain.errors import InvalidInput, NotAllowed, NotFound, Unavailable
from waterclock.domain.moment import SECOND
from waterclock.runners.outbox import Outbox, Outgoing

log: Final = logging.getLogger("waterclock.engine")

CHUNK_BYTES: Final = 256 * 1024  # of one log in one round: others have their turn, and memory its bound
AT_ONCE: Final = 8
ROUND: Final = 64  # logs that grow, and as many that have ended
REST_SECONDS: Final = 0.5
LEAST_REST: Final = 20  # times as long as the look at the outbox took: a long list is not read without end
KEEP_SECONDS: Final = 60.0  # what was shipped, for who wants to look at it here
KEEP_REFUSED_SECONDS: Final = 24 * 3600.0
QUIET_SECONDS: Final = 10.0  # until a log whose program nobody knows any more has surely ended
FLUSH_SECONDS: Final = 5.0


class Destination(Protocol):
    async def ship(self, log: Outgoing, offset: int, data: bytes, *, last: bool) -> int:
        """A piece of this log, `last` when no more comes; how many of its bytes are there now.

        What is there is not written twice, and nothing behind a gap. `NotAllowed`, `NotFound` and `InvalidInput` say
        that it will never be taken.
        """
        ...


@dataclass(slots=True)
class _Progress:
    there: int | None = 0  # bytes on the other side; None: it is to be asked
    is_orphan: bool = False  # it was here before us, and its program is none that we know
    turn: int = 0  # the round in which it was last shipped
    shipped_at: float | None = None  # all of it, by our monotonic clock
    is_refused: bool = False

    def wants(self, size: int, *, is_over: bool) -> bool:
        if self.is_refused or self.shipped_at is not None:
            return False
        return is_over or self.there is None or self.there < size


class Shipper:
    """`running` tells the attempts whose programs may still write."""

    name = "shipper"

    def __init__(self, destination: Destination, outbox: Outbox, running: Callable[[], Collection[int]]) -> None:
        self._destination = destination
        self._outbox = outbox
        self._running = running
        self._progress: dict[Path, _Progress] = {}
        self._rounds = 0
        self._ends = self._ends_seen = 0
        self.wake: Callable[[], None] = lambda: None

    def hear_end(self) -> None:
        """A run has ended: the last of its log is there."""
        self._ends += 1
        self.wake()

    def is_behind(self) -> bool:
        """Whether something that is wanted elsewhere is here alone."""
        return self._ends_seen < self._ends or any(
            each.shipped_at is None and not each.is_refused for each in self._progress.values()
        )

    async def tick(self) -> float:
        """One chunk of each log that has more."""
        began = clock.monotonic()
        ends, running = self._ends, self._running()  # asked before the look: what has ended is then there as a whole
        found = await asyncio.to_thread(self._outbox.outgoing)
        rest = max(REST_SECONDS, LEAST_REST * (clock.monotonic() - began))
        self._take_note(found)
        self._ends_seen = ends
        await self._tidy(found)
        over = {each.path: self._is_over(each, running) for each in found}
        turn = self._turn(found, over, ended=False) + self._turn(found, over, ended=True)
        return 0.0 if await self._ship_all(turn, over) else rest

    async def flush(self) -> None:
        """Before this process ends: what is there now, as far as that goes quickly. The next one ships the rest."""
        try:
            async with asyncio.timeout(FLUSH_SECONDS):
                while not await self.tick():
                    pass
        except (TimeoutError, Unavailable) as problem:
            log.warning("some logs are not shipped yet: a worker that starts here ships them (%r)", problem)

    def _take_note(self, found: Sequence[Outgoing]) -> None:
        is_first, self._rounds = self._rounds == 0, self._rounds + 1
        known = self._progress
        self._progress = {
            each.path: known.get(each.path) or _Progress(there=None if is_first else 0, is_orphan=is_first)
            for each in found
        }

    async def _tidy(self, found: Sequence[Outgoing]) -> None:
        """What is safe on the other side goes after a while; what is not wanted there, after a longer one."""
        now = clock.monotonic()
        for each in found:
            progress = self._progress[each.path]
            is_safe = progress.shipped_at is not None and now > progress.shipped_at + KEEP_SECONDS
            if is_safe or (progress.is_refused and _age_seconds(each) > KEEP_REFUSED_SECONDS):
                await asyncio.to_thread(self._outbox.remove, each)

    def _is_over(self, each: Outgoing, running: Collection[int]) -> bool:
        """A program that an earlier worker started, and that nobody knows any more, may die a moment later."""
        progress = self._progress[each.path]
        if each.attempt_id in running:
            progress.is_orphan = False
            return False
        return not progress.is_orphan or _age_seconds(each) > QUIET_SECONDS

    def _turn(self, found: Sequence[Outgoing], over: dict[Path, bool], *, ended: bool) -> list[Outgoing]:
        """Those first that waited longest. Both kinds have their share: neither keeps the other waiting."""
        some = [
            each
            for each in found
            if over[each.path] is ended and self._progress[each.path].wants(each.size, is_over=ended)
        ]
        return sorted(some, key=lambda each: self._progress[each.path].turn)[:ROUND]

    async def _ship_all(self, turn: Sequence[Outgoing], over: dict[Path, bool]) -> bool:
        """Whether another round is worth it at once."""
        is_more = False
        for first in range(0, len(turn), AT_ONCE):
            shipping = [self._ship(each, is_over=over[each.path]) for each in turn[first : first + AT_ONCE]]
            for answer in await asyncio.gather(*shipping, return_exceptions=True):
                if isinstance(answer, BaseException):
                    raise answer
                is_more |= answer
        return is_more or len(turn) >= ROUND

    async def _ship(self, each: Outgoing, *, is_over: bool) -> bool:
        progress = self._progress[each.path]
        progress.turn = self._rounds
        try:
            was = progress.there
            if was is None:
                was = await self._destination.ship(each, 0, b"", last=False)
            data = await asyncio.to_thread(self._outbox.read, each, was, CHUNK_BYTES)
            last = is_over and was + len(data) >= each.size
            progress.there = await self._destination.ship(each, was, data, last=last)
        except (NotAllowed, NotFound, InvalidInput) as problem:
            log.warning("the log %s stays here, in %s: %s", each.name, each.path, problem)
            progress.is_refused = True
            return False
        if last and progress.there >= was + len(data):
            progress.shipped_at = clock.monotonic()
        elif progress.there < was:
            log.warning("of the log %s, %d bytes are gone where it is kept: shipped again", each.name, was)
        return progress.there > was and progress.wants(each.size, is_over=is_over)


def _age_seconds(each: Outgoing) -> float:
    return (clock.wall_us() - each.changed_at) / SECOND
