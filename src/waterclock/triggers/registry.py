"""Triggers by name: our own, and those that other packages register as entry points."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from functools import cache
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


def registered_name(made: type[BaseTrigger]) -> str | None:
    """The name under which another package has registered this very class."""
    for group in GROUPS:
        for entry in entry_points(group=group):
            if entry.value == f"{made.__module__}:{made.__qualname__}":
                return entry.name
    return None


def create_trigger(
    trigger: BaseTrigger | str | None, options: Mapping[str, Any], timezone: tzinfo | str | None = None
) -> BaseTrigger:
    """A trigger as it is given (then without options), or made from its name; none at all means `date`.

    `timezone` is for triggers that take one and were given none.
    """
    if trigger is None and not options:
        return DateTrigger(timezone=timezone)
    if isinstance(trigger, BaseTrigger) or callable(getattr(trigger, "get_next_fire_time", None)):
        return trigger  # type: ignore[return-value]  # a trigger written for APScheduler has the method, not the class
    if trigger is not None and not isinstance(trigger, str):
        raise TypeError(f"Expected a trigger instance or string, got {type(trigger).__name__} instead")
    made = trigger_class(trigger or "date")
    takes_zone = timezone is not None and _takes_zone(made)
    try:
        return made(**({"timezone": timezone} if takes_zone else {}) | dict(options))
    except TypeError:
        _check_options(trigger or "date", made, options)
        raise


def _check_options(name: str, made: type[BaseTrigger], options: Mapping[str, Any]) -> None:
    """TypeError that says what there is instead: what add_job does not know is taken for the trigger's, too."""
    known = signature(made).parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in known.values())
    if not takes_any and (unknown := [each for each in options if each not in known]):
        raise TypeError(f'The trigger "{name}" has no option {", ".join(unknown)}: it has {", ".join(known)}') from None


@cache
def _takes_zone(made: type[BaseTrigger]) -> bool:
    return "timezone" in signature(made).parameters


def _checked(alias: str, loaded: object) -> type[BaseTrigger]:
    if isinstance(loaded, type) and callable(getattr(loaded, "get_next_fire_time", None)):
        return loaded
    raise TypeError(f'The trigger "{alias}" is registered as {loaded!r}, which is no class with get_next_fire_time')
