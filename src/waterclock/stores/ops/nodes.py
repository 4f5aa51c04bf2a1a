"""Nodes and their heartbeats."""

from dataclasses import dataclass, fields
from typing import Final

from waterclock.domain.moment import SECOND, Moment, seconds
from waterclock.stores.base import Row, Topic, Tx

WORKER: Final = "worker"  # the duty
TOLERATED_SKEW_US: Final = 2 * SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A server process of the cluster."""

    id: str
    host: str
    name: str
    duties: tuple[str, ...]
    role: str = ""
    debugmode: str = ""  # `debug` mutes what it has to say
    labels: tuple[str, ...] = ()
    slots: int = 0
    queues: tuple[str, ...] = ()
    memory_mb: int = 0  # what it gives to runs; 0: it does not count
    org_id: int | None = None  # of a worker over HTTP: it sees the runs of this one alone
    version: str
    pid: int
    skew_us: int = 0
    started_at: Moment = 0
    heartbeat_at: Moment = 0
    draining_at: Moment | None = None  # told to take nothing more
    drained_at: Moment | None = None  # takes nothing more, and nothing runs there: its own word
    running: int = 0
    late_us: int = 0  # of 99 in 100 fires of its last minute, at most
    late_median_us: int = 0
    late_most_us: int = 0


_SAME: Final = tuple(entry.name for entry in fields(Node) if entry.name not in {"duties", "labels", "queues"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """What a node says of itself with a beat."""

    running: int = 0
    drained: bool = False  # it was told to drain, takes nothing more, and nothing runs there
    late_us: int = 0
    late_median_us: int = 0
    late_most_us: int = 0


NO_PULSE: Final = Pulse()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """To a beat: how far the node's clock is from the database's, and whether it is to take nothing more."""

    skew_us: int
    draining: bool = False


async def beat(tx: Tx, *, node: Node, wall_us: int, pulse: Pulse = NO_PULSE) -> Answer:
    """Say that the node lives."""
    now = await tx.now()
    skew = wall_us - now
    told = await tx.fetch_one("draining_of_node", {"id": node.id})
    if told is None:
        draining_at = await _still_draining(tx, node)
        await tx.run("insert_node", _values(node) | {"skew_us": skew, "now": now, "draining_at": draining_at})
        return Answer(skew_us=skew, draining=draining_at is not None)
    draining = told["draining_at"] is not None
    drained = draining and pulse.drained and not await _holds_something(tx, node)
    values = {
        "id": node.id,
        "now": now,
        "skew_us": skew,
        "running": pulse.running,
        "late_us": pulse.late_us,
        "late_median_us": pulse.late_median_us,
        "late_most_us": pulse.late_most_us,
        "drained_at": (told["drained_at"] or now) if drained else None,
    }
    await tx.run("beat", values)
    return Answer(skew_us=skew, draining=draining)


async def _holds_something(tx: Tx, node: Node) -> bool:
    """A start whose answer was lost may run without its worker knowing: the store's word counts, too."""
    row = await tx.fetch_one("leases_of_node", {"host": node.host, "id": node.id})
    return bool(row and row["held"])


async def _still_draining(tx: Tx, node: Node) -> Moment | None:
    """A worker that comes back from a crash goes on draining; one that was stopped in good order has done with it.

    There is one worker in a data directory: whoever was there before is gone. Of schedulers there may be several.
    """
    if WORKER not in node.duties:
        return None
    before = await tx.fetch_one("node_before", {"host": node.host, "duties": ",".join(node.duties)})
    return before["draining_at"] if before and before["stopped_at"] is None else None


async def drain_node(tx: Tx, *, node_id: str) -> bool:
    """From its next beat on it takes nothing more; False: no such node."""
    await tx.run("drain_node", {"id": node_id, "now": await tx.now()})
    return await _is_there(tx, node_id)


async def resume_node(tx: Tx, *, node_id: str) -> bool:
    await tx.run("resume_node", {"id": node_id})
    return await _is_there(tx, node_id)


async def _is_there(tx: Tx, node_id: str) -> bool:
    tx.wake(Topic.NODES)
    row = await tx.fetch_one("node", {"id": node_id})
    return row is not None and row["stopped_at"] is None


async def find_node(tx: Tx, *, node_id: str) -> Node | None:
    """None also for one that was stopped in good order."""
    row = await tx.fetch_one("node", {"id": node_id})
    return _node(row) if row and row["stopped_at"] is None else None


async def stop_node(tx: Tx, *, node_id: str) -> None:
    await tx.run("stop_node", {"id": node_id, "now": await tx.now()})


async def list_nodes(tx: Tx, *, within_seconds: float) -> list[Node]:
    """Those that have beaten within that time, and were not stopped in good order."""
    since = await tx.now() - seconds(within_seconds)
    return [_node(row) for row in await tx.fetch("nodes", {"since": since})]


async def queue_sizes(tx: Tx) -> dict[str, int]:
    return {row["state"]: row["count"] for row in await tx.fetch("queue_sizes")}


def _values(node: Node) -> dict[str, object]:
    return {
        "id": node.id,
        "host": node.host,
        "name": node.name,
        "duties": ",".join(node.duties),
        "role": node.role,
        "debugmode": node.debugmode,
        "labels": ",".join(node.labels),
        "slots": node.slots,
        "queues": ",".join(node.queues),
        "memory_mb": node.memory_mb,
        "org_id": node.org_id,
        "version": node.version,
        "pid": node.pid,
    }


def _node(row: Row) -> Node:
    return Node(
        **{name: row[name] for name in _SAME},
        duties=_words(row["duties"]),
        labels=_words(row["labels"]),
        queues=_words(row["queues"]),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)
