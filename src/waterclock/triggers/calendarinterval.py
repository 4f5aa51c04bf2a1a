"""The calendar interval trigger: fires at one time of day, every so many years, months, weeks and days."""

from __future__ import annotations

from datetime import date, datetime, time, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from waterclock.domain.schedule import Fold, Gap, Schedule, Stepped, from_us
from waterclock.domain.schedule.zone import find_zone_or_offset
from waterclock.domain.schedule.zoned import day_span_us
from waterclock.triggers.base import ScheduleTrigger, as_value_errors, between, jittered, new_seed
from waterclock.triggers.dates import DateLike, date_of, now_in, zone_for
from waterclock.triggers.zones import zone_name


class CalendarIntervalTrigger(ScheduleTrigger):
    """Fires on `start_date` (today, if not given) and on every date one interval later, up to `end_date`.

    An interval adds years and months while keeping the day of the month, again until there is such a day, and then
    weeks and days.
    """

    __slots__ = (
        *("_seed", "_time", "days", "end_date", "fold", "gap"),
        *("jitter", "months", "start_date", "weeks", "years"),
    )

    start_date: date
    end_date: date | None

    def __init__(
        self,
        *,
        years: int = 0,
        months: int = 0,
        weeks: int = 0,
        days: int = 0,
        hour: int = 0,
        minute: int = 0,
        second: int = 0,
        start_date: DateLike | None = None,
        end_date: DateLike | None = None,
        timezone: tzinfo | str | None = None,
        jitter: float | None = None,
        gap: Gap | str = Gap.RUN_AT_JUMP,
        fold: Fold | str = Fold.ONCE,
    ) -> None:
        zone = zone_for(timezone)
        self._set(
            interval=(years, months, weeks, days),
            time=time(hour, minute, second),
            start_date=date_of(start_date, zone, "start_date") if start_date else now_in(zone).date(),
            end_date=date_of(end_date, zone, "end_date") if end_date else None,
            timezone=zone,
            jitter=jitter,
            gap=Gap(gap),
            fold=Fold(fold),
            seed=new_seed(),
        )

    def _set(
        self,
        *,
        interval: tuple[int, int, int, int],
        time: time,
        start_date: date,
        end_date: date | None,
        timezone: tzinfo,
        jitter: float | None,
        gap: Gap,
        fold: Fold,
        seed: str,
    ) -> None:
        _check(interval, start_date, end_date)
        self.years, self.months, self.weeks, self.days = interval
        self.start_date, self.end_date, self.timezone = start_date, end_date, timezone
        self.jitter, self.gap, self.fold, self._seed = jitter, gap, fold, seed
        self._time = time.replace(tzinfo=timezone)
        with as_value_errors():
            last = None if end_date is None else _end_of(end_date, timezone)
            self.schedule = jittered(between(self._stepped(), None, last), jitter, seed, last)

    def _stepped(self) -> Schedule:
        return Stepped(
            months=self.years * 12 + self.months,
            days=self.weeks * 7 + self.days,
            at=self._time.replace(tzinfo=None),
            anchor=self.start_date,
            timezone=zone_name(self.timezone),
            gap=self.gap,
            fold=self.fold,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {
            "interval": (self.years, self.months, self.weeks, self.days),
            "time": self._time.replace(tzinfo=None),
            "start_date": self.start_date,
            "end_date": self.end_date,
            "timezone": self.timezone,
            "jitter": self.jitter,
            "gap": self.gap,
            "fold": self.fold,
            "seed": self._seed,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    def __repr__(self) -> str:
        counts = {"years": self.years, "months": self.months, "weeks": self.weeks, "days": self.days}
        options = [f"{name}={count}" for name, count in counts.items() if count]
        options += [f"time='{self._time.isoformat()}'", f"start_date='{self.start_date}'"]
        options += [f"end_date='{self.end_date}'"] if self.end_date else []
        zone = self.timezone.key if isinstance(self.timezone, ZoneInfo) else repr(self.timezone)
        return f"{type(self).__name__}({', '.join(options)}, timezone={zone!r})"


def _check(interval: tuple[int, int, int, int], start_date: date, end_date: date | None) -> None:
    for name, count in zip(("years", "months", "weeks", "days"), interval, strict=True):
        if not isinstance(count, int):
            raise TypeError(f"{name} must be a whole number, not {type(count).__name__}")
        if count < 0:
            raise ValueError(f"{name} must not be negative")
    if not any(interval):
        raise ValueError("interval must be at least 1 day long")
    if end_date is not None and start_date > end_date:
        raise ValueError("end_date cannot be earlier than start_date")


def _end_of(day: date, zone: tzinfo) -> datetime:
    """The last moment of a local date."""
    return from_us(day_span_us(day, find_zone_or_offset(zone_name(zone)))[1] - 1)
