"""How far schedules look, and the names under which they use moments."""

from datetime import UTC, datetime, timedelta
from typing import Final

from waterclock.domain.moment import EPOCH, SECOND
from waterclock.domain.moment import from_datetime as to_us
from waterclock.domain.moment import to_datetime as from_us

__all__ = ["END", "EPOCH", "FIRST", "SECOND", "from_us", "span_us", "to_us"]

# Fires are sought from 1970 to the end of 2199 (UTC); outside of that a schedule is silent.
FIRST: Final = 0
END: Final = to_us(datetime(2200, 1, 1, tzinfo=UTC))


def span_us(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
