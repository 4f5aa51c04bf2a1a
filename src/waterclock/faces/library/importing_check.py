"""Whether a trigger of ours fires when APScheduler's does: both are asked, and the first difference is told.

Where clocks change ours has its own policy: there the two may part.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import zip_longest
from typing import Final

from waterclock.domain.moment import Moment, to_datetime
from waterclock.faces.library.importing_timing import NEAR_US
from waterclock.faces.library.importing_triggers import AND, CALENDAR, Theirs, kind_of, parts_of
from waterclock.triggers.base import ScheduleTrigger
from waterclock.triggers.dates import shown

CHAIN: Final = 5  # fires that are compared from each moment on
LATER: Final = (timedelta(0), timedelta(days=97), timedelta(days=400))
CHANGE: Final = timedelta(hours=3)  # around a change of the clocks
WEEK: Final = timedelta(days=7)
WEEKS: Final = 53
NEAR: Final = timedelta(microseconds=NEAR_US)
INSTANT: Final = timedelta(microseconds=1)
NEVER: Final = datetime.max.replace(tzinfo=UTC)

Fires = Iterator[datetime | None]


def difference(theirs: Theirs, ours: ScheduleTrigger, next_at: Moment | None, now: Moment) -> str | None:
    """The first that is found, in words; both triggers are without jitter."""
    kinds = {kind_of(part) for part in parts_of(theirs)}
    if next_at is not None and AND not in kinds:
        when = to_datetime(next_at).astimezone(ours.timezone)
        if told := _parted(theirs, when, _chain(ours, when, when), _chain(theirs, when, when)):
            return told
    if CALENDAR in kinds:  # without a previous fire APScheduler's answer with their start, however long ago
        return None
    for later in LATER:
        when = to_datetime(now) + later
        if AND in kinds and ours.get_next_fire_time(None, when) is None:  # for what never meets it searches for ever
            continue
        if told := _parted(theirs, when, _afresh(ours, when), _afresh(theirs, when)):
            return told
    return None


def _chain(trigger: Theirs, previous: datetime, now: datetime) -> Fires:
    """Each asked for at the moment of the one before."""
    for _ in range(CHAIN):
        found = trigger.get_next_fire_time(previous, now)
        yield found
        if found is None:
            return
        previous = now = found


def _afresh(trigger: Theirs, now: datetime) -> Fires:
    """Each as if it were the first: given a previous fire, APScheduler's `and` may search for ever."""
    for _ in range(CHAIN):
        found = trigger.get_next_fire_time(None, now)
        yield found
        if found is None or found < now:
            return
        now = found + INSTANT


def _parted(theirs: Theirs, previous: datetime, found: Fires, expected: Fires) -> str | None:
    for own, other in zip_longest(found, expected):
        if own is None and other is None:
            return None
        if own is not None and other is not None and abs(own - other) <= NEAR:
            previous = own
            continue
        if _near_a_change(theirs, own, other) or _lost(theirs, previous, own, other):
            return None
        return f"its trigger would fire at {_told(own)} here, and at {_told(other)} in APScheduler"
    return None


def _near_a_change(theirs: Theirs, own: datetime | None, other: datetime | None) -> bool:
    when = min(own or NEVER, other or NEVER)
    return any(_offset(when - CHANGE, zone) != _offset(when + CHANGE, zone) for zone in _zones(theirs))


def _lost(theirs: Theirs, previous: datetime, own: datetime | None, other: datetime | None) -> bool:
    """Stepping over a change of the clocks, APScheduler may lose a fire that it finds when asked later."""
    if own is None or (other is not None and other < own) or theirs.get_next_fire_time(None, own) != own:
        return False
    weeks = [own - week * WEEK for week in range(1, WEEKS) if own - week * WEEK > previous - WEEK]
    return any(_offset(week, zone) != _offset(own, zone) for zone in _zones(theirs) for week in weeks)


def _zones(theirs: Theirs) -> list[tzinfo]:
    return [zone for part in parts_of(theirs) if (zone := getattr(part, "timezone", None)) is not None]


def _offset(when: datetime, zone: tzinfo) -> timedelta | None:
    return when.astimezone(zone).utcoffset()


def _told(moment: datetime | None) -> str:
    return "no more" if moment is None else shown(moment)
