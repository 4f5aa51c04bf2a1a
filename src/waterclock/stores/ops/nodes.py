"""Nodes and their heartbeats, and what is thrown away when it is old."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from waterclock.domain.moment import Moment, seconds
from waterclock.domain.run import ENDED
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.dropping import forget_versions

PAGE: Final = 1_000


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
    version: str
    pid: int
    skew_us: int = 0
    started_at: Moment = 0
    heartbeat_at: Moment = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    runs: int
    log_paths: tuple[str, ...]


async def beat(tx: Tx, *, node: Node, wall_us: int) -> int:
    """Say that the node lives; how far its clock is from the database's, in microseconds."""
    now = await tx.now()
    skew = wall_us - now
    if not await tx.run("beat", {"id": node.id, "now": now, "skew_us": skew}):
        values = {
            "id": node.id,
            "host": node.host,
            "name": node.name,
            "duties": ",".join(node.duties),
            "role": node.role,
            "debugmode": node.debugmode,
            "labels": ",".join(node.labels),
            "slots": node.slots,
            "version": node.version,
            "pid": node.pid,
            "skew_us": skew,
            "now": now,
        }
        await tx.run("insert_node", values)
    return skew


async def stop_node(tx: Tx, *, node_id: str) -> None:
    await tx.run("stop_node", {"id": node_id, "now": await tx.now()})


async def list_nodes(tx: Tx, *, within_seconds: float) -> list[Node]:
    since = await tx.now() - seconds(within_seconds)
    return [_node(row) for row in await tx.fetch("nodes", {"since": since})]


async def queue_sizes(tx: Tx) -> dict[str, int]:
    return {row["state"]: row["count"] for row in await tx.fetch("queue_sizes")}


async def prune_runs(tx: Tx, *, keep_seconds: float) -> Pruned:
    """One page of what ended longer ago than that; call again while it finds something."""
    before = await tx.now() - seconds(keep_seconds)
    rows = await tx.fetch("old_runs", {"before": before, "ended": sorted(ENDED), "limit": PAGE})
    ids = [row["id"] for row in rows]
    if not ids:
        return Pruned(runs=0, log_paths=())
    paths = await tx.fetch("log_paths_of_runs", {"ids": ids})
    await tx.run("delete_attempts_of_runs", {"ids": ids})
    await tx.run("delete_runs", {"ids": ids})
    await _forget_versions_of_gone(tx, {row["job_id"] for row in rows if row["job_id"] is not None})
    return Pruned(runs=len(ids), log_paths=tuple(row["log_path"] for row in paths))


async def _forget_versions_of_gone(tx: Tx, job_ids: Collection[int]) -> None:
    present = {row["id"] for row in await tx.fetch("present_jobs", {"ids": sorted(job_ids)})} if job_ids else set()
    await forget_versions(tx, sorted(set(job_ids) - present))


async def prune_flow_runs(tx: Tx, *, keep_seconds: float) -> int:
    """One page, with their nodes; how many. The runs of the nodes go by themselves."""
    before = await tx.now() - seconds(keep_seconds)
    ids = [row["id"] for row in await tx.fetch("old_flow_runs", {"before": before, "limit": PAGE})]
    if ids:
        await tx.run("delete_nodes_of_flow_runs", {"ids": ids})
        await tx.run("delete_flow_runs", {"ids": ids})
    return len(ids)


async def prune_ledger(tx: Tx, *, keep_seconds: float, keep_moves_seconds: float) -> None:
    now = await tx.now()
    await tx.run("delete_old_fires", {"before": now - seconds(keep_seconds)})
    await tx.run("delete_old_transitions", {"before": now - seconds(keep_moves_seconds)})
    await tx.run("delete_old_nodes", {"before": now - seconds(keep_moves_seconds)})


def _node(row: Row) -> Node:
    return Node(
        **{
            name: row[name]
            for name in ("id", "host", "name", "role", "debugmode", "slots", "version", "pid", "skew_us")
        },
        duties=_words(row["duties"]),
        labels=_words(row["labels"]),
        started_at=row["started_at"],
        heartbeat_at=row["heartbeat_at"],
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)
