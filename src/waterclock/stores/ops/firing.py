"""Fire what is due: ledger rows, runs and the triggers' next instants, in one transaction for many triggers.

A trigger that starts a flow makes a run of the flow; any other makes runs of its actions' jobs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.admission import Tally
from waterclock.domain.chain import NAMESPACE as CHAINS
from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.firing import PlannedRun, Skipped, plan_actions
from waterclock.domain.flow import Flow, Graph
from waterclock.domain.job import Job
from waterclock.domain.moment import Moment, from_datetime
from waterclock.domain.planning import Moments, SkipSpan, plan_us
from waterclock.domain.role import NotNow, Role, who_runs
from waterclock.domain.run import RunState
from waterclock.domain.trigger import Action, FireRules, Target
from waterclock.stores.base import Kind, Row, Tx, Values
from waterclock.stores.ops.chain_skipping import tell_of_skips
from waterclock.stores.ops.dropping import forget_versions, gone_with_jobs
from waterclock.stores.ops.fire_rows import (
    advance_row,
    fire_row,
    new_run,
    not_run,
    over_cap,
    skip_row,
    skipped_for,
    skipped_row,
)
from waterclock.stores.ops.flow_rows import flow_of
from waterclock.stores.ops.flow_starting import FlowStart, fixed_graph, free_runs, insert_flow_runs, job_names_of
from waterclock.stores.ops.jobs import JobsByPlace, Place, hold_jobs, job_ids_by_names, jobs_by_ids, tallies
from waterclock.stores.ops.new_run import NewRun
from waterclock.stores.ops.newruns import insert_runs_with_moves
from waterclock.stores.ops.roles import living_roles
from waterclock.stores.ops.rows import job_to_start, misfire_of, schedule_of
from waterclock.stores.ops.trigger_reading import actions_of

GUARDED: Final = FireRules()
NO_TAKERS: Final[Mapping[str, Taker]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """What one round did, and when the next is due."""

    triggers: int
    runs: int
    next_due_at: Moment | None
    now: Moment
    more: bool = False  # the round was full: there may be more that is due
    # Of namespaces that drop exhausted triggers: somebody there wants to be told.
    skipped: tuple[Skipped, ...] = ()
    exhausted: tuple[str, ...] = ()  # names of triggers that have fired for the last time
    claimed: tuple[Claimed, ...] = ()  # runs that the one who fired them has taken
    late_us: tuple[int, ...] = ()  # of each trigger


@dataclass(frozen=True, slots=True)
class Due:
    """A trigger's row, and what is to be written of it."""

    row: Row
    plan: Moments


@dataclass(frozen=True, slots=True)
class Written:
    """How many runs there are now (of jobs, or of flows), what was skipped, and the jobs: held until the commit."""

    runs: int = 0
    skipped: tuple[Skipped, ...] = ()
    claimed: tuple[Claimed, ...] = ()
    jobs: JobsByPlace = field(default_factory=lambda: JobsByPlace.of_jobs(()))


async def fire_due(
    tx: Tx,
    *,
    limit: int,
    rules: Mapping[str, FireRules],
    ticker: str = "",
    takers: Mapping[str, Taker] = NO_TAKERS,
) -> Fired:
    """`ticker`: whose triggers, those of the cluster's schedulers or of a library's.

    `takers`, by queue: what there is room for is theirs from the beginning.
    """
    now = await tx.now()
    rows = await tx.fetch("lock_due_triggers", {"ticker": ticker, "now": now, "limit": limit})
    due = [Due(row, _plan(row, now)) for row in rows]
    written = await write_fires(tx, due, rules, now, takers, ticker, advance=True) if due else Written()
    exhausted = [each for each in due if _is_exhausted(each, rules)]
    missed = [_namesake(each.row, written.jobs) for each in exhausted if not each.plan.fires]
    await forget_versions(tx, [job.id for job in missed if job])  # what never ran has left nothing to be kept
    is_full = 0 < limit == len(rows)
    return Fired(
        triggers=len(rows),
        runs=written.runs,
        more=is_full,
        next_due_at=now if is_full else await _next_due(tx, ticker),
        now=now,
        skipped=written.skipped,
        exhausted=tuple(each.row["name"] for each in exhausted),
        claimed=written.claimed,
        late_us=tuple(now - row["next_fire_at"] for row in rows),
    )


async def _next_due(tx: Tx, ticker: str) -> Moment | None:
    """Only asked where all that was due has been fired."""
    row = await tx.fetch_one("next_due", {"ticker": ticker})
    return row["due_at"] if row else None


async def write_fires(
    tx: Tx,
    due: Sequence[Due],
    rules: Mapping[str, FireRules],
    now: Moment,
    takers: Mapping[str, Taker] = NO_TAKERS,
    ticker: str = "",
    *,
    advance: bool = False,
) -> Written:
    """The ledger rows and the runs of many triggers; `advance`: and the triggers' next instants."""
    ids = [each.row["id"] for each in due]
    flows = await _lock_flows(tx, due, rules)
    if ticker:
        actions, jobs = await _of_program(tx, due)
    else:
        actions, jobs = await actions_of(tx, ids), await _hold_jobs(tx, ids, flows)
    counted = await _counted(tx, due, jobs) if ticker else await tallies(tx, jobs.every)
    numbers = iter(await tx.numbers(Kind.RUN, sum(len(each.plan.fires) + len(each.plan.skips) for each in due)))
    fires: list[dict[str, object]] = []
    new: list[NewRun] = []
    starts: list[FlowStart] = []
    skipped: list[tuple[Row, Moment, str]] = []
    told: list[Skipped] = []
    room = _Room(takers, {queue: taker.room for queue, taker in takers.items()})
    for each in due:
        trigger, chosen = each.row, rules.get(each.row["namespace"], GUARDED)
        fires += [skip_row(trigger, skip, next(numbers), now) for skip in each.plan.skips]
        skipped += [(trigger, from_datetime(skip.last), skip.reason) for skip in each.plan.skips]
        told += _told(trigger, each.plan.skips) if chosen.drop_exhausted and each.plan.skips else []
        in_turn, lone, last = False, bool(ticker) and len(each.plan.fires) == 1, _is_exhausted(each, rules)
        for fire_at in each.plan.fires:
            fire_id = next(numbers)
            fire = fire_row(trigger, fire_at, fire_id, now)
            if trigger["flow_name"] is not None:
                start = flows.start(trigger, fire_at, fire_id)
                if isinstance(start, FlowStart):
                    starts.append(start)
                    fires.append(fire)
                else:
                    skipped.append((trigger, fire_at, start))
                    fires.append(fire | skipped_for(start))
                continue
            planned = plan_actions(
                actions[trigger["id"]],
                jobs.of(trigger["org_id"], trigger["namespace"]),
                counted,
                chosen,
                in_turn=in_turn,
            )
            outcome = skipped_row(planned)
            in_turn = in_turn or (chosen.drop_exhausted and not outcome)
            fires.append(fire | outcome if outcome else fire)
            new += [
                new_run(each.row, run, fire_at, fire_id, room.taker_of(run), lone=lone, last=last) for run in planned
            ]
            if outcome and chosen.drop_exhausted:
                told.append(over_cap(trigger, fire_at, outcome["reason"]))
    besides: dict[str, Sequence[Values]] = {"insert_fire": fires, **(_advanced(due, rules, jobs) if advance else {})}
    inserted = await insert_runs_with_moves(tx, new, now, besides=besides)
    await insert_flow_runs(tx, starts, jobs, counted, now)
    await tell_of_skips(tx, [each for each in skipped if each[0]["namespace"] == CHAINS], now)
    claimed = tuple(each.claimed for each in inserted if each.claimed)
    return Written(len(new) + len(starts), tuple(told), claimed, jobs)


@dataclass(slots=True)
class _Room:
    """What the takers of each queue still have room for."""

    takers: Mapping[str, Taker]
    left: dict[str, int]

    def taker_of(self, run: PlannedRun) -> Taker | None:
        queue = run.job.spec.queue if run.job and run.state is RunState.STARTING else ""
        if self.left.get(queue, 0) < 1:
            return None
        self.left[queue] -= 1
        return self.takers[queue]


def _told(trigger: Row, skips: Sequence[SkipSpan]) -> list[Skipped]:
    schedule, misfire = schedule_of(trigger["schedule"]), misfire_of(trigger["misfire"])
    return [not_run(trigger["namespace"], trigger["name"], skip, schedule, misfire) for skip in skips]


def _is_exhausted(due: Due, rules: Mapping[str, FireRules]) -> bool:
    return due.plan.next_at is None and rules.get(due.row["namespace"], GUARDED).drop_exhausted


def _advanced(due: Sequence[Due], rules: Mapping[str, FireRules], jobs: JobsByPlace) -> dict[str, list[Values]]:
    """For `run_together`: the triggers that go on; and those that do not, with the jobs of the same names."""
    exhausted = [each.row for each in due if _is_exhausted(each, rules)]
    advanced = [each for each in due if not _is_exhausted(each, rules)] if exhausted else due
    dropped = [job.id for row in exhausted if (job := _namesake(row, jobs))]
    return {
        "advance_trigger": [advance_row(each.row, each.plan.next_at, each.row["job_id"]) for each in advanced],
        **gone_with_jobs(sorted(row["id"] for row in exhausted), dropped),
    }


def _namesake(trigger: Row, jobs: JobsByPlace) -> Job | None:
    return jobs.of(trigger["org_id"], trigger["namespace"]).get(trigger["name"])


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


async def _of_program(tx: Tx, due: Sequence[Due]) -> tuple[Mapping[int, Sequence[Action]], JobsByPlace]:
    """A program's trigger has one action: the job of its own name, which nobody changes while the trigger is held."""
    place = {"org_id": due[0].row["org_id"], "namespace": due[0].row["namespace"]}
    fresh, others = _by_age(due)
    rows = [*await tx.fetch("jobs_by_names", {**place, "names": fresh})] if fresh else []
    rows += await tx.fetch("hold_jobs_by_names", {**place, "names": others}) if others else []
    actions = {each.row["id"]: (Action(target=Target.JOB, name=each.row["name"]),) for each in due}
    return actions, JobsByPlace.of_jobs(job_to_start(found) for found in rows)


def _by_age(due: Sequence[Due]) -> tuple[list[str], list[str]]:
    """Names of triggers that have never fired, and of those that have. What starts for the first time is alone."""
    fresh = [each.row["name"] for each in due if each.row["version"] == 1]
    return fresh, [each.row["name"] for each in due if each.row["version"] != 1]


async def _counted(tx: Tx, due: Sequence[Due], jobs: JobsByPlace) -> dict[int, Tally]:
    """A program's job is started by its trigger alone: where that has never fired, there is nothing to count."""
    fresh = set(_by_age(due)[0])
    counted = {job.id: Tally() for job in jobs.every if job.name in fresh}
    return counted | await tallies(tx, [job for job in jobs.every if job.name not in fresh])


async def _hold_jobs(tx: Tx, trigger_ids: Sequence[int], flows: _Flows) -> JobsByPlace:
    ids = {row["id"] for row in await tx.fetch("job_ids_of_triggers", {"trigger_ids": trigger_ids})}
    ids |= await job_ids_by_names(tx, job_names_of((place, graph) for (place, _), (_, graph) in flows.held.items()))
    return JobsByPlace.of_jobs((await hold_jobs(tx, await jobs_by_ids(tx, ids))).values())


def _plan(row: Row, now: Moment) -> Moments:
    return plan_us(schedule_of(row["schedule"]), row["next_fire_at"], now, misfire_of(row["misfire"]))
