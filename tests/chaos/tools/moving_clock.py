"""A store's clock that is moved while processes run on it: each adds the offset that stands in one file."""

import struct
from bisect import bisect
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tests.acceptance.server import REPO
from waterclock import clock
from waterclock.chaos.evidence import Mark
from waterclock.domain.moment import Moment

SITE: Final = Path(__file__).parent / "clock_site"


class MovingClock:
    """Moved forward only, and while nothing runs: a lease is a span of both clocks, the store's and the host's."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self._moves: list[tuple[Moment, int]] = []  # when by the host's clock, and to which offset
        self._set(0)

    @property
    def environment(self) -> dict[str, str]:
        """Of every process that shall live by it, and of what that starts."""
        return {"PYTHONPATH": f"{SITE}:{REPO}", "CHAOS_CLOCK": str(self._file)}

    @property
    def offset_us(self) -> int:
        return self._moves[-1][1]

    def now(self) -> Moment:
        return clock.wall_us() + self.offset_us

    def move_to(self, moment: Moment) -> None:
        offset = moment - clock.wall_us()
        assert offset >= self.offset_us, "a clock that goes back would break every lease"
        self._set(offset)

    def move_by(self, span_us: int) -> None:
        self.move_to(self.now() + span_us)

    def moved(self, marks: Sequence[Mark]) -> list[Mark]:
        """The evidence as if the programs, too, had lived by this clock."""
        return [replace(mark, at=mark.at + self._offset_at(mark.at)) for mark in marks]

    def _offset_at(self, at: Moment) -> int:
        return self._moves[max(0, bisect(self._moves, (at, 0)) - 1)][1]

    def _set(self, offset_us: int) -> None:
        """One write of eight bytes in place: whoever reads sees the old or the new."""
        if not self._moves:
            self._file.write_bytes(struct.pack("q", offset_us))
        else:
            with self._file.open("r+b", buffering=0) as file:
                file.write(struct.pack("q", offset_us))
        self._moves.append((clock.wall_us(), offset_us))
