"""The lines of a run's log as CloudWatch's events, and the tokens by which a reader goes on.

A log keeps no time per line. Every event has the time at which its attempt began, and a millisecond more for each
64 KiB of log before it: never decreasing, never past the end, and the same whenever it is asked for, so that a client
that goes on from the last time it saw misses nothing and sees nothing twice.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.run import Attempt
from waterclock.faces.glue.services import Wire
from waterclock.services.logs import Line
from waterclock.services.paging import position, token

BYTES_PER_MILLISECOND: Final = 64 * 1024
FORWARD: Final = "f"
BACKWARD: Final = "b"

_PLACE: Final = re.compile(r"([fb])/([0-9]{1,18})/(.+)", re.ASCII | re.DOTALL)
_LIST: Final = "log events"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which times are asked for, in milliseconds; both bounds are within."""

    start: int
    end: int

    def holds(self, event: Wire) -> bool:
        return self.start <= int(event["timestamp"]) <= self.end


def event(attempt: Attempt, line: Line) -> Wire:
    """Its times are rounded as GetJobRun rounds them: from StartedOn to CompletedOn there is all of it."""
    at = round((attempt.started_at or attempt.created_at) / 1000) + line.offset // BYTES_PER_MILLISECOND
    if attempt.ended_at is not None:
        at = min(at, round(attempt.ended_at / 1000))
    return {"timestamp": at, "message": line.text, "ingestionTime": at}


def filtered_event(attempt: Attempt, line: Line) -> Wire:
    identity = f"{attempt.id:030d}{line.offset:026d}"
    return {"logStreamName": attempt.wire_id, **event(attempt, line), "eventId": identity}


def place_token(direction: str, offset: int, stream: str) -> str:
    return f"{direction}/{offset}/{stream}"


def place(given: str, stream: str) -> tuple[str, int]:
    """The direction and the offset that `place_token` was given for this stream."""
    found = _PLACE.fullmatch(given)
    if found is None or found[3] != stream:
        raise InvalidInput("is not a token of this stream: begin again without it", field="nextToken", value=given)
    return found[1], int(found[2])


def places_token(group: str, offsets: Mapping[str, int]) -> str:
    """How far each stream has been read."""
    return token(_LIST, group, dict(offsets))


def places(given: str | None, group: str) -> dict[str, int]:
    of, offsets = position(_LIST, given, (str, dict)) or (group, {})
    if of != group or not isinstance(offsets, dict) or not all(map(_is_offset, offsets.values())):
        raise InvalidInput("is not a token of this group: begin again without it", field="nextToken", value=given)
    return dict(offsets)


def _is_offset(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**60
