"""What follows the ends of runs beyond their own fires: the next stages of their flows, and conditional triggers.

In the transaction that ends the runs, so that each happens exactly once.
"""

from collections.abc import Collection, Mapping, Sequence

from waterclock.domain.moment import Moment
from waterclock.domain.planning import Moments
from waterclock.domain.watching import JobEnd, watch
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.advancing import Advance, Driver, load_nodes
from waterclock.stores.ops.chain_failing import RunEnd, failures_of, tell_of_failures
from waterclock.stores.ops.firing import Due, write_fires
from waterclock.stores.ops.jobs import JobsByPlace, tallies
from waterclock.stores.ops.reach import Reach, Watcher


async def follow(tx: Tx, ended: Sequence[RunEnd], reach: Reach, now: Moment) -> Collection[int]:
    """`ended` in the order of their ends. The flow runs that have failed by them, and begin nothing any more."""
    failing = await _advance_flows(tx, ended, reach, now) if reach.flow_runs else ()
    if reach.watchers:
        await _fire_watchers(tx, ended, reach, now)
    return failing


async def _advance_flows(tx: Tx, ended: Sequence[RunEnd], reach: Reach, now: Moment) -> Collection[int]:
    nodes = [end for end in ended if end.run["flow_run_id"] in reach.flow_runs]
    if not nodes:
        return ()
    rows = [
        {"flow_run_id": end.run["flow_run_id"], "node": end.run["flow_node"], "outcome": end.state} for end in nodes
    ]
    await tx.run_many("end_flow_node", rows)
    touched = dict.fromkeys(end.run["flow_run_id"] for end in nodes)
    advances = [Advance.of(reach.flow_runs[flow_run_id]) for flow_run_id in touched]
    await load_nodes(tx, advances)
    jobs = JobsByPlace.of_jobs(reach.jobs.values())
    driver = Driver(tx, jobs, await tallies(tx, jobs.every), now)
    failures = failures_of(advances, nodes)
    for advance in advances:
        await driver.go_on(advance)
    await driver.write(advances)
    await tell_of_failures(tx, failures, now)
    return {failure.run.id for failure in failures}


async def _fire_watchers(tx: Tx, ended: Sequence[RunEnd], reach: Reach, now: Moment) -> None:
    due: list[tuple[Watcher, int]] = []
    marks: list[dict[str, object]] = []
    for watcher in reach.watchers:
        was, by, fires = watcher.met, dict[int, str](), 0
        for each in ended:
            if not _concerns(watcher, each.run):
                continue
            end = JobEnd(job_name=each.run["job_name"], state=each.state, wire_id=each.run["wire_id"])
            seen = watch(watcher.predicate, watcher.met, end)
            by |= dict.fromkeys(seen.met - watcher.met, end.wire_id)
            watcher.met, fires = seen.met, fires + seen.fires
        if fires:
            due.append((watcher, fires))
        marks += _marks(watcher, was, by, now)
    if marks:
        await tx.run_many("mark_condition", marks)
    if due:
        await write_fires(tx, await _instants(tx, due, now), reach.rules, now)


def _concerns(watcher: Watcher, run: Row) -> bool:
    """Runs that a trigger started, outside flows, in the watcher's own place."""
    place = (watcher.trigger.org_id, watcher.trigger.namespace)
    started_by_trigger = run["trigger_id"] is not None and run["flow_run_id"] is None
    return started_by_trigger and (run["org_id"], run["namespace"]) == place


def _marks(watcher: Watcher, was: frozenset[int], by: Mapping[int, str], now: Moment) -> list[dict[str, object]]:
    changed = sorted((was ^ watcher.met) | (by.keys() & watcher.met))
    return [
        {
            "trigger_id": watcher.trigger.id,
            "condition_no": number,
            "met_at": now if number in watcher.met else None,
            "met_by": by.get(number) if number in watcher.met else None,
        }
        for number in changed
    ]


async def _instants(tx: Tx, due: Sequence[tuple[Watcher, int]], now: Moment) -> list[Due]:
    """A trigger that fires several times at once has its instants a microsecond apart: each is a row of the ledger."""
    ids = [watcher.trigger.id for watcher, _ in due]
    last = {row["trigger_id"]: row["fire_at"] for row in await tx.fetch("last_fires_of_triggers", {"trigger_ids": ids})}
    found = []
    for watcher, count in due:
        first = max(now, last.get(watcher.trigger.id, 0) + 1)
        found.append(Due(watcher.row, Moments(tuple(range(first, first + count)), (), None)))
    return found
