"""Schedules combined: the fires of any of several (their union) or those that all of them share."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule.base import Count, InMicroseconds, Schedule

# Schedules that never meet are given up after so many steps, and fires that must be walked are counted up to here.
MOST_STEPS: Final = 10_000
MOST_COUNTED: Final = 100_000


class How(Enum):
    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined(InMicroseconds):
    how: How
    schedules: tuple[Schedule, ...]

    def __post_init__(self) -> None:
        if not self.schedules:
            raise InvalidInput("at least one is needed", field="schedules")

    def next_after_us(self, us: int) -> int | None:
        if self.how is How.ANY:
            return min(_known(each.next_after_us(us) for each in self.schedules), default=None)
        for _ in range(MOST_STEPS):
            found = [each.next_after_us(us) for each in self.schedules]
            if None in found or not (moments := _known(found)):
                return None
            if (latest := max(moments)) == min(moments):
                return latest
            us = latest - 1
        return None

    def last_at_or_before_us(self, us: int) -> int | None:
        if self.how is How.ANY:
            return max(_known(each.last_at_or_before_us(us) for each in self.schedules), default=None)
        for _ in range(MOST_STEPS):
            found = [each.last_at_or_before_us(us) for each in self.schedules]
            if None in found or not (moments := _known(found)):
                return None
            if (earliest := min(moments)) == max(moments):
                return earliest
            us = earliest
        return None

    def count_us(self, after: int, upto: int) -> Count:
        """Walks the sparser schedules only: for ANY those beside the densest, for ALL the shared fires."""
        counts = sorted(
            ((each.count_us(after, upto), each) for each in self.schedules), key=lambda pair: pair[0], reverse=True
        )
        if self.how is How.ALL:
            return self._walk(after, upto)
        total, exact = counts[0][0]
        for place, (own, each) in enumerate(counts[1:], start=1):
            fresh = _count_outside(each, tuple(other for _, other in counts[:place]), own, after, upto)
            total, exact = total + fresh.value, exact and own.exact and fresh.exact
        return Count(total, exact)

    def _walk(self, after: int, upto: int) -> Count:
        for steps in range(MOST_COUNTED):
            found = self.next_after_us(after)
            if found is None or found > upto:
                return Count(steps)
            after = found
        return Count(MOST_COUNTED, exact=False)


def _known(found: Iterable[int | None]) -> list[int]:
    return [moment for moment in found if moment is not None]


def _count_outside(each: Schedule, others: tuple[Schedule, ...], own: Count, after: int, upto: int) -> Count:
    """How many fires of one schedule none of the others shares; where there are too many to walk, all of them."""
    if own.value > MOST_COUNTED:
        return Count(own.value, exact=False)
    fresh, moment = 0, each.next_after_us(after)
    while moment is not None and moment <= upto:
        fresh += all(other.last_at_or_before_us(moment) != moment for other in others)
        moment = each.next_after_us(moment)
    return Count(fresh)
