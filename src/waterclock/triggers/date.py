"""The date trigger: fires once."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any

from waterclock.domain.schedule import Once, to_us
from waterclock.triggers.base import ScheduleTrigger
from waterclock.triggers.dates import DateLike, moment_of, now_in, shown, zone_for


class DateTrigger(ScheduleTrigger):
    """Fires once, at `run_date`; without one, at once.

    The first answer is `run_date` even when it has passed: whether it is then too late is the scheduler's to decide.
    """

    __slots__ = ("run_date",)

    run_date: datetime

    def __init__(self, run_date: DateLike | None = None, timezone: tzinfo | str | None = None) -> None:
        zone = zone_for(timezone)
        self._set(now_in(zone) if run_date is None else moment_of(run_date, zone, "run_date"))

    def _set(self, run_date: datetime) -> None:
        self.run_date = run_date
        self.timezone = run_date.tzinfo or zone_for(None)
        self.schedule = Once(at=run_date)

    def first_us(self, now: int) -> int:
        return to_us(self.run_date)

    def __getstate__(self) -> dict[str, Any]:
        return {"run_date": self.run_date}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(state["run_date"])

    def __str__(self) -> str:
        return f"date[{shown(self.run_date)}]"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} (run_date='{shown(self.run_date)}')>"
