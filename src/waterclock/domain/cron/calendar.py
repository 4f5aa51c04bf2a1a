"""The days on which a cron rule fires: a day rule within the allowed months and years, searched month by month."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from waterclock.domain.cron.days import DayRule
from waterclock.domain.cron.months import CELLS, END_DAY, FIRST_DAY, FIRST_YEAR, MONTH_STARTS, MONTHS, SHAPES

ALL_MONTHS: Final = (1 << 12) - 1
ALL_YEARS: Final = (1 << MONTHS // 12) - 1


def year_bit(year: int) -> int:
    return 1 << (year - FIRST_YEAR)


@lru_cache(maxsize=4096)
def _cell_masks(rule: DayRule, months: int) -> tuple[int, ...]:
    """The rule's days for each of the 12 × 28 kinds of month; 0 for months that are not allowed."""
    shapes = tuple(rule.in_month(shape // 4, shape % 4 + 28) for shape in range(SHAPES))
    nothing = (0,) * SHAPES
    return sum(((shapes if months >> month & 1 else nothing) for month in range(12)), ())


@lru_cache(maxsize=4096)
def _strides(months: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """From each month, how far it is to the next (and back to the previous) allowed one; 1 to 12."""
    ahead = tuple(next(n for n in range(1, 13) if months >> (month + n) % 12 & 1) for month in range(12))
    back = tuple(next(n for n in range(1, 13) if months >> (month - n) % 12 & 1) for month in range(12))
    return ahead, back


@dataclass(frozen=True, slots=True, kw_only=True)
class CronDays:
    rule: DayRule
    months: int = ALL_MONTHS
    years: int = ALL_YEARS
    _masks: tuple[int, ...] = field(init=False, compare=False, repr=False)
    _ahead: tuple[int, ...] = field(init=False, compare=False, repr=False)
    _back: tuple[int, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        ahead, back = _strides(self.months)
        object.__setattr__(self, "_masks", _cell_masks(self.rule, self.months))
        object.__setattr__(self, "_ahead", ahead)
        object.__setattr__(self, "_back", back)

    def next(self, day: int) -> int | None:
        """The first day ≥ day."""
        if not FIRST_DAY <= day < END_DAY:
            return self.next(FIRST_DAY) if day < FIRST_DAY else None
        month = bisect_right(MONTH_STARTS, day) - 1
        mask = self._masks[CELLS[month]] >> (day - MONTH_STARTS[month])
        if mask and self.years >> month // 12 & 1:
            return day + (mask & -mask).bit_length() - 1
        return self._first_after(month)

    def previous(self, day: int) -> int | None:
        """The last day ≤ day."""
        if not FIRST_DAY <= day < END_DAY:
            return self.previous(END_DAY - 1) if day >= END_DAY else None
        month = bisect_right(MONTH_STARTS, day) - 1
        start = MONTH_STARTS[month]
        mask = self._masks[CELLS[month]] & ((2 << (day - start)) - 1)
        if mask and self.years >> month // 12 & 1:
            return start + mask.bit_length() - 1
        return self._last_before(month)

    def count(self, begin: int, end: int) -> int:
        """How many days fall in [begin, end)."""
        return sum(mask.bit_count() for mask in self._masks_between(max(begin, FIRST_DAY), min(end, END_DAY)))

    def _masks_between(self, begin: int, end: int) -> Iterator[int]:
        if begin >= end:
            return
        first, last = bisect_right(MONTH_STARTS, begin) - 1, bisect_right(MONTH_STARTS, end - 1) - 1
        for month in range(first, last + 1):
            if self.years >> month // 12 & 1:
                mask, start = self._masks[CELLS[month]], MONTH_STARTS[month]
                mask &= -1 << max(begin - start, 0)
                yield mask & ((1 << max(end - start, 0)) - 1)

    def _first_after(self, month: int) -> int | None:
        masks, ahead, years = self._masks, self._ahead, self.years
        month += ahead[month % 12]
        while month < MONTHS:
            if not years >> month // 12 & 1:
                rest = years >> month // 12
                if not rest:
                    return None
                january = (month // 12 + (rest & -rest).bit_length() - 1) * 12
                month = january - 1 + ahead[11]
            elif mask := masks[CELLS[month]]:
                return MONTH_STARTS[month] + (mask & -mask).bit_length() - 1
            else:
                month += ahead[month % 12]
        return None

    def _last_before(self, month: int) -> int | None:
        masks, back, years = self._masks, self._back, self.years
        month -= back[month % 12]
        while month >= 0:
            if not years >> month // 12 & 1:
                rest = years & ((1 << month // 12) - 1)
                month = rest.bit_length() * 12 - back[0]
                if not rest:
                    return None
            elif mask := masks[CELLS[month]]:
                return MONTH_STARTS[month] + mask.bit_length() - 1
            else:
                month -= back[month % 12]
        return None
