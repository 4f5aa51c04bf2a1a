"""All that ending some attempts may touch, locked before the first of them is ended.

Whoever locks takes this order: triggers, flows, flow runs, fires, jobs, attempts, runs. So nobody waits in a circle.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from waterclock.domain.flow import FlowRun
from waterclock.domain.job import Job
from waterclock.domain.trigger import FireRules, Predicate, Target, Trigger, TriggerState
from waterclock.stores.base import Row, Tx, Values
from waterclock.stores.ops.flow_rows import flow_run_of
from waterclock.stores.ops.flow_starting import job_names_of
from waterclock.stores.ops.jobs import Place, hold_jobs, job_ids_by_names, jobs_by_ids, lock_capped
from waterclock.stores.ops.span import ALL
from waterclock.stores.ops.trigger_reading import with_parts


@dataclass(slots=True)
class Watcher:
    """A conditional trigger outside flows, held; `met` are its conditions that have come true since it fired last."""

    row: Row
    trigger: Trigger
    predicate: Predicate
    met: frozenset[int]


@dataclass(frozen=True, slots=True)
class Reach:
    jobs: Mapping[int, Job]
    flow_runs: Mapping[int, FlowRun] = field(default_factory=dict)
    watchers: Sequence[Watcher] = ()
    rules: Mapping[str, FireRules] = field(default_factory=dict)


async def lock_reach(
    tx: Tx, attempt_ids: Collection[int], rules: Mapping[str, FireRules], times: Values = ALL
) -> Reach:
    rows = await tx.fetch("reach_of_attempts", {"ids": list(attempt_ids), **times})
    job_ids = {row["job_id"] for row in rows if row["job_id"] is not None}
    watchers = await _lock_watchers(tx, [row for row in rows if row["watched"] is not None])
    flow_runs = await _lock_flow_runs(tx, {row["flow_run_id"] for row in rows if row["flow_run_id"] is not None})
    fire_ids = sorted({row["fire_id"] for row in rows if row["fire_id"] is not None})
    if fire_ids:
        await tx.fetch("lock_fires", {"ids": fire_ids})
        job_ids |= {row["job_id"] for row in await tx.fetch("job_ids_of_fires", {"fire_ids": fire_ids})}
    if not watchers and not flow_runs:
        return Reach(await lock_capped(tx, await jobs_by_ids(tx, job_ids)), rules=rules)
    job_ids |= await job_ids_by_names(tx, _names(watchers, flow_runs))
    return Reach(await hold_jobs(tx, await jobs_by_ids(tx, job_ids)), flow_runs, watchers, rules)


async def lock_jobs_alone(
    tx: Tx,
    job_ids: Collection[int],
    attempt_ids: Collection[int],
    rules: Mapping[str, FireRules],
    times: Values = ALL,
) -> Reach:
    """As `lock_reach`, where ends are known to touch nothing but their own jobs: these, and those of these attempts."""
    rows = await tx.fetch("job_ids_of_attempts", {"ids": list(attempt_ids), **times}) if attempt_ids else ()
    wanted = {*job_ids, *(row["job_id"] for row in rows)}
    return Reach(await lock_capped(tx, await jobs_by_ids(tx, wanted)), rules=rules)


async def _lock_watchers(tx: Tx, rows: Sequence[Row]) -> list[Watcher]:
    if not rows:
        return []
    wanted = {
        "org_ids": sorted({row["org_id"] for row in rows}),
        "namespaces": sorted({row["namespace"] for row in rows}),
        "names": sorted({row["watched"] for row in rows}),
    }
    ids = sorted(row["id"] for row in await tx.fetch("watching_trigger_ids", wanted))
    if not ids:
        return []
    held = [row for row in await tx.fetch("lock_triggers_by_ids", {"ids": ids}) if row["state"] == TriggerState.RUNNING]
    met: defaultdict[int, set[int]] = defaultdict(set)
    for row in await tx.fetch("conditions_of_triggers", {"trigger_ids": ids}):
        if row["met_at"] is not None:
            met[row["trigger_id"]].add(row["condition_no"])
    triggers = await with_parts(tx, held)
    return [
        Watcher(row, trigger, trigger.spec.predicate, frozenset(met[trigger.id]))
        for row, trigger in zip(held, triggers, strict=True)
        if trigger.spec.predicate is not None
    ]


async def _lock_flow_runs(tx: Tx, ids: Collection[int]) -> dict[int, FlowRun]:
    if not ids:
        return {}
    return {row["id"]: flow_run_of(row) for row in await tx.fetch("lock_flow_runs", {"ids": sorted(ids)})}


def _names(watchers: Sequence[Watcher], flow_runs: Mapping[int, FlowRun]) -> dict[Place, set[str]]:
    """The jobs that may start because of what ends."""
    names = job_names_of(((run.org_id, run.namespace), run.graph) for run in flow_runs.values())
    for watcher in watchers:
        place = (watcher.trigger.org_id, watcher.trigger.namespace)
        mine = {action.name for action in watcher.trigger.spec.actions if action.target is Target.JOB}
        names[place] = names.get(place, set()) | mine
    return names
