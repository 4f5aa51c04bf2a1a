"""Fire what is due: ledger rows, runs and the triggers' next instants, in one transaction for many triggers.

A trigger that starts a flow makes a run of the flow; any other makes runs of its actions' jobs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from waterclock.domain.chain import NAMESPACE as CHAINS
from waterclock.domain.firing import PlannedRun, plan_actions
from waterclock.domain.flow import Flow, Graph
from waterclock.domain.job import merge_arguments
from waterclock.domain.moment import Moment, from_datetime, to_datetime
from waterclock.domain.planning import Plan, SkipSpan, plan
from waterclock.domain.role import NotNow, Role, who_runs
from waterclock.domain.run import RunState
from waterclock.domain.trigger import FireOutcome, FireRules
from waterclock.stores.base import Kind, Row, Tx
from waterclock.stores.ops.chain_skipping import tell_of_skips
from waterclock.stores.ops.flow_rows import flow_of
from waterclock.stores.ops.flow_starting import FlowStart, fixed_graph, free_runs, insert_flow_runs, job_names_of
from waterclock.stores.ops.jobs import JobsByPlace, Place, hold_jobs, job_ids_by_names, jobs_by_ids, tallies
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.newruns import NewRun, insert_runs
from waterclock.stores.ops.roles import living_roles
from waterclock.stores.ops.rows import misfire_of, schedule_of
from waterclock.stores.ops.trigger_reading import actions_of

GUARDED: Final = FireRules()
LONGEST_REASON: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """What one round did, and when the next is due."""

    triggers: int
    runs: int
    next_due_at: Moment | None
    now: Moment


@dataclass(frozen=True, slots=True)
class Due:
    """A trigger's row, and what is to be written of it."""

    row: Row
    plan: Plan


async def fire_due(tx: Tx, *, limit: int, rules: Mapping[str, FireRules]) -> Fired:
    now = await tx.now()
    rows = await tx.fetch("lock_due_triggers", {"now": now, "limit": limit})
    runs = 0
    if rows:
        moment = to_datetime(now)
        due = [Due(row, _plan(row, moment)) for row in rows]
        runs = await write_fires(tx, due, rules, now)
        await tx.run_many("advance_trigger", [_advance(each) for each in due])
    next_due = await tx.fetch_one("next_due")
    return Fired(triggers=len(rows), runs=runs, next_due_at=next_due["due_at"] if next_due else None, now=now)


async def write_fires(tx: Tx, due: Sequence[Due], rules: Mapping[str, FireRules], now: Moment) -> int:
    """The ledger rows and the runs of many triggers; how many runs (of jobs, or of flows)."""
    ids = [each.row["id"] for each in due]
    flows = await _lock_flows(tx, due, rules)
    actions, jobs = await actions_of(tx, ids), await _hold_jobs(tx, ids, flows)
    counted = await tallies(tx, jobs.every)
    numbers = iter(await tx.numbers(Kind.RUN, sum(len(each.plan.fires) + len(each.plan.skips) for each in due)))
    fires: list[dict[str, object]] = []
    new: list[NewRun] = []
    starts: list[FlowStart] = []
    skipped: list[tuple[Row, Moment, str]] = []
    for each in due:
        trigger, chosen = each.row, rules.get(each.row["namespace"], GUARDED)
        fires += [_skip_row(trigger, skip, next(numbers), now) for skip in each.plan.skips]
        skipped += [(trigger, from_datetime(skip.last), skip.reason) for skip in each.plan.skips]
        for instant in each.plan.fires:
            fire_at, fire_id = from_datetime(instant), next(numbers)
            fire = _fire_row(trigger, fire_at, fire_id, now)
            if trigger["flow_name"] is not None:
                start = flows.start(trigger, fire_at, fire_id)
                if isinstance(start, FlowStart):
                    starts.append(start)
                    fires.append(fire)
                else:
                    skipped.append((trigger, fire_at, start))
                    fires.append(fire | _skip(start))
                continue
            planned = plan_actions(
                actions[trigger["id"]], jobs.of(trigger["org_id"], trigger["namespace"]), counted, chosen
            )
            fires.append(fire | _skipped(planned))
            new += [_new_run(trigger, run, fire_at, fire_id) for run in planned]
    if fires:
        await tx.run_many("insert_fire", fires)
    moves = Moves()
    await insert_runs(tx, new, now, moves)
    await moves.write(tx, now)
    await insert_flow_runs(tx, starts, jobs, counted, now)
    await tell_of_skips(tx, [each for each in skipped if each[0]["namespace"] == CHAINS], now)
    return len(new) + len(starts)


def _no_room(flow: Flow) -> str:
    if flow.namespace == CHAINS:
        return "its last run still lives"
    return f"workflow {flow.name!r} already has its {flow.max_concurrent} concurrent run(s)"


@dataclass(slots=True)
class _Flows:
    """The flows that this batch may start, held, with their graphs and the runs that they still have room for."""

    held: dict[tuple[Place, str], tuple[Flow, Graph]] = field(default_factory=dict)
    room: dict[int, int] = field(default_factory=dict)
    living: dict[str, frozenset[Role]] = field(default_factory=dict)  # by namespace: each has its failover time

    def start(self, trigger: Row, fire_at: Moment, fire_id: int) -> FlowStart | str:
        """What to start, or why not."""
        name = trigger["flow_name"]
        found = self.held.get(((trigger["org_id"], trigger["namespace"]), name))
        if found is None:
            return f"workflow {name!r} does not exist any more"
        flow, graph = found
        role = who_runs(flow.roles, self.living.get(flow.namespace, frozenset()))
        if isinstance(role, NotNow):
            return role.reason
        if self.room.get(flow.id, 1) < 1:
            return _no_room(flow)
        if flow.id in self.room:
            self.room[flow.id] -= 1
        return FlowStart(
            flow=flow,
            graph=graph,
            run_at=fire_at,
            requested_by=trigger["owner"],
            properties=flow.properties,
            fire_id=fire_id,
            trigger_id=trigger["id"],
            trigger_name=trigger["name"],
            role=role,
        )


async def _lock_flows(tx: Tx, due: Sequence[Due], rules: Mapping[str, FireRules]) -> _Flows:
    flows = _Flows()
    wanted: dict[Place, set[str]] = {}
    for each in due:
        if each.row["flow_name"] is not None:
            wanted.setdefault((each.row["org_id"], each.row["namespace"]), set()).add(each.row["flow_name"])
    for (org_id, namespace), names in sorted(wanted.items()):
        key = {"org_id": org_id, "namespace": namespace, "names": sorted(names)}
        for row in await tx.fetch("lock_flows", key):
            flow = flow_of(row)
            graph = await fixed_graph(tx, flow, rules.get(namespace, GUARDED))
            flows.held[(org_id, namespace), flow.name] = (flow, graph)
    flows.room = await free_runs(tx, [flow for flow, _ in flows.held.values()])
    for namespace in {flow.namespace for flow, _ in flows.held.values() if flow.roles}:
        flows.living[namespace] = await living_roles(tx, rules.get(namespace, GUARDED))
    return flows


async def _hold_jobs(tx: Tx, trigger_ids: Sequence[int], flows: _Flows) -> JobsByPlace:
    ids = {row["id"] for row in await tx.fetch("job_ids_of_triggers", {"trigger_ids": trigger_ids})}
    ids |= await job_ids_by_names(tx, job_names_of((place, graph) for (place, _), (_, graph) in flows.held.items()))
    return JobsByPlace.of_jobs((await hold_jobs(tx, await jobs_by_ids(tx, ids))).values())


def _plan(row: Row, now: datetime) -> Plan:
    return plan(schedule_of(row["schedule"]), to_datetime(row["next_fire_at"]), now, misfire_of(row["misfire"]))


def _advance(due: Due) -> dict[str, object]:
    next_at = due.plan.next_at
    return {
        "id": due.row["id"],
        "was": due.row["version"],
        "next_fire_at": None if next_at is None else from_datetime(next_at),
    }


def _fire_row(trigger: Row, fire_at: Moment, fire_id: int, now: Moment) -> dict[str, object]:
    return {
        "id": fire_id,
        "org_id": trigger["org_id"],
        "trigger_id": trigger["id"],
        "trigger_name": trigger["name"],
        "generation": trigger["generation"],
        "fire_at": fire_at,
        "outcome": FireOutcome.FIRED,
        "reason": None,
        "first_at": fire_at,
        "last_at": fire_at,
        "instants": 1,
        "created_at": now,
    }


def _skipped(planned: Sequence[PlannedRun]) -> dict[str, object]:
    """A fire none of whose actions runs is a skipped one, for their reasons."""
    if not all(run.state is RunState.SKIPPED for run in planned):
        return {}
    return _skip("; ".join(dict.fromkeys(run.message or "" for run in planned)))


def _skip(reason: str) -> dict[str, object]:
    return {"outcome": FireOutcome.SKIPPED, "reason": reason[:LONGEST_REASON]}


def _skip_row(trigger: Row, skip: SkipSpan, fire_id: int, now: Moment) -> dict[str, object]:
    first, last = from_datetime(skip.first), from_datetime(skip.last)
    return {
        **_fire_row(trigger, last, fire_id, now),
        "outcome": FireOutcome.SKIPPED,
        "reason": skip.reason,
        "first_at": first,
        "last_at": last,
        "instants": skip.count,
    }


def _new_run(trigger: Row, run: PlannedRun, fire_at: Moment, fire_id: int) -> NewRun:
    arguments = merge_arguments(run.job.spec, of_trigger=run.action.arguments) if run.job else run.action.arguments
    return NewRun(
        org_id=trigger["org_id"],
        namespace=trigger["namespace"],
        job=run.job,
        job_name=run.action.name,
        owner=run.job.owner if run.job else trigger["owner"],
        requested_by=trigger["owner"],
        run_at=fire_at,
        state=run.state,
        wait_reason=run.wait_reason,
        message=run.message,
        fire_id=fire_id,
        action_no=run.action_no,
        has_next=run.has_next,
        trigger_id=trigger["id"],
        trigger_name=trigger["name"],
        arguments=arguments,
        timeout_seconds=run.action.timeout_seconds,
        notify_after_seconds=run.action.notify_after_seconds,
    )
