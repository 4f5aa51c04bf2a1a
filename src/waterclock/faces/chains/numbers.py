"""Numbers in paths: chains and their runs are known by them."""

from typing import Final

from waterclock.faces.api.call import MOST_DIGITS, Call

MOST_NUMBER: Final = 10**MOST_DIGITS - 1


def chain_id(call: Call) -> int:
    return call.number("id", "chain")


def run_id(call: Call) -> int:
    return call.number("run_id", "chain run")
