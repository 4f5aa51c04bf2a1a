"""Chains' old runs: each goes whole, with all that it ran and logged, when its chain's tag says so."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from waterclock.domain.moment import SECOND, seconds
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.pruning import Pruned
from waterclock.stores.ops.span import span

PAGE: Final = 100
MOST_ATTEMPTS: Final = 10_000  # of one page: a gate may have been probed all day


async def prune_chain_runs(tx: Tx, *, keep_seconds: float, by_tag: Mapping[str, float]) -> Pruned:
    """One page; call again while it finds something.

    `by_tag` has the seconds of each tag that is named; `keep_seconds` is for all others, and for chains that are gone.
    """
    now = await tx.now()
    for keep, flow_ids in (await _flows_by_keep(tx, keep_seconds, by_tag)).items():
        if keep * SECOND > now:  # for ever, as far as we can count
            continue
        values = {"flow_ids": flow_ids, "before": now - seconds(keep), "limit": PAGE}
        if old := await tx.fetch("old_runs_of_flows", values):
            return await _prune(tx, [row["id"] for row in old])
    await tx.run("forget_deleted_chains", {"before": now - seconds(keep_seconds)})
    return Pruned(runs=0, log_paths=())


async def _flows_by_keep(tx: Tx, keep_seconds: float, by_tag: Mapping[str, float]) -> Mapping[float, Sequence[int]]:
    """The chains' flows by how long their runs are kept."""
    found: defaultdict[float, list[int]] = defaultdict(list)
    for row in await tx.fetch("tags_of_flows"):
        found[by_tag.get(row["tag"], keep_seconds)].append(row["flow_id"])
    return found


async def _prune(tx: Tx, old: Sequence[int]) -> Pruned:
    """In the order of locks: the runs of chains, then attempts, then runs."""
    ids, nodes = _that_fit(old, await tx.fetch("attempts_of_flow_runs", {"flow_run_ids": old}))
    runs = {"ids": [row["run_id"] for row in nodes], **span(row["run_at"] for row in nodes)} if nodes else None
    paths = await tx.fetch("log_paths_of_runs", runs) if runs else ()
    await tx.run("delete_flow_runs", {"ids": ids})
    await tx.run("delete_nodes_of_flow_runs", {"ids": ids})
    if runs:
        await tx.run("delete_attempts_of_runs", runs)
        await tx.run("delete_runs", runs)
    return Pruned(runs=len(ids), log_paths=tuple(row["log_path"] for row in paths))


def _that_fit(old: Sequence[int], nodes: Iterable[Row]) -> tuple[list[int], list[Row]]:
    """At least one run of a chain, and of more only what one transaction should delete; and their nodes."""
    parts: defaultdict[int, list[Row]] = defaultdict(list)
    for row in nodes:
        parts[row["flow_run_id"]].append(row)
    ids: list[int] = []
    chosen: list[Row] = []
    attempts = 0
    for flow_run_id in old:
        attempts += sum(row["attempts"] for row in parts[flow_run_id])
        if ids and attempts > MOST_ATTEMPTS:
            break
        ids.append(flow_run_id)
        chosen += parts[flow_run_id]
    return ids, chosen
