"""The cluster: `/status`, its `/nodes` and how to drain one, and what happened to runs, in order: `/events`."""

from typing import Final

from starlette.responses import Response

import waterclock
from waterclock.domain.moment import SECOND, Moment, to_iso
from waterclock.faces.api.call import Call, Handler, json
from waterclock.faces.api.fields import integer, written
from waterclock.services.standing import SeenNode, by_duty
from waterclock.stores.ops.gauges import QueueLoad
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
            "store_latency_seconds": round(found.latency_seconds, 6),
            "auth": settings.auth,
            "now": to_iso(found.now),
            "queues": dict(found.runs),
            "by_queue": [_queue(load, found.now) for load in found.queues],
            "leases": {"held": found.leases.held, "overdue": found.leases.overdue},
            "duties": by_duty(found.nodes),
            "nodes": [_node(each) for each in found.nodes],
            "warnings": found.warnings,
        }
    )


async def list_nodes(call: Call) -> Response:
    call.query({})
    found = await call.context.cluster.nodes(call.caller)
    return json({"items": [_node(each) for each in found], "next_token": None})


async def drain_node(call: Call) -> Response:
    await call.body({})
    return json(_node(await call.context.cluster.drain(call.caller, call.name("id"))), 202)


async def resume_node(call: Call) -> Response:
    await call.body({})
    return json(_node(await call.context.cluster.resume(call.caller, call.name("id"))), 202)


async def list_events(call: Call) -> Response:
    """Ask again with `next` as `after`."""
    query = call.query({"after": written(integer(0, LAST)), "size": written(integer(1, MOST_EVENTS))})
    after = query.get("after", 0)
    found = await call.context.cluster.events(call.caller, after=after, limit=query.get("size", 100))
    return json({"items": [_event(each) for each in found], "next": found[-1].seq if found else after})


def _node(seen: SeenNode) -> dict[str, object]:
    node = seen.node
    return {
        "id": node.id,
        "name": node.name,
        "standing": seen.standing,
        "running": node.running,
        "duties": node.duties,
        "role": node.role,
        "labels": node.labels,
        "queues": node.queues,
        "slots": node.slots,
        "memory_mb": node.memory_mb,
        "version": node.version,
        "pid": node.pid,
        "skew_seconds": node.skew_us / SECOND,
        "skewed": seen.is_skewed,
        "late_seconds": _lateness(seen) if "scheduler" in seen.duties else None,
        "started_at": to_iso(node.started_at),
        "heartbeat_at": to_iso(node.heartbeat_at),
        "draining_at": _iso(node.draining_at),
        "drained_at": _iso(node.drained_at),
    }


def _lateness(seen: SeenNode) -> dict[str, float]:
    """Of the fires of its last minute."""
    node = seen.node
    return {
        "p50": node.late_median_us / SECOND,
        "p99": node.late_us / SECOND,
        "max": node.late_most_us / SECOND,
    }


def _queue(load: QueueLoad, now: Moment) -> dict[str, object]:
    return {
        "queue": load.queue,
        "waiting": load.waiting,
        "starting": load.starting,
        "running": load.running,
        "oldest_seconds": load.oldest_us(now) / SECOND,
    }


def _iso(moment: Moment | None) -> str | None:
    return None if moment is None else to_iso(moment)


def _event(transition: Transition) -> dict[str, object]:
    moves = [
        {"attempt_id": attempt_id, "from": was, "to": to, "reason": reason}
        for attempt_id, was, to, reason in transition.moves
    ]
    return {"seq": transition.seq, "at": to_iso(transition.at), "moves": moves}


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/status", show_status),
    ("GET", "/nodes", list_nodes),
    ("POST", "/nodes/{id}/drain", drain_node),
    ("POST", "/nodes/{id}/resume", resume_node),
    ("GET", "/events", list_events),
)
