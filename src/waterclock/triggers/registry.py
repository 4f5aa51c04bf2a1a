"""Triggers by name: our own, and those that other packages register as entry points."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from importlib.metadata import entry_points
from inspect import signature
from typing import Any, Final

from waterclock.triggers.base import BaseTrigger
from waterclock.triggers.calendarinterval import CalendarIntervalTrigger
from waterclock.triggers.combining import AndTrigger, OrTrigger
from waterclock.triggers.cron import CronTrigger
from waterclock.triggers.date import DateTrigger
from waterclock.triggers.interval import IntervalTrigger

TRIGGERS: Final[Mapping[str, type[BaseTrigger]]] = {
    "and": AndTrigger,
    "calendarinterval": CalendarIntervalTrigger,
    "cron": CronTrigger,
    "date": DateTrigger,
    "interval": IntervalTrigger,
    "or": OrTrigger,
}
# The second group is where packages for APScheduler 3 register theirs; our own names are never looked up there.
GROUPS: Final = ("waterclock.triggers", "apscheduler.triggers")


def trigger_class(alias: str) -> type[BaseTrigger]:
    """The class that a name stands for; LookupError when nobody has registered it."""
    if (own := TRIGGERS.get(alias)) is not None:
        return own
    for group in GROUPS:
        for entry in entry_points(group=group, name=alias):
            return _checked(alias, entry.load())
    raise LookupError(f'No trigger by the name "{alias}" was found')


def create_trigger(
    trigger: BaseTrigger | str | None, options: Mapping[str, Any], timezone: tzinfo | str | None = None
) -> BaseTrigger:
    """A trigger as it is given (then without options), or made from its name; none at all means `date`.

    `timezone` is for triggers that take one and were given none.
    """
    if isinstance(trigger, BaseTrigger) or callable(getattr(trigger, "get_next_fire_time", None)):
        return trigger  # type: ignore[return-value]  # a trigger written for APScheduler has the method, not the class
    if trigger is not None and not isinstance(trigger, str):
        raise TypeError(f"Expected a trigger instance or string, got {type(trigger).__name__} instead")
    made = trigger_class(trigger or "date")
    takes_zone = timezone is not None and "timezone" in signature(made).parameters
    return made(**({"timezone": timezone} if takes_zone else {}) | dict(options))


def _checked(alias: str, loaded: object) -> type[BaseTrigger]:
    if isinstance(loaded, type) and callable(getattr(loaded, "get_next_fire_time", None)):
        return loaded
    raise TypeError(f'The trigger "{alias}" is registered as {loaded!r}, which is no class with get_next_fire_time')
