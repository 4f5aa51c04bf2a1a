"""Calendar steps: a time of day on dates that lie so many months and days after one another, in a zone."""

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, time
from functools import lru_cache

from waterclock.domain.cron.months import END_DAY, EPOCH_ORDINAL, FIRST_DAY, LAST_YEAR
from waterclock.domain.cron.search import Days, Wall
from waterclock.domain.cron.times import Times
from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule.base import Fold, Gap
from waterclock.domain.schedule.grids import EveryDays, Listed
from waterclock.domain.schedule.zone import Zone, find_zone_or_offset
from waterclock.domain.schedule.zoned import Zoned


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped(Zoned):
    """Fires at the time of day `at` on the date `anchor` and on each date that is one step after the one before.

    A step adds `months` (again, while the month it comes to has no such day), and then `days`. So a step from the 31st
    by one month passes over the short months, where `Calendar` takes their last day.
    """

    months: int = 0
    days: int = 0
    at: time = time(0)
    anchor: date = date(1970, 1, 1)
    timezone: str = "UTC"
    gap: Gap = Gap.RUN_AT_JUMP
    fold: Fold = Fold.ONCE
    _rule: Wall = field(init=False, compare=False, repr=False)
    _zone: Zone = field(init=False, compare=False, repr=False)
    _catches_gap: bool = field(init=False, compare=False, repr=False)
    _repeats_fold: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, count in (("months", self.months), ("days", self.days)):
            if count < 0:
                raise InvalidInput("must not be negative", field=name, value=count)
        if not self.months and not self.days:
            raise InvalidInput("a step must be at least one day long", field="days", value=self.days)
        times = Times(hours=1 << self.at.hour, minutes=1 << self.at.minute, seconds=1 << self.at.second)
        object.__setattr__(self, "_rule", Wall(days=self._days(), times=times))
        object.__setattr__(self, "_zone", find_zone_or_offset(self.timezone))
        object.__setattr__(self, "_catches_gap", self.gap is Gap.RUN_AT_JUMP)
        object.__setattr__(self, "_repeats_fold", self.fold is Fold.TWICE)

    def _days(self) -> Days:
        if self.months == 0:
            return EveryDays(every=self.days, anchor=self.anchor.toordinal() - EPOCH_ORDINAL)
        return _listed(self.anchor, self.months, self.days)


@lru_cache(maxsize=256)
def _listed(anchor: date, months: int, days: int) -> Listed:
    """A month is added at least, so that the list has one entry for each month at most."""
    return Listed(days=tuple(day for day in _walk(anchor, months, days) if day >= FIRST_DAY))


def _walk(anchor: date, months: int, days: int) -> Iterator[int]:
    day: int | None = anchor.toordinal() - EPOCH_ORDINAL
    while day is not None and day < END_DAY:
        yield day
        month_later = _months_later(date.fromordinal(day + EPOCH_ORDINAL), months)
        day = None if month_later is None else month_later + days


def _months_later(start: date, months: int) -> int | None:
    year, month = start.year, start.month
    while year <= LAST_YEAR:
        carried, month = divmod(month - 1 + months, 12)
        year, month = year + carried, month + 1
        if year <= LAST_YEAR and start.day <= monthrange(year, month)[1]:
            return date(year, month, start.day).toordinal() - EPOCH_ORDINAL
    return None
