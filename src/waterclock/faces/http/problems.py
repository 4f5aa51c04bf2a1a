"""What the app itself answers with when no face did: typed JSON, never a page, never a traceback.

The members serve both kinds of client: AWS's SDKs read `__type` and `Message`, REST clients the others.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from waterclock.faces.http.marks import request_id_of

NAMES: Final = {
    401: "UnrecognizedClientException",
    403: "AccessDeniedException",
    404: "UnknownOperationException",
    405: "UnknownOperationException",
    408: "RequestTimeoutException",
    413: "RequestEntityTooLargeException",
    503: "ServiceUnavailableException",
}
INTERNAL: Final = "InternalServiceException"
# In the words of the lake face, where HTTP has others.
REASONS: Final = {401: "unauthenticated", 413: "body_too_large", 500: "internal", 503: "unavailable"}

log = logging.getLogger(__name__)


def problem(scope: Scope, status: int, message: str, *, headers: Mapping[str, str] | None = None) -> Response:
    named = NAMES.get(status, "InvalidInputException" if status < 500 else INTERNAL)
    body = {
        "__type": named,
        "Message": message,
        "code": status,
        "reason": REASONS.get(status, HTTPStatus(status).name.lower()),
        "message": message,
    }
    return Response(
        orjson.dumps(body),
        status,
        media_type="application/json",
        headers={"x-amzn-RequestId": request_id_of(scope), **(headers or {})},
    )


async def on_http_exception(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return problem(request.scope, error.status_code, error.detail, headers=error.headers)


async def on_unexpected(request: Request, error: Exception) -> Response:
    """The caller learns the request's id; the log has the rest."""
    log.error("request %s: %s %s", request_id_of(request.scope), request.method, request.url.path, exc_info=error)
    return problem(request.scope, 500, "An internal error occurred")
