"""`schedule_time` of a lake job: what its classes mean as schedules, each value refused with its place.

A grid is anchored at start_time, and its first run is at or after it. Without one it is anchored at the moment of the
call, which is over when it is stored: the first run is one distance later. Minutes and hours are elapsed time; days,
weeks and months are those of the zone, with the usual policy where its clocks change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final

from waterclock.domain.errors import BadSchedule, InvalidInput
from waterclock.domain.moment import SECOND, Moment
from waterclock.domain.schedule import Bounded, Calendar, Every, Once, Schedule, Unit, from_us, parse_schedule
from waterclock.domain.schedule.calendar import MOST
from waterclock.domain.schedule.moment import END, FIRST
from waterclock.domain.schedule.zone import find_zone

FIELD: Final = "schedule_time"
MILLISECOND: Final = 1_000
MOST_MINUTES: Final = 1_000_000
MOST_HOURS: Final = 100_000

# As java.time.DayOfWeek has them, which is what clients of the seed's product send: 1 is Monday.
_DAYS: Final = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_NUMBERS: Final = {
    **{name: number for number, name in enumerate(_DAYS, 1)},
    **{name[:3]: number for number, name in enumerate(_DAYS, 1)},
}
# Of what recurs at a distance: its minutes, and how many of them at most.
_DISTANCES: Final = {
    "schedule_minutely": (1, MOST_MINUTES),
    "schedule_hourly": (60, MOST_HOURS),
    "schedule_daily": (1_440, MOST),
    "schedule_weekly": (10_080, MOST),
}


def schedule_of(given: Mapping[str, object], *, timezone: str, now: Moment) -> Schedule | None:
    """None for `none_schedule`. `timezone` is that of a schedule_time which names none; fields that no class has are
    passed over."""
    return _READERS[_class_of(given)](_Given(values=given, default_timezone=timezone, now=now))


def every_minutes(given: Mapping[str, object]) -> int | None:
    """Between two runs; None where there is no such distance. Of a week it is the week's, however many its days."""
    distance = _DISTANCES.get(_class_of(given))
    if distance is None:
        return None
    minutes, most = distance
    return minutes * _Given(values=given).whole("recur_every", 1, most)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """One schedule_time, read by name; null is as good as not given."""

    values: Mapping[str, object]
    default_timezone: str = "UTC"
    now: Moment = 0

    def whole(self, name: str, least: int, most: int, default: int | None = None) -> int:
        value = self._required(name) if default is None else self._value(name, default)
        return _whole(name, value, least, most)

    def words(self, name: str) -> str:
        value = self._required(name)
        if not isinstance(value, str):
            raise _refused(name, "must be text", value)
        return value

    def moment(self, name: str) -> Moment:
        value, last = self._required(name), END // MILLISECOND - 1
        if not isinstance(value, int) or isinstance(value, bool) or not FIRST <= value <= last:
            raise _refused(name, f"must be milliseconds since 1970, a whole number from 0 to {last}", value)
        return value * MILLISECOND

    @property
    def is_anchored(self) -> bool:
        return self._value("start_time") is not None

    def start(self) -> Moment:
        return self.moment("start_time") if self.is_anchored else self.now

    def first_second(self) -> Moment:
        """Calendars know whole seconds: the first that is not before the start."""
        return -(-self.start() // SECOND) * SECOND

    def timezone(self) -> str:
        name = self._value("timezone", self.default_timezone)
        if not isinstance(name, str):
            raise _refused("timezone", "must be text", name)
        try:
            return find_zone(name).name
        except BadSchedule:
            raise _refused("timezone", f"no such time zone: {name[:64]!r}; Europe/Berlin is one", name) from None

    def local(self, moment: Moment) -> datetime:
        return from_us(moment).astimezone(find_zone(self.timezone()).info)

    def time_of_day(self) -> time:
        hour, minute = self.whole("at_hour", 0, 23), self.whole("at_minute", 0, 59, default=0)
        return time(hour, minute, self.whole("at_second", 0, 59, default=0))

    def several(self, name: str, each: Callable[[str, object], int], what: str) -> tuple[int, ...]:
        value = self._required(name)
        if not isinstance(value, list | tuple):
            raise _refused(name, f"must be a list of {what}", value)
        if not value:
            raise _refused(name, "must name at least one day", value)
        return tuple(sorted({each(f"{name}[{place}]", item) for place, item in enumerate(value)}))

    def _required(self, name: str) -> object:
        if (value := self._value(name)) is None:
            raise _refused(name, "is required")
        return value

    def _value(self, name: str, default: object = None) -> object:
        value = self.values.get(name)
        return default if value is None else value


def _none(given: _Given) -> None:
    return None


def _once(given: _Given) -> Schedule:
    """One that is in the past runs now."""
    given.timezone()  # as below: it changes nothing, but must be one
    return Once(at=from_us(max(given.moment("start_time"), given.now)))


def _elapsed(name: str) -> Callable[[_Given], Schedule]:
    minutes, most = _DISTANCES[name]

    def read(given: _Given) -> Schedule:
        given.timezone()  # it changes nothing here, and a wrong one is wrong all the same
        interval = timedelta(minutes=minutes * given.whole("recur_every", 1, most))
        return Every(interval=interval, anchor=from_us(given.start()))

    return read


def _daily(given: _Given) -> Schedule:
    anchor = given.first_second()
    at = given.local(anchor).time().replace(fold=0)
    start = anchor if given.is_anchored else anchor + SECOND
    return _on_calendar(given, Unit.DAYS, every=given.whole("recur_every", 1, MOST), at=at, start=start)


def _weekly(given: _Given) -> Schedule:
    days = given.several("include_days", _weekday, "days: MONDAY to SUNDAY, or 1 (Monday) to 7")
    return _on_calendar(given, Unit.WEEKS, every=given.whole("recur_every", 1, MOST), at=given.time_of_day(), on=days)


def _monthly(given: _Given) -> Schedule:
    days = given.several("recur_on_days", _day_of_month, "days, 1 to 31")
    return _on_calendar(
        given, Unit.MONTHS, every=given.whole("recur_every_month", 1, MOST), at=given.time_of_day(), on=days
    )


def _on_calendar(
    given: _Given, unit: Unit, *, every: int, at: time, on: tuple[int, ...] = (), start: Moment | None = None
) -> Schedule:
    first = given.first_second()
    anchor = given.local(first).date()
    grid = Calendar(unit=unit, every=every, at=at, on=on, anchor=anchor, timezone=given.timezone())
    return Bounded(schedule=grid, start=from_us(first if start is None else start))


def _cron(given: _Given) -> Schedule:
    expression, timezone = given.words("expression"), given.timezone()
    try:
        return parse_schedule(expression, timezone=timezone, start=from_us(given.start()))
    except BadSchedule as error:
        raise _refused("expression", str(error), expression) from error


def _weekday(field: str, value: object) -> int:
    number = _NUMBERS.get(value.upper()) if isinstance(value, str) else value
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= 7:
        raise _refused(field, "must be a day, MONDAY to SUNDAY, or its number, 1 (Monday) to 7 (Sunday)", value)
    return number


def _day_of_month(field: str, value: object) -> int:
    return _whole(field, value, 1, 31)


def _whole(name: str, value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _refused(name, f"must be a whole number, {least} to {most}", value)
    return value


def _class_of(given: Mapping[str, object]) -> str:
    known = ", ".join(_READERS)
    name = given.get("class_name")
    if name is None:
        raise _refused("class_name", f"is required, one of {known}")
    if not isinstance(name, str) or name not in _READERS:
        raise _refused("class_name", f"must be one of {known}", name)
    return name


def _refused(name: str, reason: str, value: object = None) -> InvalidInput:
    return InvalidInput(reason, field=f"{FIELD}.{name}", value=value)


_READERS: Final[Mapping[str, Callable[[_Given], Schedule | None]]] = {
    "none_schedule": _none,
    "schedule_once": _once,
    "schedule_minutely": _elapsed("schedule_minutely"),
    "schedule_hourly": _elapsed("schedule_hourly"),
    "schedule_daily": _daily,
    "schedule_weekly": _weekly,
    "schedule_monthly": _monthly,
    "schedule_cron": _cron,
}
