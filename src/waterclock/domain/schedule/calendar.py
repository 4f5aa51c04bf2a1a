"""Calendar schedules: a time of day every n days, weeks or months, in a zone."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, time
from enum import Enum
from functools import reduce
from operator import or_
from typing import Final

from waterclock.domain.cron.months import EPOCH_ORDINAL
from waterclock.domain.cron.search import Days, Wall
from waterclock.domain.cron.times import Times
from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule.base import Fold, Gap
from waterclock.domain.schedule.grids import EveryDays, EveryMonths, EveryWeeks
from waterclock.domain.schedule.zone import Zone, find_zone
from waterclock.domain.schedule.zoned import Zoned

MOST: Final = 10_000


class Unit(Enum):
    DAYS = "days"
    WEEKS = "weeks"
    MONTHS = "months"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar(Zoned):
    """Fires at the time of day `at`, every `every` units from the date `anchor` on.

    `on` names the days within a unit: weekdays (ISO, Monday = 1) of a week, days (1–31) of a month, where a day past
    the month's end means its last day. Weeks begin on Monday. When it is empty, the anchor's own weekday or day counts.
    """

    unit: Unit
    every: int = 1
    at: time = time(0)
    on: tuple[int, ...] = ()
    anchor: date = date(1970, 1, 1)
    timezone: str = "UTC"
    gap: Gap = Gap.RUN_AT_JUMP
    fold: Fold = Fold.ONCE
    _rule: Wall = field(init=False, compare=False, repr=False)
    _zone: Zone = field(init=False, compare=False, repr=False)
    _catches_gap: bool = field(init=False, compare=False, repr=False)
    _repeats_fold: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 1 <= self.every <= MOST:
            raise InvalidInput(f"must be 1–{MOST}", field="every", value=self.every)
        times = Times(hours=1 << self.at.hour, minutes=1 << self.at.minute, seconds=1 << self.at.second)
        object.__setattr__(self, "_rule", Wall(days=self._days(), times=times))
        object.__setattr__(self, "_zone", find_zone(self.timezone))
        object.__setattr__(self, "_catches_gap", self.gap is Gap.RUN_AT_JUMP)
        object.__setattr__(self, "_repeats_fold", self.fold is Fold.TWICE)

    def _days(self) -> Days:
        anchor = self.anchor.toordinal() - EPOCH_ORDINAL
        match self.unit:
            case Unit.DAYS:
                return EveryDays(every=self.every, anchor=anchor)
            case Unit.WEEKS:
                weekdays = _mask(self.on or (self.anchor.isoweekday(),), 7)
                return EveryWeeks(every=self.every, weekdays=weekdays, anchor=anchor)
            case Unit.MONTHS:
                days = _mask(self.on or (self.anchor.day,), 31)
                return EveryMonths(every=self.every, days=days, anchor=anchor)


def _mask(numbers: Iterable[int], most: int) -> int:
    for number in numbers:
        if not 1 <= number <= most:
            raise InvalidInput(f"must be 1–{most}", field="on", value=number)
    return reduce(or_, (1 << (number - 1) for number in numbers))
