"""Searching wall-clock time: the local seconds (counted from 1970-01-01T00:00 local) at which a rule fires.

No zone and no summer time here: `waterclock.domain.schedule.zoned` lays these local times onto real ones.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from waterclock.domain.cron.times import Times

DAY: Final = 86_400


class Days(Protocol):
    """A set of days, counted from 1970-01-01."""

    def next(self, day: int) -> int | None: ...
    def previous(self, day: int) -> int | None: ...
    def count(self, begin: int, end: int) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """Fires at every time of day in `times`, on every day in `days`."""

    days: Days
    times: Times

    def next(self, wall: int) -> int | None:
        """The first local second ≥ wall."""
        today = wall // DAY
        day = self.days.next(today)
        if day == today:
            if (second := self.times.next(wall % DAY)) >= 0:
                return today * DAY + second
            day = self.days.next(today + 1)
        return None if day is None else day * DAY + self.times.first

    def previous(self, wall: int) -> int | None:
        """The last local second ≤ wall."""
        today = wall // DAY
        day = self.days.previous(today)
        if day == today:
            if (second := self.times.previous(wall % DAY)) >= 0:
                return today * DAY + second
            day = self.days.previous(today - 1)
        return None if day is None else day * DAY + self.times.last

    def count(self, begin: int, end: int) -> int:
        """How many local seconds fall in [begin, end)."""
        if begin >= end:
            return 0
        first, last = begin // DAY, end // DAY
        whole = self.days.count(first, last) * self.times.count_before(DAY)
        head = self.times.count_before(begin % DAY) if self.days.count(first, first + 1) else 0
        tail = self.times.count_before(end % DAY) if self.days.count(last, last + 1) else 0
        return whole - head + tail
