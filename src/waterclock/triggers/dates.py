"""Dates and moments as callers give them: datetimes, dates and texts; what has no zone is local to the trigger's."""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Final

from waterclock import clock
from waterclock.domain.moment import to_datetime
from waterclock.domain.schedule import Gap
from waterclock.domain.schedule.zone import find_zone_or_offset
from waterclock.domain.schedule.zoned import local_moment
from waterclock.triggers.zones import local_zone, zone_name, zone_of

DateLike = datetime | date | str
_TEXT: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?(?:(Z)|([+-])(\d\d):(\d\d))?)?",
    re.ASCII,
)


def now_in(zone: tzinfo) -> datetime:
    return to_datetime(clock.wall_us()).astimezone(zone)


def zone_for(given: tzinfo | str | None, *dates: DateLike | None) -> tzinfo:
    """The zone that was given, else that of the first date that has one, else the machine's."""
    if given:
        return zone_of(given)
    for moment in dates:
        if isinstance(moment, datetime) and moment.tzinfo is not None:
            return zone_of(moment.tzinfo)
    return local_zone()


def moment_of(given: DateLike, zone: tzinfo, argument: str) -> datetime:
    """An aware datetime: one that is aware already is left as it is; a date means its midnight."""
    match given:
        case datetime():
            moment = given
        case date():
            moment = datetime.combine(given, time())
        case str():
            moment = _read(given, argument)
        case _:
            raise TypeError(f"{argument} must be a datetime, a date or a text, not {type(given).__name__}")
    return moment if moment.tzinfo is not None else localized(moment, zone)


def optional_moment(given: DateLike | None, zone: tzinfo, argument: str) -> datetime | None:
    return None if given is None else moment_of(given, zone, argument)


def date_of(given: DateLike, zone: tzinfo, argument: str) -> date:
    """The local date: that of a datetime in the zone, if it is aware."""
    match given:
        case datetime():
            return given.date() if given.tzinfo is None else given.astimezone(zone).date()
        case date():
            return given
        case str():
            return date.fromisoformat(given)
    raise TypeError(f"{argument} must be a date or a text such as 2026-11-15, not {type(given).__name__}")


def localized(local: datetime, zone: tzinfo) -> datetime:
    """The moment that a local time names; for one that the clocks skip, the moment at which they jump."""
    moment = local.replace(tzinfo=zone)
    if moment.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == local:
        return moment
    jump = local_moment(local, find_zone_or_offset(zone_name(zone)), Gap.RUN_AT_JUMP)
    return moment if jump is None else jump.astimezone(zone)


def shown(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S %Z")


def _read(text: str, argument: str) -> datetime:
    match = _TEXT.fullmatch(text)
    if match is None:
        forms = "2026-11-15, 2026-11-15 12:00:00, with a fraction and with Z or +01:00"
        raise ValueError(f"{argument}: invalid date string {text[:80]!r}; it must read like {forms}")
    *numbers, fraction, utc, sign, hours, minutes = match.groups()
    year, month, day, hour, minute, second = (int(number or 0) for number in numbers)
    zone: timezone | None = UTC if utc else None
    if sign:
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        zone = timezone(-offset if sign == "-" else offset)
    return datetime(year, month, day, hour, minute, second, int((fraction or "0").ljust(6, "0")), tzinfo=zone)
