"""Triggers of somebody else: all that is known of one is what it answers, so it is asked fire by fire."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from waterclock.domain.schedule import Count, Schedule, from_us, to_us
from waterclock.domain.schedule.base import InMicroseconds
from waterclock.triggers.base import BaseTrigger, ScheduleTrigger

LONGEST_WALK: Final = 10_000  # fires asked for at once
KEPT: Final = 3  # fires remembered: the one before the last, the last, and the next


def schedule_of(trigger: BaseTrigger, first: datetime | None = None) -> Schedule:
    """`first` is when the job runs next: where the walk through a foreign trigger's fires begins."""
    return trigger.schedule if isinstance(trigger, ScheduleTrigger) else ForeignSchedule(trigger, first)


class UnknownTrigger(ScheduleTrigger):
    """One of a package that this process has not: its schedule is known, and what is stored of it stays."""

    def __init__(self, stored: Mapping[str, object], schedule: Schedule) -> None:
        self.stored, self.schedule, self.timezone = stored, schedule, UTC

    def __str__(self) -> str:
        return f"{self.stored.get('trigger')}, which is not installed here"


class ForeignSchedule(InMicroseconds):
    """A schedule of the answers of `get_next_fire_time`; only for memory, since it can be kept nowhere else.

    The trigger is told its true previous fire, as APScheduler tells it: others can only be walked to from those known.
    """

    __slots__ = ("_known", "_trigger")

    def __init__(self, trigger: BaseTrigger, first: datetime | None = None) -> None:
        self._trigger = trigger
        self._known: list[int] = [] if first is None else [to_us(first)]  # the latest fires, in order

    def next_after_us(self, us: int) -> int | None:
        return self._around(us)[1]

    def last_at_or_before_us(self, us: int) -> int | None:
        return self._around(us)[0]

    def _around(self, us: int) -> tuple[int | None, int | None]:
        """The last fire at or before a moment, and the first after it."""
        last = begun_at = max((fire for fire in self._known if fire <= us), default=None)
        following = self._after(last, us)
        for _ in range(LONGEST_WALK):
            if following is None or following > us:
                break
            last, following = following, self._after(following, us)
        if begun_at is not None:
            self._known = sorted({*self._known, *(fire for fire in (last, following) if fire is not None)})[-KEPT:]
        return last, following

    def _after(self, previous: int | None, us: int) -> int | None:
        """An answer that does not come after the previous fire is none: the walk would never end."""
        before = None if previous is None else from_us(previous)
        found: datetime | None = self._trigger.get_next_fire_time(before, from_us(us))
        return None if found is None or (before is not None and found <= before) else to_us(found)

    def count_us(self, after: int, upto: int) -> Count:
        fires = 0
        moment = self.next_after_us(after)
        while moment is not None and moment <= upto:
            fires, moment = fires + 1, self.next_after_us(moment)
            if fires == LONGEST_WALK:
                return Count(fires, exact=False)
        return Count(fires)
