"""Triggers combined: the moments that several share (`and`), or those of any of them (`or`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from waterclock.domain.schedule import Combined, How
from waterclock.triggers.base import BaseTrigger, ScheduleTrigger, as_value_errors, jittered, new_seed


class BaseCombiningTrigger(ScheduleTrigger):
    __slots__ = ("_seed", "jitter", "triggers")

    how: ClassVar[How]

    triggers: list[ScheduleTrigger]
    jitter: float | None

    def __init__(self, triggers: Sequence[BaseTrigger], jitter: float | None = None) -> None:
        self._set(triggers=list(triggers), jitter=jitter, seed=new_seed())

    def _set(self, *, triggers: Sequence[BaseTrigger], jitter: float | None, seed: str) -> None:
        self.triggers = [_with_schedule(trigger) for trigger in triggers]
        self.jitter, self._seed = jitter, seed
        with as_value_errors():
            combined = Combined(how=self.how, schedules=tuple(trigger.schedule for trigger in self.triggers))
            self.schedule = jittered(combined, jitter, seed)
        self.timezone = self.triggers[0].timezone

    def __getstate__(self) -> dict[str, Any]:
        return {"triggers": self.triggers, "jitter": self.jitter, "seed": self._seed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    def __repr__(self) -> str:
        jitter = f", jitter={self.jitter}" if self.jitter else ""
        return f"<{type(self).__name__}({self.triggers}{jitter})>"


class AndTrigger(BaseCombiningTrigger):
    """Fires when all the triggers fire at the same moment, and no more once one of them has ended.

    Triggers that do not meet within 10,000 steps are taken never to meet.
    """

    __slots__ = ()

    how = How.ALL

    def __str__(self) -> str:
        return f"and[{', '.join(map(str, self.triggers))}]"


class OrTrigger(BaseCombiningTrigger):
    """Fires when any of the triggers fires, and no more once all of them have ended."""

    __slots__ = ()

    how = How.ANY

    def first_us(self, now: int) -> int | None:
        """A date that has passed is the first answer here too, as it is of the date trigger itself."""
        firsts = [first for trigger in self.triggers if (first := trigger.first_us(now)) is not None]
        return self.schedule.next_after_us(min(*firsts, now) - 1) if firsts else None

    def __str__(self) -> str:
        return f"or[{', '.join(map(str, self.triggers))}]"


def _with_schedule(trigger: BaseTrigger) -> ScheduleTrigger:
    if isinstance(trigger, ScheduleTrigger):
        return trigger
    raise TypeError(f"{trigger!r} has no schedule: only triggers that are a ScheduleTrigger can be combined")
