"""ISO weeks: the days of another rule that lie in weeks of certain numbers."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Final

from waterclock.domain.cron.months import END_DAY, EPOCH_ORDINAL, FIRST_DAY
from waterclock.domain.cron.search import Days

FIRST_MONDAY: Final = FIRST_DAY - (FIRST_DAY + 3) % 7


@lru_cache(maxsize=1)
def _numbers() -> tuple[int, ...]:
    """The number of each week, from the one of the first day on."""
    mondays = range(FIRST_MONDAY, END_DAY, 7)
    return tuple(date.fromordinal(monday + EPOCH_ORDINAL).isocalendar().week for monday in mondays)


@lru_cache(maxsize=64)
def _mondays(weeks: int) -> tuple[int, ...]:
    """The Mondays of all weeks whose number is in the mask."""
    return tuple(FIRST_MONDAY + place * 7 for place, number in enumerate(_numbers()) if weeks >> number & 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class InWeeks:
    """`weeks` is a mask whose bit 1 is week 1. Weeks run from Monday to Sunday, also across a new year."""

    days: Days
    weeks: int
    _mondays: tuple[int, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_mondays", _mondays(self.weeks))

    def next(self, day: int) -> int | None:
        """The first day ≥ day."""
        found = self.days.next(day)
        while found is not None and not self._holds(found):
            place = bisect_right(self._mondays, found)
            found = self.days.next(self._mondays[place]) if place < len(self._mondays) else None
        return found

    def previous(self, day: int) -> int | None:
        """The last day ≤ day."""
        found = self.days.previous(day)
        while found is not None and not self._holds(found):
            place = bisect_right(self._mondays, found) - 1
            found = self.days.previous(self._mondays[place] + 6) if place >= 0 else None
        return found

    def count(self, begin: int, end: int) -> int:
        """How many days fall in [begin, end)."""
        first, last = bisect_left(self._mondays, begin - 6), bisect_left(self._mondays, end)
        weeks = self._mondays[first:last]
        return sum(self.days.count(max(monday, begin), min(monday + 7, end)) for monday in weeks)

    def _holds(self, day: int) -> bool:
        place = bisect_right(self._mondays, day) - 1
        return place >= 0 and day - self._mondays[place] < 7
