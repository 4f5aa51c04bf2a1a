"""What people schedule, as real `Schedule` values with the share of all schedules that has each.

Daily jobs, half of them at night; hourly ones, many on the hour; some every quarter of an hour: ten runs a day each on
average. Expressions of Glue have no seconds, so that every minute begins with a burst and midnight with the largest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Final

from waterclock.domain.moment import SECOND
from waterclock.domain.schedule import Every, Schedule, parse_schedule
from waterclock.domain.schedule.moment import EPOCH

DAY_SECONDS: Final = 86_400

QUARTERLY: Final = 0.035  # of all schedules
RUNS_A_DAY: Final = 10.0  # of a schedule, on average: the share of the hourly ones follows from it
HOURLY: Final = (RUNS_A_DAY - 1 - 95 * QUARTERLY) / 23
DAILY: Final = 1 - QUARTERLY - HOURLY

ON_THE_QUARTER: Final = 0.4  # of the quarterly ones; the others begin at any second
ON_THE_HOUR: Final = 0.3  # of the hourly ones; the others at any minute
AT_NIGHT: Final = 0.5  # of the daily ones: between 0 and 5
AT_MIDNIGHT: Final = 0.1  # of those
NIGHT_MINUTES: Final = 5 * 60


@dataclass(frozen=True, slots=True)
class Line:
    """One schedule that many have."""

    schedule: Schedule
    share: float
    runs_a_day: int


@lru_cache(maxsize=1)
def lines() -> tuple[Line, ...]:
    return (*_quarterly(), *_hourly(), *_daily())


def _quarterly() -> Iterator[Line]:
    quarter = timedelta(minutes=15)
    for second in range(900):
        share = QUARTERLY * ((1 - ON_THE_QUARTER) / 900 + (0 if second else ON_THE_QUARTER))
        yield Line(Every(interval=quarter, anchor=EPOCH + timedelta(seconds=second)), share, 96)


def _hourly() -> Iterator[Line]:
    for minute in range(60):
        share = HOURLY * ((1 - ON_THE_HOUR) / 60 + (0 if minute else ON_THE_HOUR))
        yield Line(parse_schedule(f"cron({minute} * * * ? *)"), share, 24)


def _daily() -> Iterator[Line]:
    by_day, at_night = DAILY * (1 - AT_NIGHT), DAILY * AT_NIGHT
    for minute in range(24 * 60):
        share = by_day / (24 * 60 - NIGHT_MINUTES)
        if minute < NIGHT_MINUTES:
            share = at_night * ((1 - AT_MIDNIGHT) / NIGHT_MINUTES + (0 if minute else AT_MIDNIGHT))
        yield Line(parse_schedule(f"cron({minute % 60} {minute // 60} * * ? *)"), share, 1)


@lru_cache(maxsize=1)
def worst_instant() -> float:
    """The share of all schedules that is due at midnight."""
    midnight = 20_000 * DAY_SECONDS * SECOND
    return sum(line.share for line in lines() if line.schedule.last_at_or_before_us(midnight) == midnight)


@lru_cache(maxsize=1)
def busiest_hour() -> float:
    """Runs in the first hour of the day, to those of an average hour."""
    begin = 20_000 * DAY_SECONDS * SECOND - 1
    hour = 3_600 * SECOND
    runs = sum(line.share * line.schedule.count_us(begin, begin + hour).value for line in lines())
    return runs / (RUNS_A_DAY / 24)
