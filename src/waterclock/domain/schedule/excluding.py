"""Holidays: a schedule that is silent on certain dates of a zone."""

from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import date

from waterclock.domain.schedule.base import Count, InMicroseconds, Schedule
from waterclock.domain.schedule.zone import find_zone
from waterclock.domain.schedule.zoned import day_span_us


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluding(InMicroseconds):
    """The schedule's fires except those on `dates`, days from local midnight to local midnight in `timezone`."""

    schedule: Schedule
    dates: frozenset[date]
    timezone: str = "UTC"
    _begins: tuple[int, ...] = field(init=False, compare=False, repr=False)
    _ends: tuple[int, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        zone, known = find_zone(self.timezone), (day for day in sorted(self.dates) if 1970 <= day.year <= 2199)
        spans = _merged([day_span_us(day, zone) for day in known])
        object.__setattr__(self, "_begins", tuple(begin for begin, _ in spans))
        object.__setattr__(self, "_ends", tuple(end for _, end in spans))

    def next_after_us(self, us: int) -> int | None:
        found = self.schedule.next_after_us(us)
        while found is not None and (place := self._holiday(found)) is not None:
            found = self.schedule.next_after_us(self._ends[place] - 1)
        return found

    def last_at_or_before_us(self, us: int) -> int | None:
        found = self.schedule.last_at_or_before_us(us)
        while found is not None and (place := self._holiday(found)) is not None:
            found = self.schedule.last_at_or_before_us(self._begins[place] - 1)
        return found

    def count_us(self, after: int, upto: int) -> Count:
        total, exact = self.schedule.count_us(after, upto)
        for place in range(bisect_right(self._ends, after), bisect_right(self._begins, upto)):
            begin, end = max(self._begins[place] - 1, after), min(self._ends[place] - 1, upto)
            silent = self.schedule.count_us(begin, end)
            total, exact = total - silent.value, exact and silent.exact
        return Count(total, exact)

    def _holiday(self, us: int) -> int | None:
        place = bisect_right(self._begins, us) - 1
        return place if place >= 0 and us < self._ends[place] else None


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in spans:
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif begin < end:
            merged.append((begin, end))
    return merged
