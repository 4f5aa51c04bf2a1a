"""Reading a schedule from text: the dialect is told apart by its form, what wraps it is given beside it."""

import re
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Final

from waterclock.domain.cron.fields import MAX_LENGTH, shorten
from waterclock.domain.errors import BadSchedule, InvalidInput
from waterclock.domain.schedule.base import Fold, Gap, Schedule
from waterclock.domain.schedule.bounded import Bounded
from waterclock.domain.schedule.cron import Cron
from waterclock.domain.schedule.every import Every
from waterclock.domain.schedule.excluding import Excluding
from waterclock.domain.schedule.jittered import Jittered
from waterclock.domain.schedule.moment import EPOCH
from waterclock.domain.schedule.once import Once
from waterclock.domain.schedule.zone import find_zone
from waterclock.domain.schedule.zoned import local_moment

MOST_JITTER: Final = 7 * 86_400
UNITS: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
_RATE: Final = re.compile(r"rate\(\s*([0-9]{1,9})\s+(second|minute|hour|day)(s?)\s*\)", re.ASCII | re.IGNORECASE)
_AT: Final = re.compile(
    r"at\(\s*([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})\s*\)", re.ASCII | re.IGNORECASE
)
_FORM: Final = re.compile(r"(rate|at)\s*\(", re.ASCII | re.IGNORECASE)


def parse_schedule(
    text: str,
    *,
    timezone: str = "UTC",
    gap: Gap = Gap.RUN_AT_JUMP,
    fold: Fold = Fold.ONCE,
    start: datetime | None = None,
    end: datetime | None = None,
    jitter_seconds: float = 0,
    exclude: Iterable[date] = (),
    seed: str = "",
) -> Schedule:
    """The schedule that a text means, or BadSchedule. Bounds are inclusive and, like holidays, apply before jitter.

    `rate(...)` counts from `start`; without one, from 1970-01-01T00:00Z. `seed` (a trigger's id, say) makes two
    schedules of the same text jitter apart.
    """
    if not isinstance(text, str):
        raise BadSchedule(shorten(text), "is not text")
    if len(text) > MAX_LENGTH:
        raise BadSchedule(shorten(text), f"is longer than {MAX_LENGTH} characters")
    find_zone(timezone)
    schedule = _base(text, timezone, gap, fold, start)
    if dates := frozenset(exclude):
        schedule = Excluding(schedule=schedule, dates=dates, timezone=timezone)
    if start is not None or end is not None:
        schedule = Bounded(schedule=schedule, start=start, end=end)
    if not 0 <= jitter_seconds <= MOST_JITTER:
        raise InvalidInput(f"must be 0–{MOST_JITTER} seconds", field="jitter", value=jitter_seconds)
    if jitter_seconds:
        schedule = Jittered(schedule=schedule, most=timedelta(seconds=jitter_seconds), seed=seed)
    return schedule


def _base(text: str, timezone: str, gap: Gap, fold: Fold, start: datetime | None) -> Schedule:
    form = _FORM.match(text.strip())
    match form and form[1].lower():
        case "rate":
            return _rate(text, start)
        case "at":
            return _at(text, timezone, gap)
    return Cron(expression=text.strip(), timezone=timezone, gap=gap, fold=fold)


def _rate(text: str, start: datetime | None) -> Every:
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise BadSchedule(shorten(text), "must read rate(5 minutes): a whole number and second, minute, hour or day(s)")
    count, unit, plural = int(match[1]), match[2].lower(), match[3]
    if count < 1:
        raise BadSchedule(shorten(text), "must be at least 1", part="rate", value=match[1])
    if count > 1 and not plural:
        raise BadSchedule(shorten(text), f"with more than one it is {unit}s", part="unit", value=match[2])
    return Every(interval=timedelta(seconds=count * UNITS[unit]), anchor=start or EPOCH)


def _at(text: str, timezone: str, gap: Gap) -> Once:
    match = _AT.fullmatch(text.strip())
    if match is None:
        raise BadSchedule(shorten(text), "must read at(2026-11-15T12:00:00), a local time of the schedule's zone")
    try:
        local = datetime.fromisoformat(match[1])
    except ValueError as error:
        raise BadSchedule(shorten(text), str(error), part="at", value=match[1]) from error
    if not 1970 <= local.year <= 2199:
        raise BadSchedule(shorten(text), "the year must be 1970–2199", part="at", value=match[1])
    moment = local_moment(local, find_zone(timezone), gap)
    if moment is None:
        raise BadSchedule(shorten(text), f"the clocks of {timezone} skip this time", part="at", value=match[1])
    return Once(at=moment)
