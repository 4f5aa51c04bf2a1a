"""What the records of a service become: columns, their types found in the first records and fixed from then on.

A member of a record is a column: true and false, whole numbers of 64 bits, other numbers, texts. What is an object or a
list is its JSON text: a service may add to it without changing the table. Where the first records differ, whole and
other numbers are numbers, an object or a list beside something else makes all of it JSON, and all else makes texts. A
column that is null in all of them is a text. Texts that look like moments stay texts, unless the job's `types` say
otherwise.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any, Final

LEAST: Final = -(2**63)
MOST: Final = 2**63 - 1
MOST_EXACT: Final = 2**53  # whole numbers up to here are numbers of 64 bits without loss
_LONGEST_SHOWN: Final = 60


class Kind(StrEnum):
    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    TEXT = "text"
    JSON = "json"
    TIMESTAMP = "timestamp"  # only where the job says so
    DATE = "date"


class Misfit(Exception):
    """Which column, what came, and what it should have been."""


class Columns:
    """Names and kinds, in the order in which they were first seen."""

    def __init__(self, types: Mapping[str, Kind], known: Mapping[str, Kind]) -> None:
        """`types` as the job has them, which rule; `known` from the last run, which are widened where they must be."""
        self._types = types
        self._kinds: dict[str, Kind | None] = {**known, **types}

    def see(self, records: Iterable[Mapping[str, Any]]) -> None:
        for record in records:
            for name, value in record.items():
                if name not in self._types:
                    self._kinds[name] = widened(self._kinds.get(name), kind_of(value))

    @property
    def kinds(self) -> Mapping[str, Kind]:
        return {name: kind or Kind.TEXT for name, kind in self._kinds.items()}


def kind_of(value: Any) -> Kind | None:
    """None for null, which fits all."""
    match value:
        case None:
            return None
        case bool():
            return Kind.BOOL
        case int():
            return Kind.INT if LEAST <= value <= MOST else Kind.TEXT
        case float():
            return Kind.FLOAT
        case str():
            return Kind.TEXT
        case _:
            return Kind.JSON


def widened(one: Kind | None, other: Kind | None) -> Kind | None:
    if one is None or other is None or one is other:
        return one or other
    both = {one, other}
    if both == {Kind.INT, Kind.FLOAT}:
        return Kind.FLOAT
    return Kind.JSON if Kind.JSON in both else Kind.TEXT


def fitted(name: str, value: Any, kind: Kind) -> Any:
    """As the column holds it; `Misfit` else."""
    if value is None:
        return None
    match kind:
        case Kind.TEXT:
            return _whole(name, value if isinstance(value, str) else _json(value))
        case Kind.JSON:
            return _whole(name, _json(value))
        case Kind.BOOL if isinstance(value, bool):
            return value
        case Kind.INT if isinstance(value, int) and not isinstance(value, bool) and LEAST <= value <= MOST:
            return value
        case Kind.FLOAT if isinstance(value, float):
            return value
        case Kind.FLOAT if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST_EXACT:
            return float(value)
        case Kind.TIMESTAMP | Kind.DATE if isinstance(value, str) and (found := _time(value, kind)):
            return found
    raise Misfit(f"{name!r} is {_shown(value)}, and the column is {kind.value}")


def _time(text: str, kind: Kind) -> datetime | date | None:
    try:
        if kind is Kind.DATE:
            return date.fromisoformat(text)
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _whole(name: str, text: str) -> str:
    """JSON may hold half a character, which no column can."""
    if not text.isascii() and not is_whole(text):
        raise Misfit(f"{name!r} is {_shown(text)}, and holds half a character")
    return text


def is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _shown(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=not is_whole(_json(value)))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
