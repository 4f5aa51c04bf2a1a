"""Days at regular distances from an anchor: every n days, every n weeks on weekdays, every n months on days;
and days that are simply listed.

Days are counted from 1970-01-01, months as in `waterclock.domain.cron.months`; a grid never reaches before its anchor.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from waterclock.domain.cron.months import END_DAY, FIRST_DAY, LENGTHS, MONTH_STARTS, MONTHS
from waterclock.domain.cron.times import below


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryDays:
    every: int
    anchor: int

    def next(self, day: int) -> int | None:
        found = self.anchor + max(-((self.anchor - day) // self.every), 0) * self.every
        return found if found < END_DAY else None

    def previous(self, day: int) -> int | None:
        day = min(day, END_DAY - 1)
        return day - (day - self.anchor) % self.every if day >= self.anchor else None

    def count(self, begin: int, end: int) -> int:
        return max(self._before(end) - self._before(begin), 0)

    def _before(self, day: int) -> int:
        return max((min(day, END_DAY) - 1 - self.anchor) // self.every + 1, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryWeeks:
    """`weekdays` is a mask whose bit 0 is Monday; weeks are counted from the one (Monday to Sunday) of the anchor."""

    every: int
    weekdays: int
    anchor: int

    def next(self, day: int) -> int | None:
        day = max(day, self.anchor)
        week, weekday = divmod(day - self._monday, 7)
        rest = self.weekdays >> weekday
        if week % self.every or not rest:
            week, weekday, rest = week + self.every - week % self.every, 0, self.weekdays
        found = self._monday + week * 7 + weekday + (rest & -rest).bit_length() - 1
        return found if found < END_DAY else None

    def previous(self, day: int) -> int | None:
        week, weekday = divmod(min(day, END_DAY - 1) - self._monday, 7)
        rest = self.weekdays & ((2 << weekday) - 1)
        if week % self.every or not rest:
            week, rest = week - (week % self.every or self.every), self.weekdays
        found = self._monday + week * 7 + rest.bit_length() - 1
        return found if found >= self.anchor else None

    def count(self, begin: int, end: int) -> int:
        begin, end = max(begin, self.anchor), min(end, END_DAY)
        return self._before(end) - self._before(begin) if begin < end else 0

    def _before(self, day: int) -> int:
        week, weekday = divmod(day - self._monday, 7)
        rounds = -(-week // self.every) * self.weekdays.bit_count()
        return rounds if week % self.every else rounds + below(self.weekdays, weekday)

    @property
    def _monday(self) -> int:
        return self.anchor - (self.anchor + 3) % 7


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryMonths:
    """`days` is a mask whose bit 0 is the 1st; a day past a month's end means its last day."""

    every: int
    days: int
    anchor: int

    def next(self, day: int) -> int | None:
        if day >= END_DAY:
            return None
        day = max(day, self.anchor)
        month = self._grid_month_from(_month_of(day))
        while month < MONTHS:
            start = MONTH_STARTS[month]
            if rest := self._mask(month) >> (place := max(day - start, 0)):
                return start + place + (rest & -rest).bit_length() - 1
            month += self.every
        return None

    def previous(self, day: int) -> int | None:
        if day < self.anchor:
            return None
        month = _month_of(min(day, END_DAY - 1))
        month -= (month - _month_of(self.anchor)) % self.every
        while month >= _month_of(self.anchor):
            start = MONTH_STARTS[month]
            if mask := self._mask(month) & ((2 << (day - start)) - 1):
                found = start + mask.bit_length() - 1
                return found if found >= self.anchor else None
            month -= self.every
        return None

    def count(self, begin: int, end: int) -> int:
        begin, end = max(begin, self.anchor), min(end, END_DAY)
        if begin >= end:
            return 0
        total = 0
        for month in range(self._grid_month_from(_month_of(begin)), _month_of(end - 1) + 1, self.every):
            start, mask = MONTH_STARTS[month], self._mask(month)
            total += below(mask, end - start) - below(mask, max(begin - start, 0))
        return total

    def _grid_month_from(self, month: int) -> int:
        return month + (_month_of(self.anchor) - month) % self.every

    def _mask(self, month: int) -> int:
        length = LENGTHS[month]
        mask = self.days & ((1 << length) - 1)
        return mask | 1 << (length - 1) if self.days >> length else mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Days that no formula gives, in ascending order."""

    days: tuple[int, ...]

    def next(self, day: int) -> int | None:
        place = bisect_left(self.days, day)
        return self.days[place] if place < len(self.days) else None

    def previous(self, day: int) -> int | None:
        place = bisect_right(self.days, day)
        return self.days[place - 1] if place else None

    def count(self, begin: int, end: int) -> int:
        return max(bisect_left(self.days, end) - bisect_left(self.days, begin), 0)


def _month_of(day: int) -> int:
    return bisect_right(MONTH_STARTS, max(day, FIRST_DAY)) - 1
