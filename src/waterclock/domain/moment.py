"""A moment as it is stored: whole microseconds since 1970 UTC, in an int."""

from datetime import UTC, datetime, timedelta
from typing import Final

Moment = int

SECOND: Final = 1_000_000
MINUTE: Final = 60 * SECOND

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def from_datetime(when: datetime) -> Moment:
    return (when - _EPOCH) // _MICROSECOND


def to_datetime(moment: Moment) -> datetime:
    return _EPOCH + timedelta(microseconds=moment)


def to_iso(moment: Moment) -> str:
    """ISO 8601 in UTC with `Z`; the fraction only where there is one."""
    return to_datetime(moment).isoformat().replace("+00:00", "Z")


def seconds(span: float) -> int:
    """A span in seconds as the microseconds that moments count in."""
    return round(span * SECOND)
