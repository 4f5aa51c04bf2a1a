"""Start and end: the part of a schedule between two moments, both included."""

from dataclasses import dataclass, field
from datetime import datetime

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule.base import Count, InMicroseconds, Schedule
from waterclock.domain.schedule.moment import END, to_us

BEFORE_ALL = -(1 << 62)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded(InMicroseconds):
    schedule: Schedule
    start: datetime | None = None
    end: datetime | None = None
    _start: int = field(init=False, compare=False, repr=False)
    _end: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.end < self.start:
            raise InvalidInput("must not be before the start", field="end", value=self.end)
        object.__setattr__(self, "_start", BEFORE_ALL if self.start is None else to_us(self.start))
        object.__setattr__(self, "_end", END if self.end is None else to_us(self.end))

    def next_after_us(self, us: int) -> int | None:
        found = self.schedule.next_after_us(max(us, self._start - 1))
        return found if found is not None and found <= self._end else None

    def last_at_or_before_us(self, us: int) -> int | None:
        found = self.schedule.last_at_or_before_us(min(us, self._end))
        return found if found is not None and found >= self._start else None

    def count_us(self, after: int, upto: int) -> Count:
        after, upto = max(after, self._start - 1), min(upto, self._end)
        return self.schedule.count_us(after, upto) if after < upto else Count(0)
