"""APScheduler's triggers as ours: the same class, and the same declaration.

They are told by the names of their classes: APScheduler is never imported for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from datetime import datetime, timedelta
from typing import Any, Final

from waterclock.triggers.base import ScheduleTrigger
from waterclock.triggers.calendarinterval import CalendarIntervalTrigger
from waterclock.triggers.combining import AndTrigger, OrTrigger
from waterclock.triggers.cron import CronTrigger
from waterclock.triggers.date import DateTrigger
from waterclock.triggers.interval import IntervalTrigger
from waterclock.triggers.zones import zone_of

Theirs = Any  # a trigger of APScheduler's, as its pickle made it


class CannotCarry(Exception):
    """Why a job stays behind."""


def steady(theirs: Theirs) -> Theirs:
    """A copy without jitter."""
    found = copy(theirs)
    if hasattr(found, "jitter"):
        found.jitter = None
    if hasattr(found, "triggers"):
        found.triggers = [steady(part) for part in found.triggers]
    return found


def made(theirs: Theirs, seed: str = "") -> ScheduleTrigger:
    """The trigger of ours that declares the same; `seed` decides its jitter, so that a second import makes the same."""
    kind = kind_of(theirs)
    if kind not in MAKERS:
        raise CannotCarry(f"its trigger is a {kind}, which is none of APScheduler's own: add the job in your program")
    try:
        trigger = MAKERS[kind](theirs, seed)
        if "seed" in trigger.__getstate__():
            trigger.__setstate__(trigger.__getstate__() | {"seed": seed})
    except (AttributeError, KeyError, LookupError, OverflowError, TypeError, ValueError) as problem:
        raise CannotCarry(f"its trigger {_shown(theirs)} cannot be made here: {problem}") from problem
    return trigger


def parts_of(theirs: Theirs) -> Iterator[Theirs]:
    """Itself, and what it combines."""
    yield theirs
    for part in getattr(theirs, "triggers", ()):
        yield from parts_of(part)


def kind_of(theirs: Theirs) -> str:
    return f"{type(theirs).__module__}:{type(theirs).__qualname__}"


def _shown(theirs: Theirs) -> str:
    return kind_of(theirs).rpartition(":")[2]


def _aware(moment: datetime, argument: str) -> datetime:
    """In a zone that can be kept by its name."""
    if moment.tzinfo is None:
        raise ValueError(f"{argument} has no time zone")
    return moment.astimezone(zone_of(moment.tzinfo))


def _dates(theirs: Theirs) -> dict[str, Any]:
    names = ("start_date", "end_date")
    return {name: None if (found := getattr(theirs, name)) is None else _aware(found, name) for name in names}


def _date(theirs: Theirs, seed: str) -> ScheduleTrigger:
    return DateTrigger(_aware(theirs.run_date, "run_date"))


def _interval(theirs: Theirs, seed: str) -> ScheduleTrigger:
    span: timedelta = theirs.interval
    seconds = span.seconds + span.microseconds / 1_000_000
    zone = zone_of(theirs.timezone)
    return IntervalTrigger(days=span.days, seconds=seconds, **_dates(theirs), timezone=zone, jitter=theirs.jitter)


def _cron(theirs: Theirs, seed: str) -> ScheduleTrigger:
    given = {field.name: str(field) for field in theirs.fields if not field.is_default}
    trigger = CronTrigger(**given, **_dates(theirs), timezone=zone_of(theirs.timezone), jitter=theirs.jitter)
    ours = {field.name: str(field) for field in trigger.fields}
    if differing := [field.name for field in theirs.fields if ours.get(field.name) != str(field)]:
        raise ValueError(f"it would differ in {', '.join(differing)}")
    return trigger


def _calendar(theirs: Theirs, seed: str) -> ScheduleTrigger:
    state = theirs.__getstate__()
    years, months, weeks, days = state["interval"]
    hour, minute, second = state["time"]
    return CalendarIntervalTrigger(
        years=years,
        months=months,
        weeks=weeks,
        days=days,
        hour=hour,
        minute=minute,
        second=second,
        start_date=theirs.start_date,
        end_date=theirs.end_date,
        timezone=zone_of(theirs.timezone),
        jitter=theirs.jitter,
    )


def _and(theirs: Theirs, seed: str) -> ScheduleTrigger:
    return AndTrigger(_combined(theirs, seed), theirs.jitter)


def _or(theirs: Theirs, seed: str) -> ScheduleTrigger:
    return OrTrigger(_combined(theirs, seed), theirs.jitter)


def _combined(theirs: Theirs, seed: str) -> list[ScheduleTrigger]:
    return [made(part, f"{seed}.{place}") for place, part in enumerate(theirs.triggers)]


DATE: Final = "apscheduler.triggers.date:DateTrigger"
INTERVAL: Final = "apscheduler.triggers.interval:IntervalTrigger"
CRON: Final = "apscheduler.triggers.cron:CronTrigger"
CALENDAR: Final = "apscheduler.triggers.calendarinterval:CalendarIntervalTrigger"
AND: Final = "apscheduler.triggers.combining:AndTrigger"
OR: Final = "apscheduler.triggers.combining:OrTrigger"
MAKERS: Final[Mapping[str, Callable[[Theirs, str], ScheduleTrigger]]] = {
    DATE: _date,
    INTERVAL: _interval,
    CRON: _cron,
    CALENDAR: _calendar,
    AND: _and,
    OR: _or,
}
