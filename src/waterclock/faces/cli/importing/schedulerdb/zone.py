"""The time zone that this machine is in, by its IANA name, where that can be told."""

import os
from pathlib import Path
from typing import Final

from waterclock.domain.errors import BadSchedule
from waterclock.domain.schedule.zone import find_zone

UTC: Final = "UTC"
LOCALTIME: Final = Path("/etc/localtime")
TIMEZONE: Final = Path("/etc/timezone")
_WITHIN: Final = "/zoneinfo/"


def machine_zone(localtime: Path = LOCALTIME, timezone: Path = TIMEZONE) -> str | None:
    """TZ where it is set, then where /etc/localtime points, then what /etc/timezone says."""
    told = (os.environ.get("TZ", "").lstrip(":"), _linked(localtime), _written(timezone))
    return next((name for name in told if name and _is_known(name)), None)


def _linked(localtime: Path) -> str:
    return str(localtime.resolve()).partition(_WITHIN)[2]


def _written(timezone: Path) -> str:
    try:
        return timezone.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _is_known(name: str) -> bool:
    try:
        find_zone(name)
    except BadSchedule:
        return False
    return True
