"""A call as the audit keeps it: from what the request was marked with on its way."""

from collections.abc import Callable
from typing import Final

from starlette.types import Scope

from waterclock import clock
from waterclock.domain.access import Caller
from waterclock.domain.audit import NOBODY, Entry, fit
from waterclock.faces.http.marks import ACTION, CALLER, ERROR, RESOURCE, request_id_of

Record = Callable[[Entry], None]

NOT_CALLS: Final = frozenset({"none", "healthz", "readyz", "metrics"})  # paths of no face, and what monitors ask


def entry_of(scope: Scope, *, face: str, status: int, seconds: float) -> Entry:
    caller: Caller | None = scope.get(CALLER)
    return Entry(
        at=clock.wall_us(),
        org_id=caller.org_id if caller else NOBODY,
        user=caller.user if caller else "",
        address=scope["client"][0] if scope.get("client") else "",
        face=face,
        action=scope.get(ACTION, ""),
        resource=fit(scope.get(RESOURCE, "")),
        status=status,
        error=scope.get(ERROR),
        ms=round(seconds * 1000),
        request_id=request_id_of(scope),
    )
