"""The cluster: `/status`, and what happened to runs, in order: `/events`."""

from typing import Final

from starlette.responses import Response

import waterclock
from waterclock.domain.moment import SECOND, to_iso
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.api.fields import integer, written
from waterclock.stores.ops.nodes import Node
from waterclock.stores.ops.reading import Transition

MOST_EVENTS: Final = 1_000
LAST: Final = 2**62


async def show_status(call: Call) -> Response:
    call.query({})
    found = await call.context.cluster.status(call.caller)
    settings = call.context.settings
    return json(
        {
            "version": waterclock.__version__,
            "store": settings.database_url.partition(":")[0].partition("+")[0],
            "auth": settings.auth,
            "now": to_iso(found.now),
            "queues": dict(found.queues),
            "nodes": [_node(node) for node in found.nodes],
        }
    )


async def list_events(call: Call) -> Response:
    """Ask again with `next` as `after`."""
    query = call.query({"after": written(integer(0, LAST)), "size": written(integer(1, MOST_EVENTS))})
    after = query.get("after", 0)
    found = await call.context.cluster.events(call.caller, after=after, limit=query.get("size", 100))
    return json({"items": [_event(each) for each in found], "next": found[-1].seq if found else after})


def _node(node: Node) -> dict[str, object]:
    return {
        "id": node.id,
        "name": node.name,
        "duties": node.duties,
        "role": node.role,
        "labels": node.labels,
        "slots": node.slots,
        "version": node.version,
        "pid": node.pid,
        "skew_seconds": node.skew_us / SECOND,
        "started_at": to_iso(node.started_at),
        "heartbeat_at": to_iso(node.heartbeat_at),
    }


def _event(transition: Transition) -> dict[str, object]:
    moves = [
        {"attempt_id": attempt_id, "from": was, "to": to, "reason": reason}
        for attempt_id, was, to, reason in transition.moves
    ]
    return {"seq": transition.seq, "at": to_iso(transition.at), "moves": moves}


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/status", show_status),
    ("GET", "/events", list_events),
)
