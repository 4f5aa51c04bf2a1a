"""Ids of jobs that were given none: 32 random digits, which the system is asked for a few hundred at a time."""

from __future__ import annotations

import os
from typing import Final

DRAWN: Final = 256
DIGITS: Final = 32

_drawn: Final[list[str]] = []


def new_id() -> str:
    """From any thread: one that is taken is nobody else's."""
    while True:
        try:
            return _drawn.pop()
        except IndexError:
            digits = os.urandom(DRAWN * DIGITS // 2).hex()
            _drawn.extend([digits[first : first + DIGITS] for first in range(0, len(digits), DIGITS)])


os.register_at_fork(after_in_child=_drawn.clear)  # what was drawn before a fork is its parent's
