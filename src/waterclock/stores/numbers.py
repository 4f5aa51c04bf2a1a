"""Numbers for new rows, drawn in blocks outside any transaction: never given twice, and nobody waits for a commit."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from itertools import chain
from typing import Final

from waterclock.stores.base import Kind

# How many are drawn at a time where they need not follow one another; what a crash leaves unused is a gap.
BLOCKS: Final = {Kind.RUN: 1_000, Kind.JOB: 50, Kind.TRIGGER: 50, Kind.FLOW: 50}

AHEAD: Final = 16  # a draw is a commit: who wants many at once will soon want as many again

MOST_AHEAD: Final = 2_000

# Add to the counter, durably and at once; its new value.
Draw = Callable[[Kind, int], Awaitable[int]]


class Numbers:
    """What this process has drawn and not used yet."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._left: dict[Kind, range] = {}
        self._drawn: dict[Kind, int] = {}  # how many, the last time
        self._lock = asyncio.Lock()

    async def take(self, kind: Kind, count: int) -> Iterable[int]:
        async with self._lock:
            left = self._left.get(kind, range(0))
            if count > len(left):
                return await self._take_more(kind, count)
            self._left[kind] = left[count:]
            return left[:count]

    def forget(self) -> None:
        """What is left: a server that takes another's place may give the same numbers to somebody else."""
        self._left.clear()

    def _enough(self, kind: Kind, count: int) -> int:
        """Twice as many each time: who comes again and again soon draws seldom."""
        if kind not in BLOCKS:
            return count
        return max(BLOCKS[kind], AHEAD * count, min(2 * self._drawn.get(kind, 0), MOST_AHEAD))

    async def _take_more(self, kind: Kind, count: int) -> Iterable[int]:
        asked = self._drawn[kind] = self._enough(kind, count)
        last = await self._draw(kind, asked)
        left = self._left.get(kind, range(0))  # the draw itself may have made us forget
        drawn, missing = range(last - asked + 1, last + 1), count - len(left)
        self._left[kind] = drawn[missing:]
        return chain(left, drawn[:missing])
