"""What a trigger is: it names the next moment to fire, given the one before and now."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, tzinfo
from typing import Any
from uuid import uuid4

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule import Bounded, Jittered, Schedule, from_json, from_us, to_json, to_us
from waterclock.triggers.dates import localized


class BaseTrigger(ABC):
    """The least that a trigger of somebody else must be."""

    __slots__ = ()

    @abstractmethod
    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        """The moment to fire at, or None when there is none; `previous_fire_time` is None before the first."""


class ScheduleTrigger(BaseTrigger):
    """A trigger that is a schedule under another name: `schedule` alone decides, and can be kept as JSON.

    A subclass sets `timezone` and `schedule` in its constructor. Its state, for pickles and comparisons, is light: a
    schedule is made anew from it, without the tables that it searches.
    """

    __slots__ = ("schedule", "timezone")

    schedule: Schedule
    timezone: tzinfo

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        if previous_fire_time is None:
            found = self.first_us(self._us(now))
        else:
            found = self.schedule.next_after_us(self._us(previous_fire_time))
        return None if found is None else from_us(found).astimezone(self.timezone)

    def first_us(self, now: int) -> int | None:
        """The first fire at all, in epoch microseconds: the first at or after now."""
        return self.schedule.next_after_us(now - 1)

    def _us(self, moment: datetime) -> int:
        return to_us(localized(moment, self.timezone) if moment.tzinfo is None else moment)

    def __getstate__(self) -> dict[str, Any]:
        own: dict[str, Any] = getattr(self, "__dict__", {})
        return {"schedule": to_json(self.schedule), "timezone": self.timezone, **own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, from_json(value) if name == "schedule" else value)

    def __eq__(self, other: object) -> bool:
        """Equal when the same was declared; the seed of the jitter, which nobody declares, does not count."""
        if type(other) is not type(self) or not isinstance(other, ScheduleTrigger):
            return NotImplemented
        ours, theirs = self.__getstate__() | {"seed": None}, other.__getstate__() | {"seed": None}
        return ours == theirs and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} (schedule={self.schedule!r}, timezone='{self.timezone}')>"


@contextmanager
def as_value_errors() -> Iterator[None]:
    """What the domain refuses as invalid input is a ValueError to callers of the library."""
    try:
        yield
    except InvalidInput as refused:
        raise ValueError(str(refused)) from refused


def between(schedule: Schedule, start: datetime | None, end: datetime | None) -> Schedule:
    """The part of a schedule from start to end, both included; none of it when the end comes first."""
    if start is not None and end is not None and end < start:
        return Bounded(schedule=Bounded(schedule=schedule, start=start), end=end)
    return schedule if start is None and end is None else Bounded(schedule=schedule, start=start, end=end)


def jittered(schedule: Schedule, jitter: float | None, seed: str, end: datetime | None = None) -> Schedule:
    if not jitter:
        return schedule
    return Jittered(schedule=schedule, most=timedelta(seconds=jitter), seed=seed, end=end)


def new_seed() -> str:
    """Each trigger jitters in its own way: machines that declare the same one should not fire together."""
    return uuid4().hex
