"""When a job of APScheduler's runs next, and after that: the change to ours neither loses a run nor doubles one.

APScheduler counts intervals from the run before, wherever that was, and forgets a date after any run; ours hold on to
what was declared. Where its runs have left that, the declaration is moved to where they are.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from waterclock.domain.moment import SECOND, Moment, from_datetime, to_datetime
from waterclock.domain.schedule.moment import span_us
from waterclock.faces.library.importing_triggers import (
    CALENDAR,
    DATE,
    INTERVAL,
    Theirs,
    kind_of,
    made,
    parts_of,
    steady,
)

NEAR_US: Final = 1_000  # APScheduler adds seconds as floats: what is this close is the same moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The trigger that ours is to be made of, and the next run, before our jitter; None: it is paused."""

    theirs: Theirs
    next_at: Moment | None


def timing_of(theirs: Theirs, next_at: Moment | None) -> Timing:
    kind = kind_of(theirs)
    if next_at is None:
        return Timing(theirs=theirs, next_at=None)
    if kind == DATE:
        return Timing(theirs=_moved(theirs, run_date=_in_zone(next_at, theirs.run_date)), next_at=next_at)
    if kind == INTERVAL:
        return _interval_timing(theirs, next_at)
    nominal = made(steady(theirs)).schedule.last_at_or_before_us(next_at + NEAR_US)
    if nominal is not None and next_at - nominal <= max(_jitter_us(theirs), NEAR_US):
        return Timing(theirs=theirs, next_at=nominal)
    return Timing(theirs=_after_a_stray_run(theirs, next_at), next_at=next_at)


def _interval_timing(theirs: Theirs, next_at: Moment) -> Timing:
    """The start moves back to the phase that its runs have, by less than an interval: to the same, whenever asked."""
    start, step = from_datetime(theirs.start_date), span_us(theirs.interval)
    off = (next_at - start + NEAR_US) % step - NEAR_US
    if theirs.jitter:  # they count on from wherever it has put a run
        start = next_at + step
    elif off <= NEAR_US:
        next_at -= off
    else:
        start -= (start - next_at) % step
    moved = _in_zone(min(start, next_at + step), theirs.start_date)
    return Timing(theirs=_moved(theirs, start_date=moved), next_at=next_at)


def _after_a_stray_run(theirs: Theirs, next_at: Moment) -> Theirs:
    """Where somebody has set the next run to none of its moments, calendar intervals go on from there."""
    if kind_of(theirs) != CALENDAR:
        return theirs
    when = to_datetime(next_at).astimezone(theirs.timezone)
    following = steady(theirs).get_next_fire_time(when, when)
    return theirs if following is None else _moved(theirs, start_date=following.date())


def _moved(theirs: Theirs, **values: object) -> Theirs:
    moved = copy(theirs)
    for name, value in values.items():
        setattr(moved, name, value)
    return moved


def _in_zone(moment: Moment, like: datetime) -> datetime:
    return to_datetime(moment).astimezone(like.tzinfo)


def _jitter_us(theirs: Theirs) -> int:
    return round(sum(getattr(part, "jitter", None) or 0 for part in parts_of(theirs)) * SECOND)
