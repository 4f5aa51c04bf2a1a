"""When a request is made again: which failures pass by themselves, and how long to wait for that."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from waterclock.runners.sync.service.times import Times

FIRST_SECONDS: Final = 1.0
LONGEST_SECONDS: Final = 60.0
MOST_ASKED_SECONDS: Final = 300.0  # of a service that names the time itself

_NOT_YET: Final = frozenset({408, 425, 429})
_NEVER: Final = frozenset({501, 505})


class Passing(Exception):
    """A failure that may pass; `wait_seconds` is what the service asked for."""

    def __init__(self, reason: str, *, wait_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.wait_seconds = wait_seconds


def may_pass(status: int) -> bool:
    return status in _NOT_YET or (status >= 500 and status not in _NEVER)


def back_off(failures: int, times: Times) -> float:
    """After the first failure up to 1 s, doubling; at least half of it, the rest by chance."""
    longest: float = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** min(failures - 1, 30))
    return longest * (0.5 + times.chance() / 2)


def asked_seconds(headers: Mapping[str, str], times: Times) -> float | None:
    """What `Retry-After` says, as seconds or as a date; None where it says nothing that can be read."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.fromtimestamp(times.wall_us() / 1_000_000, UTC)).total_seconds())
