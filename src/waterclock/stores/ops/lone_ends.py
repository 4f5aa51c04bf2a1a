"""Ends that nothing waits for, written without a look at what they end: fence and state guard each row."""

from collections.abc import Sequence

from waterclock.domain.errors import AlreadyExists
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Lone, Outcome
from waterclock.domain.run import RunState
from waterclock.stores.base import Tx
from waterclock.stores.ops.bundle import Call, call_of
from waterclock.stores.ops.bundle_ends import ended
from waterclock.stores.ops.ending import attempt_end
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.rows import storable


class Contested(Exception):
    """Something is not as its worker knows it (stopped, rescued, ended before, its job changed): undo, and look."""


def is_lone(outcome: Outcome) -> bool:
    return outcome.lone is not None and outcome.state is RunState.SUCCEEDED and outcome.progress is None


def is_bundled(outcome: Outcome) -> bool:
    return is_lone(outcome) and call_of(outcome.lone) is not None


def bundled(outcomes: Sequence[Outcome]) -> list[tuple[Call, Outcome]]:
    """Those of them that are, in the order in which everybody holds them."""
    ordered = sorted(outcomes, key=lambda each: each.attempt_id)
    return [(call, outcome) for outcome in ordered if (call := call_of(outcome.lone))]


async def end_bundled(tx: Tx, *, outcomes: Sequence[Outcome]) -> None:
    """Of calls that have no rows of their own; as `end_lone`, and one statement where the database can."""
    await end_lone(tx, outcomes)


async def end_lone(tx: Tx, outcomes: Sequence[Outcome]) -> None:
    """All of them, or `Contested`."""
    known = sorted(((each, each.lone) for each in outcomes), key=lambda pair: pair[0].attempt_id)
    calls = bundled(outcomes)
    runs = [(outcome, lone) for outcome, lone in known if lone is not None and call_of(lone) is None]
    now = await _held_at(tx, [call for call, _ in calls])
    await _hold_jobs(tx, [lone for _, lone in runs])
    moves = Moves()
    for outcome, lone in runs:
        if outcome.beginning:
            moves.add(lone.org_id, outcome.attempt_id, RunState.STARTING, RunState.RUNNING)
        moves.add(lone.org_id, outcome.attempt_id, RunState.RUNNING, outcome.state, storable(outcome.message))
    attempts = [
        attempt_end({"id": outcome.attempt_id, "run_at": lone.run_at, "state": _was(outcome)}, outcome, now)
        for outcome, lone in runs
    ]
    if await tx.run_many("end_attempt", attempts) != len(attempts):
        raise Contested
    # Whoever moves a run holds its attempt, as we do now: it is as the attempt was. Nobody waits to hear of such ends.
    rows = {"end_run": [_run_end(outcome, lone, now) for outcome, lone in runs], **ended(calls, moves, now)}
    try:
        await tx.run_together({**rows, **moves.batch(now)})
    except AlreadyExists as said_before:
        raise Contested from said_before


async def _held_at(tx: Tx, calls: Sequence[Call]) -> Moment:
    """The bundles of these, and the time; `Contested` where somebody has taken one apart."""
    wanted = {call.bundle.id for call in calls}
    if not wanted:
        return await tx.now()
    now, rows = await tx.fetch_at("hold_bundles", {"ids": sorted(wanted)})
    if {row["id"] for row in rows} != wanted:
        raise Contested
    return now


async def _hold_jobs(tx: Tx, runs: Sequence[Lone]) -> None:
    """Whoever would let a run wait for one of these changes its job first, or holds it: neither while we do."""
    known = {(lone.job_id, lone.job_version) for lone in runs if lone.job_version is not None}
    if known:
        rows = await tx.fetch("share_jobs", {"ids": sorted({job_id for job_id, _ in known})})
        if known != {
            (row["id"], row["version"]) for row in rows
        }:  # changed; or gone, and something may wait all the same
            raise Contested


def _was(outcome: Outcome) -> RunState:
    """As the store must have it: its beginning comes with its end, or has been stored."""
    return RunState.STARTING if outcome.beginning else RunState.RUNNING


def _run_end(outcome: Outcome, lone: Lone, now: Moment) -> dict[str, object]:
    return {
        "id": lone.run_id,
        "run_at": lone.run_at,
        "state": outcome.state,
        "message": storable(outcome.message),
        "was": _was(outcome),
        "started_at": now if outcome.beginning else None,
        "now": now,
    }
