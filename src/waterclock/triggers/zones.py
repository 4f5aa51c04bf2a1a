"""Time zones as callers give them, and the machine's own as TZ or /etc/localtime tells it."""

import os
from collections.abc import Iterator
from datetime import UTC, timedelta, timezone, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Final
from zoneinfo import TZPATH, ZoneInfo, available_timezones

from waterclock.domain.errors import BadSchedule
from waterclock.domain.schedule.zone import find_zone_or_offset

LOCALTIME: Final = Path("/etc/localtime")
TIMEZONE: Final = Path("/etc/timezone")
ZONES: Final = "zoneinfo/"


def zone_of(given: tzinfo | str) -> tzinfo:
    """The zone that is meant by an IANA name, or by an object of zoneinfo, pytz, dateutil or datetime.timezone.

    A schedule can be kept only if its zone can be named: what is neither in the zone database nor a fixed offset is
    refused. An unknown name raises what zoneinfo raises, ZoneInfoNotFoundError.
    """
    if given is UTC:
        return UTC
    if isinstance(given, str):
        return _named(given)
    if not isinstance(given, tzinfo):
        raise TypeError(f"timezone must be a tzinfo or the name of a zone, not {type(given).__name__}")
    if name := _database_name(given):
        return given if isinstance(given, ZoneInfo) else _named(name)
    offset = given.utcoffset(None)
    if offset is None or offset.microseconds:
        raise ValueError(f"timezone {given!r} has no name to keep it by; give an IANA name such as 'Europe/Berlin'")
    return given if isinstance(given, timezone) else timezone(offset)


def zone_name(zone: tzinfo) -> str:
    """The name that schedules know a zone of `zone_of` by."""
    return zone.key if isinstance(zone, ZoneInfo) else str(timezone(zone.utcoffset(None) or timedelta(0)))


def local_zone() -> tzinfo:
    """The machine's zone; UTC where nothing tells it."""
    return _local(os.environ.get("TZ", ""))


def _named(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    if not name.startswith(("UTC+", "UTC-")):
        return ZoneInfo(name)
    try:
        return find_zone_or_offset(name).info
    except BadSchedule as refused:
        raise ValueError(str(refused)) from refused


def _database_name(zone: tzinfo) -> str | None:
    """zoneinfo has `key`, pytz `zone`; dateutil keeps the file that it read."""
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    return name or _within_database(str(getattr(zone, "_filename", "")))


def _within_database(path: str) -> str | None:
    _, found, name = path.rpartition(ZONES)
    return name if found else None


@lru_cache(maxsize=8)
def _local(declared: str) -> tzinfo:
    path = declared.removeprefix(":")
    if path and path != str(LOCALTIME):
        return _named(_within_database(path) or path)
    if LOCALTIME.is_symlink() and (name := _within_database(os.readlink(LOCALTIME))):
        return _named(name)
    if TIMEZONE.is_file() and (name := TIMEZONE.read_text().strip()):
        return _named(name)
    if not LOCALTIME.is_file():
        return UTC
    # A copy instead of a link: the zone of the same rules.
    for name in _zones_like(LOCALTIME.read_bytes()):
        return _named(name)
    raise ValueError(f"cannot name the time zone of {LOCALTIME}; set TZ, or give a timezone")


def _zones_like(rules: bytes) -> Iterator[str]:
    for name in sorted(available_timezones()):
        if any(path.is_file() and path.read_bytes() == rules for path in (Path(root, name) for root in TZPATH)):
            yield name
