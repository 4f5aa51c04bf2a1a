"""A slow, plain second opinion: fields as sets, days by `calendar`, local times laid onto real ones by zoneinfo.

It shares nothing with waterclock.domain but the meaning of the policies.
"""

from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Plain:
    """An expression taken apart: hours, minutes and seconds as sorted lists, and a test of days."""

    hours: tuple[int, ...]
    minutes: tuple[int, ...]
    seconds: tuple[int, ...]
    on_day: Callable[[date], bool]


def expand(text: str, low: int, high: int, *, wraps: bool = False) -> set[int]:
    found: set[int] = set()
    for item in text.split(","):
        span, _, step = item.partition("/")
        first, dash, last = span.partition("-")
        if span in ("*", ""):
            begin, end = low, high
        elif dash:
            begin, end = int(first), int(last)
        else:
            begin, end = int(first), high if step else int(first)
        values = list(range(begin, end + 1)) if begin <= end else [*range(begin, high + 1), *range(low, end + 1)]
        assert wraps or begin <= end
        found.update(values[:: int(step or 1)])
    return found


def plain_crontab(text: str) -> Plain:
    """Numbers only. Vixie's rule for days: either will do, unless one of the fields begins with a star."""
    minute, hour, day, month, weekday = text.split()
    days, months = expand(day, 1, 31), expand(month, 1, 12)
    weekdays = {value % 7 for value in expand(weekday, 0, 7 if "-" in weekday else 6)} if weekday != "7" else {0}
    starred = day[0] == "*" or weekday[0] == "*"

    def on_day(at: date) -> bool:
        by_day, by_weekday = at.day in days, at.isoweekday() % 7 in weekdays
        return at.month in months and ((by_day and by_weekday) if starred else (by_day or by_weekday))

    return Plain(tuple(sorted(expand(hour, 0, 23))), tuple(sorted(expand(minute, 0, 59))), (0,), on_day)


def plain_quartz(text: str) -> Plain:
    """Numbers only, without a year: `second minute hour day month weekday`."""
    second, minute, hour, day, month, weekday = text.split()
    months = expand(month, 1, 12, wraps=True)

    def on_day(at: date) -> bool:
        if at.month not in months:
            return False
        return _meets_weekday(at, weekday) if day == "?" else _meets_day(at, day)

    hours = tuple(sorted(expand(hour, 0, 23, wraps=True)))
    minutes = tuple(sorted(expand(minute, 0, 59, wraps=True)))
    return Plain(hours, minutes, tuple(sorted(expand(second, 0, 59, wraps=True))), on_day)


def _meets_day(at: date, text: str) -> bool:
    last = monthrange(at.year, at.month)[1]
    if text[-1] == "W":
        wanted = last if text == "LW" else last - int(text[2:-1]) if text[0] == "L" else int(text[:-1])
        return wanted <= last and at == _nearest_weekday(at.replace(day=wanted))
    if text[0] == "L":
        return at.day == last - int(text[2:] or 0)
    return at.day in expand(text, 1, 31, wraps=True)


def _nearest_weekday(wanted: date) -> date:
    """Of the weekdays of its month, the one that is nearest; of two, the earlier."""
    around = (wanted + DAY * shift for shift in (0, -1, 1, -2, 2))
    return next(day for day in around if day.month == wanted.month and day.isoweekday() <= 5)


def _meets_weekday(at: date, text: str) -> bool:
    own = at.isoweekday() % 7 + 1
    if "#" in text:
        wanted, _, nth = text.partition("#")
        return own == int(wanted) and (at.day - 1) // 7 + 1 == int(nth)
    if text == "L":
        return own == 7
    if text[-1] == "L":
        return own == int(text[:-1]) and (at + 7 * DAY).month != at.month
    return own in expand(text, 1, 7, wraps=True)


def fires(
    plain: Plain, zone: str, after: datetime, count: int, *, catch_gap: bool = True, twice: bool = False
) -> list[datetime]:
    """The next `count` fires under a policy."""
    return list(islice(_fires(plain, ZoneInfo(zone), after, catch_gap, twice), count))


def _fires(plain: Plain, zone: ZoneInfo, after: datetime, catch_gap: bool, twice: bool) -> Iterator[datetime]:
    day = after.astimezone(zone).date() - 2 * DAY
    pending: set[datetime] = set()
    last = after
    for _ in range(366 * 60):
        if plain.on_day(day):
            pending.update(_on_day(plain, day, zone, catch_gap, twice))
        # A day's fires may reach over midnight UTC by a day at most: what is older is complete.
        ready = sorted(moment for moment in pending if moment < _midnight(day) - DAY)
        pending.difference_update(ready)
        for moment in ready:
            if moment > last:
                yield moment
        day += DAY


def _on_day(plain: Plain, day: date, zone: ZoneInfo, catch_gap: bool, twice: bool) -> Iterator[datetime]:
    for hour in plain.hours:
        for minute in plain.minutes:
            for second in plain.seconds:
                local = datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=zone)
                first, second_time = local.astimezone(UTC), local.replace(fold=1).astimezone(UTC)
                if first > second_time:
                    if catch_gap:
                        yield jump_between(second_time, first, zone)
                    continue
                yield first
                if twice:
                    yield second_time


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


@lru_cache(maxsize=1024)
def jump_between(low: datetime, high: datetime, zone: ZoneInfo) -> datetime:
    """The second at which the zone's offset changes, low < it <= high."""
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // 2
        middle = middle.replace(microsecond=0)
        low, high = (middle, high) if middle.astimezone(zone).utcoffset() == before else (low, middle)
    return high
