"""The one table from our errors to Glue's exceptions, and the errors of the wire itself.

WaterclockError
├── WireError                 the request never reached an action
│   ├── UnknownOperation      no target, or an action that is not served
│   ├── SerializationFailed   the body is not a JSON object
│   ├── BodyTooLarge          refused before it was read
│   └── BodyTooSlow           it did not arrive in time, or not at all
└── …                         see domain/errors.py and faces/sigv4.py

Statuses are AWS's: 400 for what the caller did, 500 for what we did. Refused signatures are 403, so that an anonymous
walk over the routes meets 403 everywhere; a store that does not answer is 503, which every SDK retries by itself.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

from waterclock.domain.errors import (
    AlreadyExists,
    CannotRun,
    ConcurrentRunsExceeded,
    Forbidden,
    InvalidInput,
    NotAllowed,
    NotFound,
    QuotaExceeded,
    Unauthenticated,
    Unavailable,
    WaterclockError,
    WrongState,
)
from waterclock.faces.glue.wording import worded
from waterclock.faces.sigv4 import SignatureRefused


class WireError(WaterclockError):
    name: ClassVar[str]
    status: ClassVar[int] = 400


class UnknownOperation(WireError):
    name = "UnknownOperationException"

    def __init__(self, action: str | None) -> None:
        self.action = action
        super().__init__(
            f"The operation {action!r} is not served here" if action else "X-Amz-Target names no operation"
        )


class SerializationFailed(WireError):
    name = "SerializationException"


class BodyTooLarge(WireError):
    name, status = "RequestEntityTooLargeException", 413

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"The request body is larger than {limit} bytes")


class BodyTooSlow(WireError):
    name, status = "RequestTimeoutException", 408


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What goes over the wire in place of a result."""

    name: str
    message: str
    status: int = 400


INTERNAL: Final = "InternalServiceException"

Table = tuple[tuple[type[WaterclockError], str, int], ...]

# Searched from the top: a subclass stands above its parent.
TABLE: Final[Table] = (
    (InvalidInput, "InvalidInputException", 400),
    (NotFound, "EntityNotFoundException", 400),
    (AlreadyExists, "AlreadyExistsException", 400),
    (WrongState, "IllegalWorkflowStateException", 400),
    (NotAllowed, "InvalidInputException", 400),
    (ConcurrentRunsExceeded, "ConcurrentRunsExceededException", 400),
    (QuotaExceeded, "ResourceNumberLimitExceededException", 400),
    (CannotRun, "InvalidInputException", 400),
    (Forbidden, "AccessDeniedException", 400),
    (Unauthenticated, "UnrecognizedClientException", 403),
    (Unavailable, INTERNAL, 503),
)


def refusal(error: BaseException, table: Table = TABLE, *, internal: str = INTERNAL) -> Refusal:
    """What the caller is told. An error that nobody foresaw says nothing about itself: its text is for our log only."""
    match error:
        case WireError():
            return Refusal(name=error.name, message=str(error), status=error.status)
        case SignatureRefused():
            return Refusal(name=error.code, message=str(error), status=403)
    for kind, name, status in table:
        if isinstance(error, kind):
            return Refusal(name=name, message=worded(error), status=status)
    return Refusal(name=internal, message="An internal error occurred", status=500)
