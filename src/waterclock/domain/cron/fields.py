"""The fields of a cron expression: their names, limits and words, and how a list of values in one is read."""

from dataclasses import dataclass, field
from typing import Final, NoReturn

from waterclock.domain.errors import BadSchedule

MAX_LENGTH: Final = 1_000
SHOWN: Final = 80

_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
MONTH_NAMES: Final = {name: number for number, name in enumerate(_MONTHS, start=1)}
WEEKDAY_NAMES: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
WEEKDAYS_FROM_0: Final = {name: number for number, name in enumerate(WEEKDAY_NAMES)}
WEEKDAYS_FROM_1: Final = {name: number for number, name in enumerate(WEEKDAY_NAMES, start=1)}


def shorten(text: object) -> str:
    shown = text if isinstance(text, str) else repr(text)
    return shown if len(shown) <= SHOWN else shown[:SHOWN] + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a dialect. `open_end` is where `*` and `5/10` end, `wraps` whether `22-2` is a range."""

    name: str
    low: int
    high: int
    wraps: bool
    names: dict[str, int] = field(default_factory=dict, hash=False)
    open_end: int | None = None
    sunday_may_end: bool = False

    @property
    def last(self) -> int:
        return self.high if self.open_end is None else self.open_end

    def values(self, expression: str, text: str) -> list[int]:
        """The values that a list such as `1,10-20/5,*/15` names, in the order written, doubles included."""
        found: list[int] = []
        for item in text.split(","):
            found += self._item(expression, item)
        return found

    def number(self, expression: str, text: str) -> int:
        if (named := self.names.get(text.upper())) is not None:
            return named
        if not (text.isascii() and text.isdigit()):
            self.refuse(expression, text, f"must be {self.low}–{self.high}" + (" or a name" if self.names else ""))
        if len(text) > 4 or not self.low <= int(text) <= self.high:
            self.refuse(expression, text, f"must be {self.low}–{self.high}")
        return int(text)

    def refuse(self, expression: str, value: str, reason: str) -> NoReturn:
        raise BadSchedule(shorten(expression), reason, part=self.name, value=shorten(value))

    def _item(self, expression: str, item: str) -> range | list[int]:
        span, slash, step_text = item.partition("/")
        step = self._step(expression, item, step_text) if slash else 1
        if span == "*" or (slash and not span):
            return range(self.low, self.last + 1, step)
        low_text, dash, high_text = span.partition("-")
        low = self.number(expression, low_text)
        if not dash:
            return range(low, max(low, self.last) + 1, step) if slash else [low]
        return self._range(expression, item, low, self.number(expression, high_text), step)

    def _range(self, expression: str, item: str, low: int, high: int, step: int) -> range | list[int]:
        if high == 0 < low and self.sunday_may_end:
            high = 7
        if low <= high:
            return range(low, high + 1, step)
        if not self.wraps:
            self.refuse(expression, item, "the range runs backwards")
        size = self.high - self.low + 1
        return [(value - self.low) % size + self.low for value in range(low, high + size + 1, step)]

    def _step(self, expression: str, item: str, text: str) -> int:
        if not (text.isascii() and text.isdigit()) or len(text) > 4 or not 1 <= int(text) <= self.high:
            self.refuse(expression, item, f"the step must be 1–{self.high}")
        return int(text)
