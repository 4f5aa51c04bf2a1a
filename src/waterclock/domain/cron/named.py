"""Reading fields that are given by name, all of which must match: year, month, day, ISO week, weekday, hour …

The language is that of APScheduler 3: Monday is 0, weekdays and months have names, and a day may also be `last`,
`2nd fri` or `last mon`. Every text is also written back in one form, so that equal fields read alike.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from waterclock.domain.cron.calendar import ALL_YEARS, CronDays, year_bit
from waterclock.domain.cron.days import Both, DayRule, Either, FromEnd, LastWeekday, NthWeekday, Numbered, Weekdays
from waterclock.domain.cron.fields import MAX_LENGTH, MONTH_NAMES, WEEKDAY_NAMES, Field
from waterclock.domain.cron.months import LAST_YEAR
from waterclock.domain.cron.search import Days, Wall
from waterclock.domain.cron.times import Times
from waterclock.domain.cron.weeks import InWeeks

_MONDAY_FIRST: Final = {name: (number - 1) % 7 for number, name in enumerate(WEEKDAY_NAMES)}
FIELDS: Final = {
    "year": Field(name="year", low=1970, high=9999, wraps=False),
    "month": Field(name="month", low=1, high=12, wraps=False, names=MONTH_NAMES),
    "day": Field(name="day", low=1, high=31, wraps=False),
    "week": Field(name="week", low=1, high=53, wraps=False),
    "day_of_week": Field(name="day_of_week", low=0, high=6, wraps=False, names=_MONDAY_FIRST),
    "hour": Field(name="hour", low=0, high=23, wraps=False),
    "minute": Field(name="minute", low=0, high=59, wraps=False),
    "second": Field(name="second", low=0, high=59, wraps=False),
}
NAMES: Final = tuple(FIELDS)

_COMMA: Final = re.compile(" *, *")
_ALL: Final = re.compile(r"\*(?:/([0-9]+))?", re.ASCII)
_NUMBERS: Final = re.compile(r"([0-9]+)(?:-([0-9]+))?(?:/([0-9]+))?", re.ASCII)
_WORDS: Final = re.compile(r"([a-z]+)(?:-([a-z]+))?", re.ASCII | re.IGNORECASE)
_PLACE: Final = re.compile(r"(1st|2nd|3rd|4th|5th|last) +([a-z]+)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a list: how it is written back, and the numbers or the day of the month that it means."""

    text: str
    numbers: range = range(0)
    day: DayRule | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """The fields read: their local times, and their texts in the order of NAMES."""

    wall: Wall
    texts: tuple[str, ...]


@lru_cache(maxsize=4096)
def parse_named(texts: tuple[str, ...]) -> Named:
    """The local times at which all eight fields (in the order of NAMES) match; BadSchedule for what cannot be read."""
    items = {name: _items(FIELDS[name], text) for name, text in zip(NAMES, texts, strict=True)}
    masks = {name: _mask(number for item in found for number in item.numbers) for name, found in items.items()}
    times = Times(hours=masks["hour"], minutes=masks["minute"], seconds=masks["second"])
    written = tuple(",".join(item.text for item in items[name]) for name in NAMES)
    return Named(Wall(days=_days(items, masks), times=times), written)


def _days(items: dict[str, list[Item]], masks: dict[str, int]) -> Days:
    days: tuple[DayRule, ...] = (Numbered(masks["day"] >> 1), *(item.day for item in items["day"] if item.day))
    weekdays = Weekdays(_mask((number + 1) % 7 for number in range(7) if masks["day_of_week"] >> number & 1))
    found = CronDays(
        rule=Both((Either(days), weekdays)),
        months=masks["month"] >> 1,
        years=_years(items["year"]),
    )
    if any(item.text == "*" for item in items["week"]):
        return found
    return InWeeks(days=found, weeks=masks["week"])


def _years(items: list[Item]) -> int:
    """Schedules end before 2200: later years are no error, but nothing is sought there."""
    if any(item.text == "*" for item in items):
        return ALL_YEARS
    years = {year for item in items for year in item.numbers if year <= LAST_YEAR}
    return sum(year_bit(year) for year in years)


def _items(field: Field, text: str) -> list[Item]:
    if len(text) > MAX_LENGTH:
        field.refuse(text, text, f"is longer than {MAX_LENGTH} characters")
    return [_item(field, text, item) for item in _COMMA.split(text.strip())]


def _item(field: Field, text: str, item: str) -> Item:
    if match := _ALL.fullmatch(item):
        return _stepped(field, text, item, "*", (field.low, field.high), match[1])
    if match := _NUMBERS.fullmatch(item):
        return _range(field, text, item, *match.groups())
    if field.name == "day" and (day := _day(text, item)):
        return day
    if field.names and (match := _WORDS.fullmatch(item)):
        return _words(field, text, item, match[1], match[2] or match[1])
    return field.refuse(text, item, _forms(field))


def _range(field: Field, text: str, item: str, low_text: str, high_text: str | None, step: str | None) -> Item:
    low = field.number(text, low_text)
    high = field.number(text, high_text) if high_text else field.high if step else low
    if high < low:
        field.refuse(text, item, "the range runs backwards")
    shown = f"{low}-{high}" if high_text and high != low else f"{low}"
    return _stepped(field, text, item, shown, (low, high), step)


def _stepped(field: Field, text: str, item: str, shown: str, ends: tuple[int, int], step_text: str | None) -> Item:
    low, high = ends
    if step_text is None:
        return Item(shown, range(low, high + 1))
    most = high - low
    if len(step_text) > 4 or not 1 <= int(step_text) <= most:
        field.refuse(text, item, f"the step must be 1–{most}, the length of its range" if most else "has no steps")
    return Item(f"{shown}/{int(step_text)}", range(low, high + 1, int(step_text)))


def _words(field: Field, text: str, item: str, first: str, last: str) -> Item:
    low, high = field.number(text, first), field.number(text, last)
    if high < low:
        field.refuse(text, item, "the range runs backwards")
    shown = first.lower() if low == high else f"{first}-{last}".lower()
    return Item(shown, range(low, high + 1))


def _day(text: str, item: str) -> Item | None:
    if item.lower() == "last":
        return Item("last", day=FromEnd())
    match = _PLACE.fullmatch(item)
    if match is None:
        return None
    weekday = (FIELDS["day_of_week"].number(text, match[2]) + 1) % 7
    place, shown = match[1].lower(), f"{match[1]} {match[2]}".lower()
    return Item(shown, day=LastWeekday(weekday) if place == "last" else NthWeekday(weekday, int(place[0])))


def _forms(field: Field) -> str:
    forms = f"must be *, */2, {field.low}–{field.high}, a range such as 1-5 or 1-5/2, or a list of these"
    if field.name == "day":
        return f"{forms}; or last, 2nd fri, last mon"
    return f"{forms}; or a name such as {min(field.names).lower()} without a step" if field.names else forms


def _mask(values: Iterable[int]) -> int:
    return sum(1 << value for value in set(values))
