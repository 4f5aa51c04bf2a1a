"""Schedules as JSON and back: a closed union, told apart by `kind`, for stores to keep."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule.base import Fold, Gap, Schedule
from waterclock.domain.schedule.bounded import Bounded
from waterclock.domain.schedule.calendar import Calendar, Unit
from waterclock.domain.schedule.combined import Combined, How
from waterclock.domain.schedule.cron import Cron
from waterclock.domain.schedule.every import Every
from waterclock.domain.schedule.excluding import Excluding
from waterclock.domain.schedule.fielded import NAMES, Fielded
from waterclock.domain.schedule.jittered import Jittered
from waterclock.domain.schedule.moment import from_us, span_us, to_us
from waterclock.domain.schedule.once import Once
from waterclock.domain.schedule.stepped import Stepped

Json = dict[str, Any]
DEEPEST: Final = 20


def to_json(schedule: Schedule) -> Json:
    match schedule:
        case Once(at=at):
            return {"kind": "once", "at": to_us(at)}
        case Every(interval=interval, anchor=anchor):
            return {"kind": "every", "interval": span_us(interval), "anchor": to_us(anchor)}
        case Cron():
            return {"kind": "cron", "expression": schedule.expression} | _zone_to_json(schedule)
        case Fielded():
            return {"kind": "fielded"} | {name: getattr(schedule, name) for name in NAMES} | _zone_to_json(schedule)
        case Calendar():
            return _calendar_to_json(schedule)
        case Stepped():
            return _stepped_to_json(schedule)
        case Combined(how=how, schedules=schedules):
            return {"kind": "combined", "how": how.value, "schedules": [to_json(each) for each in schedules]}
        case Bounded(schedule=inner, start=start, end=end):
            return {"kind": "bounded", "start": _us(start), "end": _us(end), "schedule": to_json(inner)}
        case Jittered(schedule=inner, most=most, seed=seed, end=end):
            kept: Json = {"kind": "jittered", "most": span_us(most), "seed": seed, "schedule": to_json(inner)}
            return kept if end is None else kept | {"end": to_us(end)}
        case Excluding(schedule=inner, dates=dates, timezone=timezone):
            days = sorted(day.isoformat() for day in dates)
            return {"kind": "excluding", "dates": days, "timezone": timezone, "schedule": to_json(inner)}
    raise InvalidInput(f"{type(schedule).__name__} cannot be kept as JSON", field="schedule")


def from_json(data: Mapping[str, Any]) -> Schedule:
    """The schedule that `to_json` wrote; InvalidInput (or BadSchedule) for anything else."""
    return _read(data, DEEPEST)


def _read(data: Mapping[str, Any], depth: int) -> Schedule:
    try:
        reader = READERS[data["kind"]]
        if depth == 0:
            raise ValueError("nested too deep")
        return reader(data, depth - 1)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidInput(f"is not a stored schedule: {error!r}", field="schedule") from error


def _once(data: Mapping[str, Any], depth: int) -> Schedule:
    return Once(at=from_us(data["at"]))


def _every(data: Mapping[str, Any], depth: int) -> Schedule:
    return Every(interval=timedelta(microseconds=data["interval"]), anchor=from_us(data["anchor"]))


def _cron(data: Mapping[str, Any], depth: int) -> Schedule:
    return Cron(expression=data["expression"], **_zone_from_json(data))


def _fielded(data: Mapping[str, Any], depth: int) -> Schedule:
    return Fielded(**{name: data[name] for name in NAMES}, **_zone_from_json(data))


def _calendar(data: Mapping[str, Any], depth: int) -> Schedule:
    return Calendar(
        unit=Unit(data["unit"]),
        every=data["every"],
        at=time.fromisoformat(data["at"]),
        on=tuple(data["on"]),
        anchor=date.fromisoformat(data["anchor"]),
        **_zone_from_json(data),
    )


def _stepped(data: Mapping[str, Any], depth: int) -> Schedule:
    return Stepped(
        months=data["months"],
        days=data["days"],
        at=time.fromisoformat(data["at"]),
        anchor=date.fromisoformat(data["anchor"]),
        **_zone_from_json(data),
    )


def _combined(data: Mapping[str, Any], depth: int) -> Schedule:
    return Combined(how=How(data["how"]), schedules=tuple(_read(each, depth) for each in data["schedules"]))


def _bounded(data: Mapping[str, Any], depth: int) -> Schedule:
    return Bounded(schedule=_read(data["schedule"], depth), start=_moment(data["start"]), end=_moment(data["end"]))


def _jittered(data: Mapping[str, Any], depth: int) -> Schedule:
    most = timedelta(microseconds=data["most"])
    end = _moment(data.get("end"))
    return Jittered(schedule=_read(data["schedule"], depth), most=most, seed=data["seed"], end=end)


def _excluding(data: Mapping[str, Any], depth: int) -> Schedule:
    dates = frozenset(date.fromisoformat(day) for day in data["dates"])
    return Excluding(schedule=_read(data["schedule"], depth), dates=dates, timezone=data["timezone"])


def _calendar_to_json(schedule: Calendar) -> Json:
    return {
        "kind": "calendar",
        "unit": schedule.unit.value,
        "every": schedule.every,
        "at": schedule.at.isoformat(),
        "on": list(schedule.on),
        "anchor": schedule.anchor.isoformat(),
    } | _zone_to_json(schedule)


def _stepped_to_json(schedule: Stepped) -> Json:
    return {
        "kind": "stepped",
        "months": schedule.months,
        "days": schedule.days,
        "at": schedule.at.isoformat(),
        "anchor": schedule.anchor.isoformat(),
    } | _zone_to_json(schedule)


def _zone_to_json(schedule: Cron | Fielded | Calendar | Stepped) -> Json:
    return {"timezone": schedule.timezone, "gap": schedule.gap.value, "fold": schedule.fold.value}


def _zone_from_json(data: Mapping[str, Any]) -> Json:
    return {"timezone": data["timezone"], "gap": Gap(data["gap"]), "fold": Fold(data["fold"])}


def _us(moment: datetime | None) -> int | None:
    return None if moment is None else to_us(moment)


def _moment(us: int | None) -> datetime | None:
    return None if us is None else from_us(us)


READERS: Final[dict[str, Callable[[Mapping[str, Any], int], Schedule]]] = {
    "once": _once,
    "every": _every,
    "cron": _cron,
    "fielded": _fielded,
    "calendar": _calendar,
    "stepped": _stepped,
    "combined": _combined,
    "bounded": _bounded,
    "jittered": _jittered,
    "excluding": _excluding,
}
