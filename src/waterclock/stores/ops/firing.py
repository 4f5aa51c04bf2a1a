"""Fire what is due: ledger rows, runs and the triggers' next instants, in one transaction for many triggers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from waterclock.domain.firing import PlannedRun, plan_actions
from waterclock.domain.job import Job, merge_arguments
from waterclock.domain.moment import Moment, from_datetime, to_datetime
from waterclock.domain.planning import Plan, SkipSpan, plan
from waterclock.domain.run import RunState
from waterclock.domain.trigger import Action, FireOutcome, FireRules
from waterclock.stores.base import Kind, Row, Tx
from waterclock.stores.ops.jobs import hold_jobs, jobs_by_ids, tallies
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.newruns import NewRun, insert_runs
from waterclock.stores.ops.rows import action_of, misfire_of, schedule_of

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
    """The ledger rows and the runs of many triggers; how many runs."""
    ids = [each.row["id"] for each in due]
    actions, jobs = await actions_of(tx, ids), await _jobs(tx, ids)
    counted = await tallies(tx, jobs.every)
    numbers = iter(await tx.numbers(Kind.RUN, sum(len(each.plan.fires) + len(each.plan.skips) for each in due)))
    fires: list[dict[str, object]] = []
    new: list[NewRun] = []
    for each in due:
        trigger, chosen = each.row, rules.get(each.row["namespace"], GUARDED)
        fires += [_skip_row(trigger, skip, next(numbers), now) for skip in each.plan.skips]
        for instant in each.plan.fires:
            fire_at, fire_id = from_datetime(instant), next(numbers)
            planned = plan_actions(actions[trigger["id"]], jobs.of(trigger), counted, chosen)
            fires.append(_fire_row(trigger, fire_at, fire_id, now) | _skipped(planned))
            new += [_new_run(trigger, run, fire_at, fire_id) for run in planned]
    if fires:
        await tx.run_many("insert_fire", fires)
    moves = Moves()
    await insert_runs(tx, new, now, moves)
    await moves.write(tx, now)
    return len(new)


@dataclass(frozen=True, slots=True)
class _Jobs:
    every: Sequence[Job]
    by_place: Mapping[tuple[int, str], Mapping[str, Job]]

    def of(self, trigger: Row) -> Mapping[str, Job]:
        return self.by_place.get((trigger["org_id"], trigger["namespace"]), {})


async def _jobs(tx: Tx, trigger_ids: Sequence[int]) -> _Jobs:
    ids = [row["id"] for row in await tx.fetch("job_ids_of_triggers", {"trigger_ids": trigger_ids})]
    found = (await hold_jobs(tx, await jobs_by_ids(tx, ids))).values()
    by_place: defaultdict[tuple[int, str], dict[str, Job]] = defaultdict(dict)
    for job in found:
        by_place[job.org_id, job.namespace][job.name] = job
    return _Jobs(tuple(found), by_place)


async def actions_of(tx: Tx, trigger_ids: Sequence[int]) -> Mapping[int, list[Action]]:
    found: defaultdict[int, list[Action]] = defaultdict(list)
    for row in await tx.fetch("actions_of_triggers", {"trigger_ids": trigger_ids}):
        found[row["trigger_id"]].append(action_of(row))
    return found


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
    reasons = "; ".join(dict.fromkeys(run.message or "" for run in planned))
    return {"outcome": FireOutcome.SKIPPED, "reason": reasons[:LONGEST_REASON]}


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
