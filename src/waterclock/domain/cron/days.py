"""Which days of a month a rule means: days by number, from the end, nearest weekday, by weekday, n-th weekday.

Each rule answers for a *shape* of month (its first weekday, Sunday = 0, and its length) with a mask: bit 0 is the 1st.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol


class DayRule(Hashable, Protocol):
    def in_month(self, first_weekday: int, length: int) -> int: ...


@dataclass(frozen=True, slots=True)
class Numbered:
    """`1,15`: days by number; bit 0 is the 1st."""

    days: int

    def in_month(self, first_weekday: int, length: int) -> int:
        return self.days & ((1 << length) - 1)


@dataclass(frozen=True, slots=True)
class FromEnd:
    """`L`, `L-3`: so many days before the last; a month too short for it has none."""

    before: int = 0

    def in_month(self, first_weekday: int, length: int) -> int:
        return 1 << (length - 1 - self.before) if self.before < length else 0


@dataclass(frozen=True, slots=True)
class Nearest:
    """`15W`, `LW`, `L-3W`: the weekday (Monday to Friday) nearest to the day, in the same month."""

    day: Numbered | FromEnd

    def in_month(self, first_weekday: int, length: int) -> int:
        place = self.day.in_month(first_weekday, length).bit_length() - 1
        if place < 0:
            return 0
        weekday = (first_weekday + place) % 7
        if weekday == 6:
            place += 2 if place == 0 else -1
        elif weekday == 0:
            place += -2 if place == length - 1 else 1
        return 1 << place


@dataclass(frozen=True, slots=True)
class Weekdays:
    """`MON-FRI`: days by weekday; bit 0 is Sunday."""

    weekdays: int

    def in_month(self, first_weekday: int, length: int) -> int:
        weeks = self.weekdays * 0x810204081 >> first_weekday
        return weeks & ((1 << length) - 1)


@dataclass(frozen=True, slots=True)
class NthWeekday:
    """`6#3`: the n-th such weekday; months without a fifth have none."""

    weekday: int
    nth: int

    def in_month(self, first_weekday: int, length: int) -> int:
        place = (self.weekday - first_weekday) % 7 + 7 * (self.nth - 1)
        return 1 << place if place < length else 0


@dataclass(frozen=True, slots=True)
class LastWeekday:
    """`6L`: the last such weekday of the month."""

    weekday: int

    def in_month(self, first_weekday: int, length: int) -> int:
        last = (first_weekday + length - 1) % 7
        return 1 << (length - 1 - (last - self.weekday) % 7)


@dataclass(frozen=True, slots=True)
class Either:
    """crontab's rule: where day of month and weekday are both restricted, a day that meets one of them will do."""

    rules: tuple[DayRule, ...]

    def in_month(self, first_weekday: int, length: int) -> int:
        found = 0
        for rule in self.rules:
            found |= rule.in_month(first_weekday, length)
        return found


@dataclass(frozen=True, slots=True)
class Both:
    rules: tuple[DayRule, ...]

    def in_month(self, first_weekday: int, length: int) -> int:
        found = (1 << length) - 1
        for rule in self.rules:
            found &= rule.in_month(first_weekday, length)
        return found
