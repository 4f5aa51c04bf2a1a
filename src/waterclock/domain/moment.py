"""A moment as it is stored and computed with: whole microseconds since 1970 UTC, in an int."""

from datetime import UTC, datetime, timedelta
from typing import Final

Moment = int

SECOND: Final = 1_000_000
MINUTE: Final = 60 * SECOND
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def from_datetime(when: datetime) -> Moment:
    since = when - EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def to_datetime(moment: Moment) -> datetime:
    return EPOCH + timedelta(0, moment // SECOND, moment % SECOND)


def to_iso(moment: Moment) -> str:
    """ISO 8601 in UTC with `Z`; the fraction only where there is one."""
    return to_datetime(moment).isoformat().replace("+00:00", "Z")


def seconds(span: float) -> int:
    """A span in seconds as the microseconds that moments count in."""
    return round(span * SECOND)
