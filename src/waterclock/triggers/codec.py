"""Triggers as JSON and back, for stores to keep: a trigger's name and what was declared for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from enum import Enum
from typing import Any, Final
from zoneinfo import ZoneInfoNotFoundError

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule import Fold, Gap
from waterclock.domain.schedule.codec import DEEPEST
from waterclock.domain.schedule.moment import span_us
from waterclock.triggers.base import BaseTrigger, ScheduleTrigger
from waterclock.triggers.registry import TRIGGERS, registered_name, trigger_class
from waterclock.triggers.zones import zone_name, zone_of

Json = dict[str, Any]
NAMES: Final = {made: name for name, made in TRIGGERS.items()}


def to_json(trigger: BaseTrigger) -> Json:
    """What `from_json` reads back; InvalidInput for one that is neither ours nor a registered `ScheduleTrigger`."""
    if isinstance(trigger, ScheduleTrigger) and (name := NAMES.get(type(trigger)) or registered_name(type(trigger))):
        return {"trigger": name} | {key: _write(value) for key, value in trigger.__getstate__().items()}
    raise InvalidInput(f"{type(trigger).__name__} cannot be kept as JSON", field="trigger")


def from_json(data: Mapping[str, Any]) -> ScheduleTrigger:
    return _read(data, DEEPEST)


def _read(data: Mapping[str, Any], depth: int) -> ScheduleTrigger:
    try:
        if depth == 0:
            raise ValueError("nested too deep")
        made = trigger_class(data["trigger"])
        trigger = made.__new__(made)
        assert isinstance(trigger, ScheduleTrigger)
        trigger.__setstate__({key: _value(key, kept, depth) for key, kept in data.items() if key != "trigger"})
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, ZoneInfoNotFoundError) as error:
        raise InvalidInput(f"is not a stored trigger: {error!r}", field="trigger") from error
    return trigger


def _write(value: object) -> object:
    match value:
        case datetime():
            return f"{value.isoformat()}[{zone_name(zone_of(value.tzinfo or 'UTC'))}]"
        case date() | time():
            return value.isoformat()
        case timedelta():
            return span_us(value)
        case tzinfo():
            return zone_name(value)
        case Enum():
            return value.value
        case list() | tuple():
            return [_write(each) for each in value]
        case ScheduleTrigger():
            return to_json(value)
    return value


def _value(key: str, kept: Any, depth: int) -> object:
    match key, kept:
        case "run_date" | "start_date" | "end_date", str():
            return _moment(kept) if kept.endswith("]") else date.fromisoformat(kept)
        case "interval", int():
            return timedelta(microseconds=kept)
        case "interval", list():
            return tuple(kept)
        case "time", str():
            return time.fromisoformat(kept)
        case "timezone", str():
            return zone_of(kept)
        case "gap", _:
            return Gap(kept)
        case "fold", _:
            return Fold(kept)
        case "triggers", list():
            return [_read(each, depth - 1) for each in kept]
    return kept


def _moment(text: str) -> datetime:
    """`2026-11-15T12:00:00+01:00[Europe/Berlin]`: the moment by its offset, and the zone that it is shown in."""
    moment, _, zone = text.removesuffix("]").partition("[")
    return datetime.fromisoformat(moment).astimezone(zone_of(zone))
