"""Reading what was sent: every field by its reader, an unknown one refused by name, nothing converted in silence."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, datetime
from enum import Enum
from typing import Any, Final, TypeVar

from waterclock.domain.errors import InvalidInput
from waterclock.faces.iso import from_iso

T = TypeVar("T")
E = TypeVar("E", bound=Enum)
Reader = Callable[[str, object], Any]
Fields = Mapping[str, Reader]

NAME_LENGTH: Final = 255
MOST_SECONDS: Final = 2**31 - 1


def read(data: object, fields: Fields, *, required: Collection[str] = (), within: str = "") -> dict[str, Any]:
    """The given fields as their readers make them; null is as good as not given."""
    if not isinstance(data, dict):
        raise InvalidInput("must be a JSON object", field=within.rstrip(".") or None)
    for name in data:
        if name not in fields:
            known = ", ".join(sorted(fields)) or "none"
            raise InvalidInput(f"unknown field; known here: {known}", field=f"{within}{name}"[:NAME_LENGTH])
    given = {name: value for name, value in data.items() if value is not None}
    for name in required:
        if name not in given:
            raise InvalidInput("is required", field=f"{within}{name}")
    return {name: fields[name](f"{within}{name}", value) for name, value in given.items()}


def text(most: int = NAME_LENGTH, least: int = 1) -> Reader:
    def reader(field: str, value: object) -> str:
        if not isinstance(value, str):
            raise InvalidInput("must be text", field=field, value=value)
        if not least <= len(value) <= most:
            raise InvalidInput(f"must have {least} to {most} characters", field=field, value=value)
        if "\0" in value:
            raise InvalidInput("cannot hold a NUL", field=field, value=value)
        return value

    return reader


def flag(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput("must be true or false", field=field, value=value)
    return value


def integer(least: int, most: int) -> Reader:
    def reader(field: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise InvalidInput(f"must be a whole number, {least} to {most}", field=field, value=value)
        return value

    return reader


def number(least: float, most: float) -> Reader:
    def reader(field: str, value: object) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise InvalidInput(f"must be a number, {least:g} to {most:g}", field=field, value=value)
        return value

    return reader


def one_of(known: type[E], *, among: Iterable[E] | None = None) -> Reader:
    values = {str(each.value): each for each in (among or known)}

    def reader(field: str, value: object) -> E:
        if not isinstance(value, str) or value not in values:
            raise InvalidInput(f"must be one of {', '.join(values)}", field=field, value=value)
        return values[value]

    return reader


def moment(field: str, value: object) -> datetime:
    return from_iso(text(64)(field, value), field=field)


def day(field: str, value: object) -> date:
    try:
        return date.fromisoformat(text(16)(field, value))
    except ValueError:
        raise InvalidInput("must be a date such as 2026-12-25", field=field, value=value) from None


def texts(most_entries: int = 1_000, most: int = 65_536) -> Reader:
    """An object whose values are text: arguments."""
    key, content = text(), text(most, least=0)

    def reader(field: str, value: object) -> dict[str, str]:
        if not isinstance(value, dict) or len(value) > most_entries:
            raise InvalidInput(f"must be an object of at most {most_entries} texts", field=field)
        return {key(field, name): content(f"{field}.{name}"[:NAME_LENGTH], given) for name, given in value.items()}

    return reader


def several(each: Reader, most: int, least: int = 0) -> Reader:
    def reader(field: str, value: object) -> tuple[Any, ...]:
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise InvalidInput(f"must be a list of {least} to {most}", field=field)
        return tuple(each(f"{field}[{place}]", given) for place, given in enumerate(value))

    return reader


def inner(fields: Fields, *, required: Collection[str] = ()) -> Reader:
    def reader(field: str, value: object) -> dict[str, Any]:
        return read(value, fields, required=required, within=f"{field}.")

    return reader


def written(reader: Reader) -> Reader:
    """For a query, where everything is text: a whole number as digits, true and false as words."""

    def whole(field: str, value: object) -> Any:
        return reader(field, _unquoted(str(value)))

    return whole


def _unquoted(value: str) -> object:
    if value in ("true", "false"):
        return value == "true"
    digits = value.removeprefix("-")
    return int(value) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else value
