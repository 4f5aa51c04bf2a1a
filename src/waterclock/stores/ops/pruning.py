"""What ended long ago is thrown away, a page at a time; where there are partitions, what no partition takes with it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from waterclock.domain.moment import Moment, seconds
from waterclock.domain.run import ENDED
from waterclock.stores.base import Tx
from waterclock.stores.ops.dropping import forget_versions
from waterclock.stores.ops.span import LAST, span

PAGE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    runs: int
    log_paths: tuple[str, ...]


async def prune_runs(tx: Tx, *, keep_seconds: float, until: Moment = LAST) -> Pruned:
    """One page of what ended longer ago than that; call again while it finds something.

    `until`: runs of that time and later go with their partitions.
    """
    before = await tx.now() - seconds(keep_seconds)
    rows = await tx.fetch("old_runs", {"before": before, "until": until, "ended": sorted(ENDED), "limit": PAGE})
    if not rows:
        return Pruned(runs=0, log_paths=())
    runs = {"ids": [row["id"] for row in rows], **span(row["run_at"] for row in rows)}
    paths = await tx.fetch("log_paths_of_runs", runs)
    await tx.run("delete_attempts_of_runs", runs)
    await tx.run("delete_runs", runs)
    await _forget_versions_of_gone(tx, {row["job_id"] for row in rows if row["job_id"] is not None})
    return Pruned(runs=len(rows), log_paths=tuple(row["log_path"] for row in paths))


async def prune_versions(tx: Tx, *, after: int) -> int | None:
    """One page of jobs, by number: the versions of those that are gone and have left no run. Where the next begins."""
    ids = [row["job_id"] for row in await tx.fetch("jobs_with_versions", {"after": after, "limit": PAGE})]
    await _forget_versions_of_gone(tx, ids)
    return ids[-1] if len(ids) == PAGE else None


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


async def prune_ledger(tx: Tx, *, keep_seconds: float, keep_moves_seconds: float, until: Moment = LAST) -> int:
    """One page of the ledger and one of moves; how many rows."""
    now = await tx.now()
    fires = await _prune_fires(tx, now - seconds(keep_seconds), until)
    moves = await tx.fetch("old_transitions", {"before": now - seconds(keep_moves_seconds), "limit": PAGE})
    if moves:
        await tx.run("delete_transitions", {"seqs": [row["seq"] for row in moves]})
    await tx.run("delete_old_nodes", {"before": now - seconds(keep_moves_seconds)})
    await tx.run("forget_deleted_lake_jobs", {"before": now - seconds(keep_seconds)})
    return fires + len(moves)


async def _prune_fires(tx: Tx, before: Moment, until: Moment) -> int:
    """The first of the page that is not old is younger than all that follow, as good as: the rest is not looked at."""
    page = await tx.fetch("first_fires", {"after": 0, "until": until, "limit": PAGE})
    old = [row for row in page if row["fire_at"] < before]
    if old:
        await tx.run("delete_fires", {"ids": [row["id"] for row in old], **span(row["fire_at"] for row in old)})
    return len(old)
