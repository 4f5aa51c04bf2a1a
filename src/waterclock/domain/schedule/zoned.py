"""Local times laid onto real time: a wall-clock rule in a zone, with a policy for skipped and doubled local times.

Within a segment of constant offset the two run in step. At a segment's start the policy decides from which local time
on the segment counts (its *floor*): where the clocks jump forward, the floor lies in the skipped hour and what is found
there fires at the jump; where they are set back, the floor lies behind the doubled hour, so that it fires only once.
"""

from datetime import UTC, date, datetime
from typing import Final, Protocol

from waterclock.domain.cron.months import EPOCH_ORDINAL
from waterclock.domain.cron.search import DAY
from waterclock.domain.schedule.base import Count, Gap, InMicroseconds
from waterclock.domain.schedule.moment import END, FIRST, SECOND, from_us, to_us
from waterclock.domain.schedule.zone import Segment, Zone

# No zone is further than this from UTC: so far ahead of a local time its segment cannot lie.
FURTHEST: Final = 86_400
FIRST_SECOND: Final = FIRST // SECOND
END_SECOND: Final = END // SECOND


class Rule(Protocol):
    """Local seconds at which to fire."""

    def next(self, wall: int) -> int | None: ...
    def previous(self, wall: int) -> int | None: ...
    def count(self, begin: int, end: int) -> int: ...


class Zoned(InMicroseconds):
    """The search shared by cron and calendar schedules, which own `_rule`, `_zone`, `_catches_gap`, `_repeats_fold`."""

    __slots__ = ()
    _rule: Rule
    _zone: Zone
    _catches_gap: bool
    _repeats_fold: bool

    def next_after_us(self, us: int) -> int | None:
        second = us // SECOND
        if not FIRST_SECOND <= second < END_SECOND:
            if second >= END_SECOND:
                return None
            second = FIRST_SECOND - 1
        segment = self._zone.segment(second)
        _, end, offset, before = segment
        wall = second + 1 + offset
        if before != offset:
            wall = max(wall, self._floor(segment))
        found = self._rule.next(wall)
        if found is not None and found - offset < end:
            second = found - offset
            return second * SECOND if second < END_SECOND else None
        return self._next_from(self._zone.segment(end))

    def last_at_or_before_us(self, us: int) -> int | None:
        second = min(us // SECOND, END_SECOND - 1)
        if second < FIRST_SECOND:
            return None
        segment = self._zone.segment(second)
        found = self._rule.previous(second + segment.offset)
        if found is not None and found >= self._floor(segment):
            second = max(found - segment.offset, segment.start)
            return second * SECOND if second >= FIRST_SECOND else None
        return self._last_upto(self._zone.segment(segment.start - 1))

    def count_us(self, after: int, upto: int) -> Count:
        first = max(after // SECOND + 1, FIRST_SECOND)
        last = min(upto // SECOND, END_SECOND - 1)
        count = 0
        while first <= last:
            segment = self._zone.segment(first)
            count += self._count_in(segment, first, last)
            first = segment.end
        return Count(count)

    def _next_from(self, segment: Segment) -> int | None:
        found = self._rule.next(self._floor(segment))
        while found is not None and segment.start < END_SECOND:
            if found - segment.offset < segment.end:
                second = max(found - segment.offset, segment.start)
                return second * SECOND if second < END_SECOND else None
            segment = self._zone.segment(max(segment.end, found - FURTHEST))
            if found < (floor := self._floor(segment)):
                found = self._rule.next(floor)
        return None

    def _last_upto(self, segment: Segment) -> int | None:
        found = self._rule.previous(segment.end - 1 + segment.offset)
        while found is not None and segment.end > FIRST_SECOND:
            if found >= self._floor(segment):
                second = max(found - segment.offset, segment.start)
                return second * SECOND if second >= FIRST_SECOND else None
            segment = self._zone.segment(min(segment.start - 1, found + FURTHEST))
            if found > (ceiling := segment.end - 1 + segment.offset):
                found = self._rule.previous(ceiling)
        return None

    def _count_in(self, segment: Segment, first: int, last: int) -> int:
        """The fires of a segment in [first, last]; what a jump swallowed counts as the one fire at the jump."""
        floor, start_wall = self._floor(segment), segment.start + segment.offset
        end_wall = min(last, segment.end - 1) + segment.offset + 1
        if first > segment.start or floor >= start_wall:
            return self._rule.count(max(first + segment.offset, floor), end_wall)
        at_jump = self._rule.next(floor)
        caught = 1 if at_jump is not None and at_jump <= start_wall else 0
        return caught + self._rule.count(start_wall + 1, end_wall)

    def _floor(self, segment: Segment) -> int:
        """The first local time that counts in this segment."""
        start, _, offset, before = segment
        moved = offset - before
        if (moved > 0 and self._catches_gap) or (moved < 0 and not self._repeats_fold):
            return start + before
        return start + offset


def local_moment(local: datetime, zone: Zone, gap: Gap) -> datetime | None:
    """The first moment that a local time names; None for one that the clocks skip and the policy does not catch."""
    wall = to_us(local.replace(tzinfo=UTC)) // SECOND
    second = _begin_of(wall, zone)
    skipped = second + zone.segment(second).offset != wall
    return None if skipped and gap is Gap.SKIP else from_us(second * SECOND)


def day_span_us(day: date, zone: Zone) -> tuple[int, int]:
    """[begin, end) of a local date; empty for a date that the zone skipped altogether."""
    first = (day.toordinal() - EPOCH_ORDINAL) * DAY
    begin, end = (_begin_of(wall, zone) for wall in (first, first + DAY))
    return begin * SECOND, end * SECOND


def _begin_of(wall: int, zone: Zone) -> int:
    """The first real second at or after which the local clock shows `wall` or later."""
    segment = zone.segment(wall - FURTHEST)
    while wall - segment.offset >= segment.end:
        segment = zone.segment(segment.end)
    return max(wall - segment.offset, segment.start)
