"""Readers of this face: numbers and flags as crontab people and their tables write them."""

import re
from typing import Final

from waterclock.domain.errors import InvalidInput

MOST: Final = 2**31 - 1  # what every store can hold, whatever the rule that comes after says

_NUMBER: Final = re.compile(r"[+-]?(\d{1,20}(\.\d{0,20})?|\.\d{1,20})([eE][+-]?\d{1,3})?", re.ASCII)


def number(field: str, value: object) -> float:
    """Also as text, since the old tables have minutes in a varchar; how large it may be is the chain's own rule."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidInput("must be a number", field=field, value=value)
    return float(value)


def whole(field: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -MOST <= value <= MOST:
        raise InvalidInput("must be a whole number", field=field, value=value)
    return value


def flag(field: str, value: object) -> bool:
    if not isinstance(value, int) or value not in (0, 1):
        raise InvalidInput("must be 0, 1, true or false", field=field, value=value)
    return bool(value)


def as_it_is(field: str, value: object) -> object:
    """For who reads it later."""
    return value


def ignored(field: str, value: object) -> None:
    """What an answer shows and nobody sets: so what was got can be sent back as it is."""
