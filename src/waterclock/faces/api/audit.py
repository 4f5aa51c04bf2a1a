"""The audit: `/audit`, for admins."""

from typing import Any, Final

from starlette.responses import Response

from waterclock.domain.audit import Sought
from waterclock.domain.moment import from_datetime, to_iso
from waterclock.faces.api.call import PAGING, Call, Handler, json_page, page_of
from waterclock.faces.api.fields import Fields, flag, moment, text, written
from waterclock.stores.ops.audit import Kept

FILTERS: Final[Fields] = {
    "user": text(),
    "action": text(64),
    "resource": text(),
    "since": moment,
    "until": moment,
    "unknown": written(flag),
}


async def list_audit(call: Call) -> Response:
    query = call.query({**PAGING, **FILTERS})
    unknown = query.get("unknown", False)
    page = await call.context.audit.list(call.caller, _sought(query), page_of(query), unknown=unknown)
    return json_page(page, _entry)


def _sought(query: dict[str, Any]) -> Sought:
    anything = Sought()
    return Sought(
        user=query.get("user", ""),
        action=query.get("action", ""),
        resource=query.get("resource", ""),
        since=from_datetime(query["since"]) if "since" in query else anything.since,
        until=from_datetime(query["until"]) if "until" in query else anything.until,
    )


def _entry(kept: Kept) -> dict[str, object]:
    entry = kept.entry
    return {
        "at": to_iso(entry.at),
        "user": entry.user,
        "address": entry.address,
        "face": entry.face,
        "action": entry.action,
        "resource": entry.resource,
        "status": entry.status,
        "error": entry.error,
        "ms": entry.ms,
        "request_id": entry.request_id,
    }


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (("GET", "/audit", list_audit),)
