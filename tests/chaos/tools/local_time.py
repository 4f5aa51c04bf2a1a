"""The oracle of local time: which instants a crontab-like rule means in a zone, by zoneinfo and counting alone.

It shares nothing with our schedules. Every local minute of a span is looked at: one that exists is taken, the first
or both of a doubled one, and one that was skipped counts at the moment of the jump, or not at all.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from waterclock.domain.moment import Moment, from_datetime

MINUTE = timedelta(minutes=1)
Wanted = Callable[[datetime], bool]  # of a naive local minute


def instants(
    wanted: Wanted, zone: str, first: datetime, last: datetime, *, gap: str = "run_at_jump", fold: str = "once"
) -> list[Moment]:
    """Between two instants, both included; strictly increasing."""
    tz, found = ZoneInfo(zone), set[datetime]()
    local = first.astimezone(tz).replace(tzinfo=None) - timedelta(hours=3)
    while local <= last.astimezone(tz).replace(tzinfo=None) + timedelta(hours=3):
        if wanted(local):
            found |= set(_meant(local, tz, gap, fold))
        local += MINUTE
    return [from_datetime(each) for each in sorted(found) if first <= each <= last]


def jump_at(zone: str, day: datetime) -> datetime:
    """The moment within 24 hours at which the zone's offset changes, as an instant."""
    tz, moment = ZoneInfo(zone), day.astimezone(UTC)
    while moment.astimezone(tz).utcoffset() == (moment + MINUTE).astimezone(tz).utcoffset():
        moment += MINUTE
        assert moment < day + timedelta(days=1), f"the clocks of {zone} do not change within a day of {day}"
    return moment + MINUTE


def _meant(local: datetime, tz: ZoneInfo, gap: str, fold: str) -> Iterator[datetime]:
    both = [local.replace(tzinfo=tz, fold=which).astimezone(UTC) for which in (0, 1)]
    real = [each for each in both if each.astimezone(tz).replace(tzinfo=None) == local]
    if real:
        yield from sorted(set(real)) if fold == "twice" else [min(real)]
    elif gap == "run_at_jump":
        yield jump_at(str(tz), min(both) - timedelta(hours=6))
