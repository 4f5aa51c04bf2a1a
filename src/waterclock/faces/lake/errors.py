"""Our errors as the lake face words them: `{"code", "reason", "message"}`, and one table that says which is which."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from waterclock.domain import errors
from waterclock.domain.errors import WaterclockError
from waterclock.faces.api.errors import (
    Answers,
    BodyTooLarge,
    MethodRefused,
    Wording,
    described,
    error_response,
    status_and_kind,
)

# The first that fits, as in /api/v1. What a job's state forbids is 400 here; only a name that is taken is 409.
ANSWERS: Final[Answers] = (
    (BodyTooLarge, 413, "body_too_large"),
    (errors.InvalidInput, 400, "bad_request"),
    (errors.Unauthenticated, 401, "unauthenticated"),
    (errors.Forbidden, 403, "forbidden"),
    (errors.NotFound, 404, "not_found"),
    (MethodRefused, 405, "method_not_allowed"),
    (errors.AlreadyExists, 409, "already_exists"),
    (errors.NotAllowed, 400, "not_allowed"),
    (errors.ConcurrentRunsExceeded, 400, "not_allowed"),
    (errors.QuotaExceeded, 400, "not_allowed"),
    (errors.CannotRun, 400, "not_allowed"),
    (errors.TooLate, 400, "not_allowed"),
    (errors.Unavailable, 503, "unavailable"),
    (WaterclockError, 500, "internal"),
)


def answer(error: WaterclockError, fields: Mapping[str, str]) -> Response:
    """The message begins with the field, where there is one: `job.git_url: is required`."""
    status, reason = status_and_kind(error, ANSWERS)
    message = described(error, fields)["message"]
    return error_response(error, status, {"code": status, "reason": reason, "message": message})


WORDING: Final = Wording(answer=answer, kind=lambda error: status_and_kind(error, ANSWERS)[1])
