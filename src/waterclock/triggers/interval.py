"""The interval trigger: fires every so often, in real time."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from typing import Any, Final

from waterclock.domain.schedule import Every
from waterclock.triggers.base import ScheduleTrigger, as_value_errors, between, jittered, new_seed
from waterclock.triggers.dates import DateLike, moment_of, now_in, optional_moment, shown, zone_for

SHORTEST: Final = timedelta(seconds=1)


class IntervalTrigger(ScheduleTrigger):
    """Fires at `start_date` and every interval after it, up to and including `end_date`.

    Without a start it begins one interval from now; an interval of nothing is a second. Fires stay on this grid
    whatever moment they are asked from.
    """

    __slots__ = ("_seed", "end_date", "interval", "jitter", "start_date")

    interval: timedelta
    start_date: datetime
    end_date: datetime | None
    jitter: float | None

    def __init__(
        self,
        weeks: float = 0,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        start_date: DateLike | None = None,
        end_date: DateLike | None = None,
        timezone: tzinfo | str | None = None,
        jitter: float | None = None,
    ) -> None:
        interval = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds) or SHORTEST
        zone = zone_for(timezone, start_date, end_date)
        start = start_date or now_in(zone) + interval
        self._set(
            interval=interval,
            start_date=moment_of(start, zone, "start_date"),
            end_date=optional_moment(end_date, zone, "end_date"),
            timezone=zone,
            jitter=jitter,
            seed=new_seed(),
        )

    def _set(
        self,
        *,
        interval: timedelta,
        start_date: datetime,
        end_date: datetime | None,
        timezone: tzinfo,
        jitter: float | None,
        seed: str,
    ) -> None:
        self.interval, self.start_date, self.end_date = interval, start_date, end_date
        self.timezone, self.jitter, self._seed = timezone, jitter, seed
        with as_value_errors():
            every = Every(interval=interval, anchor=start_date)
            self.schedule = jittered(between(every, None, end_date), jitter, seed, end_date)

    @property
    def interval_length(self) -> float:
        return self.interval.total_seconds()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "interval": self.interval,
            "start_date": self.start_date,
            "end_date": self.end_date,
            "timezone": self.timezone,
            "jitter": self.jitter,
            "seed": self._seed,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    def __str__(self) -> str:
        return f"interval[{self.interval}]"

    def __repr__(self) -> str:
        options = [f"interval={self.interval!r}", f"start_date='{shown(self.start_date)}'"]
        options += [f"end_date='{shown(self.end_date)}'"] if self.end_date else []
        options += [f"jitter={self.jitter}"] if self.jitter else []
        return f"<{type(self).__name__} ({', '.join(options)}, timezone='{self.timezone}')>"
