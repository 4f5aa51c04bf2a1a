"""Numbers in paths: chains and their runs are known by them."""

from typing import Final

from waterclock.domain.errors import NotFound
from waterclock.faces.api.call import Call

MOST_DIGITS: Final = 18  # what every store can hold
MOST_NUMBER: Final = 10**MOST_DIGITS - 1


def chain_id(call: Call) -> int:
    return _number(call, "id", "chain")


def run_id(call: Call) -> int:
    return _number(call, "run_id", "chain run")


def _number(call: Call, key: str, kind: str) -> int:
    """What is no number is no chain's, nor a run's."""
    given = call.name(key)
    if not (given.isascii() and given.isdigit() and len(given) <= MOST_DIGITS):
        raise NotFound(kind, given)
    return int(given)
