"""What one due instant leaves: its row in the ledger, and the runs that were planned of it."""

from collections.abc import Sequence
from typing import Final

from waterclock.domain.claim import Taker
from waterclock.domain.firing import PlannedRun, Skipped, SkippedFor
from waterclock.domain.job import merge_arguments
from waterclock.domain.moment import Moment, from_datetime
from waterclock.domain.planning import COALESCED, Misfire, SkipSpan, latest
from waterclock.domain.run import RunState
from waterclock.domain.schedule import Schedule
from waterclock.domain.trigger import FireOutcome
from waterclock.stores.base import Row
from waterclock.stores.ops.new_run import NewRun

LONGEST_REASON: Final = 1_000
MOST_TOLD: Final = 100  # instants of one span


def fire_row(trigger: Row, fire_at: Moment, fire_id: int, now: Moment) -> dict[str, object]:
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


def advance_row(trigger: Row, next_at: Moment | None, job_id: int | None) -> dict[str, object]:
    """`job_id`: of a program's trigger, where whoever fires it knows the number of its job."""
    return {"id": trigger["id"], "was": trigger["version"], "next_fire_at": next_at, "job_id": job_id}


def skipped_row(planned: Sequence[PlannedRun]) -> dict[str, str]:
    """A fire none of whose actions runs is a skipped one, for their reasons."""
    for run in planned:
        if run.state is not RunState.SKIPPED:
            return {}
    return skipped_for("; ".join(dict.fromkeys(run.message or "" for run in planned)))


def skipped_for(reason: str) -> dict[str, str]:
    return {"outcome": FireOutcome.SKIPPED, "reason": reason[:LONGEST_REASON]}


def skip_row(trigger: Row, skip: SkipSpan, fire_id: int, now: Moment) -> dict[str, object]:
    first, last = from_datetime(skip.first), from_datetime(skip.last)
    return {
        **fire_row(trigger, last, fire_id, now),
        "outcome": FireOutcome.SKIPPED,
        "reason": skip.reason,
        "first_at": first,
        "last_at": last,
        "instants": skip.count,
    }


def not_run(namespace: str, name: str, skip: SkipSpan, schedule: Schedule, misfire: Misfire) -> Skipped:
    """As it is told to the program whose job it is: every instant that was missed, unless only the last one counts."""
    first, last = from_datetime(skip.first), from_datetime(skip.last)
    coalesced = skip.reason.startswith(COALESCED)
    most = 0 if coalesced else 1 if misfire.coalesce else MOST_TOLD
    return Skipped(
        namespace=namespace,
        name=name,
        why=SkippedFor.COALESCED if coalesced else SkippedFor.MISSED,
        first_at=first,
        last_at=last,
        count=skip.count,
        reason=skip.reason,
        instants=latest(schedule, first, last, most) if most else (),
    )


def over_cap(trigger: Row, fire_at: Moment, reason: str) -> Skipped:
    return Skipped(
        namespace=trigger["namespace"],
        name=trigger["name"],
        why=SkippedFor.OVER_CAP,
        first_at=fire_at,
        last_at=fire_at,
        count=1,
        reason=reason,
    )


def new_run(
    trigger: Row,
    run: PlannedRun,
    fire_at: Moment,
    fire_id: int,
    taker: Taker | None,
    *,
    lone: bool = False,
    last: bool = False,
) -> NewRun:
    """`lone`: of a program's job, and of no other instant of this round; `last`: its job goes with this fire."""
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
        taker=taker,
        lone=lone and run.job is not None and not run.job.spec.queueing,
        last=last,
    )
