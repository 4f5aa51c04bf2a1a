"""Readers of this face: what is not known is passed over, times are milliseconds, words may be one text."""

import shlex
from collections.abc import Collection, Mapping
from enum import Enum
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.secret import is_secret_name
from waterclock.faces.api.call import MOST_DIGITS, Call
from waterclock.faces.api.fields import Fields, Reader, integer, read, several, text

LAST_MILLISECOND: Final = 253_402_300_799_999  # of the year 9999
LONGEST_WORD: Final = 65_536
MOST_WORDS: Final = 1_000


def whole(least: int, most: int) -> Reader:
    """Also 3.0, which is a whole number in JSON."""
    number = integer(least, most)

    def reader(field: str, value: object) -> int:
        return int(number(field, int(value) if isinstance(value, float) and value.is_integer() else value))

    return reader


millisecond: Final = whole(0, LAST_MILLISECOND)
WORDS: Final = several(text(LONGEST_WORD, least=0), MOST_WORDS)


async def body(call: Call, fields: Fields, *, required: Collection[str] = ()) -> dict[str, Any]:
    """A JSON object, of which only these fields are read; no body is an empty one."""
    data = await call.content(call.context.settings.body_limit_bytes)
    return read_known(call.parsed(data) if data else {}, fields, required=required)


def read_known(data: object, fields: Fields, *, required: Collection[str] = (), within: str = "") -> dict[str, Any]:
    """In the order of `fields`: clients send back all that they were shown, in whatever order, and more."""
    given = {name: data[name] for name in fields if name in data} if isinstance(data, dict) else data
    return read(given, fields, required=required, within=within)


def known(fields: Fields, *, required: Collection[str] = ()) -> Reader:
    def reader(field: str, value: object) -> dict[str, Any]:
        return read_known(value, fields, required=required, within=f"{field}.")

    return reader


def as_it_is(field: str, value: object) -> object:
    """For who reads it later."""
    return value


def among(values: Mapping[str, object]) -> Reader:
    """What one of these words stands for: nothing but these names ever comes near a statement."""

    def reader(field: str, value: object) -> object:
        if not isinstance(value, str) or value not in values:
            raise InvalidInput(f"must be one of {', '.join(values)}", field=field, value=value)
        return values[value]

    return reader


def in_any_case(kind: type[Enum]) -> Reader:
    """One of ours, however its letters are: the later clients say Maven and Append."""
    values = [str(each.value) for each in kind]

    def reader(field: str, value: object) -> str:
        if not isinstance(value, str) or value.lower() not in values:
            raise InvalidInput(f"must be one of {', '.join(values)}", field=field, value=value)
        return value.lower()

    return reader


def words(field: str, value: object) -> tuple[str, ...]:
    """A list of texts; or one text, as the later clients send it, taken apart as a shell would."""
    if not isinstance(value, str):
        return tuple(WORDS(field, value))
    try:
        return tuple(WORDS(field, shlex.split(text(LONGEST_WORD, least=0)(field, value))))
    except ValueError as problem:
        raise InvalidInput(f"cannot be taken apart into words: {problem}", field=field) from None


def source(field: str, value: object) -> str | int:
    """Its name, or its number, which may be written as text: no name is digits alone."""
    if not isinstance(value, str):
        return int(whole(1, 10**MOST_DIGITS - 1)(field, value))
    found = str(text()(field, value))
    is_number = found.isascii() and found.isdigit() and len(found) <= MOST_DIGITS
    return int(found) if is_number else found


def secret_name(field: str, value: object) -> str:
    """The name of a secret, never the secret itself: so the answer does not repeat it."""
    if not isinstance(value, str) or not is_secret_name(value):
        raise InvalidInput(
            "must be the name of a secret (waterclock secret set NAME): 1 to 128 letters, digits, '_', '.', '-'",
            field=field,
        )
    return value
