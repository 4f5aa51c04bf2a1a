"""Our errors as this face words them: one table from each to its HTTP status and type."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import orjson
from starlette.responses import Response

from waterclock.domain import errors
from waterclock.domain.errors import BadSchedule, InvalidInput, WaterclockError


class BodyTooLarge(InvalidInput):
    def __init__(self, limit: int) -> None:
        super().__init__(f"the body is longer than {limit} bytes")


class MethodRefused(WaterclockError):
    def __init__(self, method: str, allowed: frozenset[str]) -> None:
        self.allowed = ", ".join(sorted(allowed))
        super().__init__(f"{method} is not served here, only {self.allowed}")


class WrongProtocol(WaterclockError):
    """A worker of a release that this server does not understand."""

    def __init__(self, theirs: int, oldest: int, newest: int) -> None:
        upgrade = "server" if theirs > newest else "worker"
        super().__init__(
            f"the worker speaks version {theirs} of the protocol, this server {oldest} to {newest}: "
            f"upgrade the {upgrade}"
        )


Answers = tuple[tuple[type[WaterclockError], int, str], ...]

# The first that fits: a class stands before those it is derived from.
ANSWERS: Final[Answers] = (
    (BodyTooLarge, 413, "body_too_large"),
    (errors.BadSchedule, 400, "bad_schedule"),
    (errors.InvalidInput, 400, "invalid_input"),
    (errors.Unauthenticated, 401, "unauthenticated"),
    (errors.Forbidden, 403, "forbidden"),
    (errors.NotFound, 404, "not_found"),
    (MethodRefused, 405, "method_not_allowed"),
    (errors.AlreadyExists, 409, "already_exists"),
    (WrongProtocol, 409, "wrong_protocol"),
    (errors.CannotRun, 409, "cannot_run"),
    (errors.NotAllowed, 409, "not_allowed"),
    (errors.ConcurrentRunsExceeded, 409, "concurrent_runs_exceeded"),
    (errors.QuotaExceeded, 409, "quota_exceeded"),
    (errors.TooLate, 409, "too_late"),
    (errors.Unavailable, 503, "unavailable"),
    (WaterclockError, 500, "internal"),
)
# Names that the layers below use, where this face has another.
FIELDS: Final = {"NextToken": "token", "jitter": "jitter_seconds", "end": "end_at", "NodeIds": "nodes"}
NO_OTHERS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How a face tells its callers what went wrong: as an answer, and in one word for the audit."""

    answer: Callable[[WaterclockError, Mapping[str, str]], Response]
    kind: Callable[[WaterclockError], str]


def answer(error: WaterclockError, fields: Mapping[str, str] = NO_OTHERS) -> Response:
    """`fields` are a face's own words, besides those that all have."""
    status, _ = status_and_kind(error)
    return error_response(error, status, {"error": described(error, fields)})


def error_response(error: WaterclockError, status: int, body: Mapping[str, object]) -> Response:
    return Response(orjson.dumps(body), status, headers=_headers(error, status), media_type="application/json")


def described(error: WaterclockError, fields: Mapping[str, str] = NO_OTHERS) -> dict[str, str | None]:
    words = {**FIELDS, **fields}
    return {"type": status_and_kind(error)[1], "message": _message(error, words), "field": _field(error, words)}


def status_and_kind(error: WaterclockError, answers: Answers = ANSWERS) -> tuple[int, str]:
    return next((status, kind) for known, status, kind in answers if isinstance(error, known))


def _field(error: WaterclockError, words: Mapping[str, str]) -> str | None:
    if isinstance(error, BadSchedule):
        return "timezone" if error.part == "timezone" else words.get("schedule", "schedule")
    return words.get(error.field, error.field) if isinstance(error, InvalidInput) and error.field else None


def _message(error: WaterclockError, words: Mapping[str, str]) -> str:
    if isinstance(error, InvalidInput) and error.field and error.field in words:
        return f"{words[error.field]}: {error.reason}"
    return str(error)


def _headers(error: WaterclockError, status: int) -> dict[str, str]:
    if isinstance(error, MethodRefused):
        return {"allow": error.allowed}
    match status:
        case 401:
            return {"www-authenticate": 'Bearer realm="waterclock"'}
        case 503:
            return {"retry-after": "1"}
    return {}


OURS: Final = Wording(answer=answer, kind=lambda error: status_and_kind(error)[1])
