"""What is usual, learned from the last runs: the time of day at which a gate passes, the time that a step takes."""

from collections.abc import Sequence
from statistics import median
from typing import Final
from zoneinfo import ZoneInfo

from waterclock.domain.moment import SECOND, Moment, to_datetime

LEAST: Final = 3  # fewer tell nothing
DAY_MINUTES: Final = 24 * 60

Span = tuple[Moment, Moment]  # from the beginning to the end


def usual_time(moments: Sequence[Moment], zone: ZoneInfo) -> str | None:
    """`02:14` in that zone: of these times of day the one nearest to all, round the clock."""
    if len(moments) < LEAST:
        return None
    local = [to_datetime(moment).astimezone(zone) for moment in moments]
    minutes = [each.hour * 60 + each.minute for each in local]
    middle = min(minutes, key=lambda one: sum(_apart(one, other) for other in minutes))
    return f"{middle // 60:02d}:{middle % 60:02d}"


def usual_seconds(spans: Sequence[Span]) -> float | None:
    if len(spans) < LEAST:
        return None
    return round(median((ended - began) / SECOND for began, ended in spans), 3)


def _apart(one: int, other: int) -> int:
    distance = abs(one - other)
    return min(distance, DAY_MINUTES - distance)
