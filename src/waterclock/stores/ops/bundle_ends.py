"""The ends of bundled calls: each has its rows written once, as if they had been there from the beginning."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, cast

from waterclock.domain.job import Job
from waterclock.domain.outcome import Lone, Outcome
from waterclock.domain.placement import asked_mb
from waterclock.domain.run import RunState
from waterclock.stores.alike import Alike
from waterclock.stores.base import Tx, Values, When
from waterclock.stores.ops.bundle import KEPT, Bundled, Call, kept, rows_of
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.new_run import settled_row
from waterclock.stores.ops.rows import storable

# What calls have of their own.
_RUN: Final = ("id", "wire_id", "created_at", "job_id", "job_version", *KEPT)
_ATTEMPT: Final = ("id", "run_id", "wire_id", "created_at", "run_at", "due_at", "job_id", "output")

Ended = tuple[Call, Outcome]


async def hold(tx: Tx, calls: Iterable[Call]) -> frozenset[int]:
    """Those of their bundles that are still there; nobody else takes them apart until the commit."""
    ids = sorted({call.bundle.id for call in calls})
    return frozenset(row["id"] for row in await tx.fetch("hold_bundles", {"ids": ids})) if ids else frozenset()


def ended(calls: Sequence[Ended], moves: Moves, now: When) -> dict[str, Sequence[Values]]:
    """For `run_together`: their rows, and an end to the bundles that they are the last of."""
    for call, outcome in calls:
        org_id, attempt_id = call.run.org_id, call.attempt_id
        moves.add(org_id, attempt_id, None, RunState.STARTING)
        moves.add(org_id, attempt_id, RunState.STARTING, RunState.RUNNING)
        moves.add(org_id, attempt_id, RunState.RUNNING, outcome.state, storable(outcome.message))
    rows = [_rows(group, now) for group in _by_kind(calls)]
    return {
        "insert_ended_run": _joined([runs for runs, _ in rows]),
        "insert_ended_attempt": _joined([attempts for _, attempts in rows]),
        **emptied([call for call, _ in calls]),
    }


def _by_kind(calls: Sequence[Ended]) -> Iterable[Sequence[Ended]]:
    """Those that differ in nothing but what `_RUN` and `_ATTEMPT` name together: mostly all of them."""
    kinds: dict[int, tuple[object, ...]] = {}  # by spec, which lives as long as this call
    groups: dict[tuple[object, ...], list[Ended]] = {}
    for call, outcome in calls:
        run, began = call.run, outcome.beginning
        spec = cast(Job, run.job).spec
        if id(spec) not in kinds:
            kinds[id(spec)] = (asked_mb(spec.limits), *settled_row(spec, None).values())
        taker = run.taker and (run.taker.node, run.taker.host)  # how much room it had is in no row
        told = (outcome.state, outcome.message, began and began.pid)
        groups.setdefault((kinds[id(spec)], run.org_id, run.namespace, taker, *told), []).append((call, outcome))
    return groups.values()


def _rows(calls: Sequence[Ended], now: When) -> tuple[Alike, Alike]:
    first, outcome = calls[0]
    began = outcome.beginning
    ((run, attempt),) = rows_of([first])
    end = {
        "state": outcome.state,
        "message": storable(outcome.message),
        "started_at": now if began else None,
        "ended_at": now,
        "updated_at": now,
    }
    told = {"lease_until": None, "pid": began.pid if began else None}
    return (
        Alike({**run, **end}, _RUN, [_run_values(call) for call, _ in calls]),
        Alike({**attempt, **end, **told}, _ATTEMPT, [_attempt_values(call, outcome) for call, outcome in calls]),
    )


def _run_values(call: Call) -> tuple[object, ...]:
    job = cast(Job, call.run.job)
    return (call.run_id, call.wire_id, call.bundle.created_at, job.id, job.version, *kept(call.run))


def _attempt_values(call: Call, outcome: Outcome) -> tuple[object, ...]:
    run_at, job = call.run.run_at, cast(Job, call.run.job)
    output = storable(outcome.output)
    return (call.attempt_id, call.run_id, call.wire_id, call.bundle.created_at, run_at, run_at, job.id, output)


def _joined(groups: Sequence[Alike]) -> Sequence[Values]:
    return groups[0] if len(groups) == 1 else [row for group in groups for row in group]


def emptied(calls: Sequence[Call]) -> dict[str, Sequence[Values]]:
    """For `run_together`: no row for a bundle that these are the last of."""
    bundles = {call.bundle.id: call.bundle for call in calls}
    taken = Counter(call.bundle.id for call in calls)
    ids = sorted(bundle_id for bundle_id, count in taken.items() if count == bundles[bundle_id].calls)
    return {"delete_bundles": [{"ids": ids}] if ids else []}


def written(runs: Iterable[Lone | None]) -> None:
    """After the commit: these have rows of their own."""
    for run in runs:
        if isinstance(run, Bundled) and run.call:
            run.call.bundle.calls -= 1
            run.call = None
