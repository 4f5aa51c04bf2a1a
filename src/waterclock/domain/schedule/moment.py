"""Moments as whole microseconds since 1970-01-01T00:00Z: what stores keep and searches compute with."""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
SECOND: Final = 1_000_000
# Fires are sought from 1970 to the end of 2199 (UTC); outside of that a schedule is silent.
FIRST: Final = 0
END: Final = int(datetime(2200, 1, 1, tzinfo=UTC).timestamp()) * SECOND


def to_us(moment: datetime) -> int:
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def from_us(us: int) -> datetime:
    return EPOCH + timedelta(0, us // SECOND, us % SECOND)


def span_us(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
