"""New rows for runs and their first attempts: many at once, in one statement."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from waterclock.domain.claim import Claimed
from waterclock.domain.moment import Moment
from waterclock.domain.run import LIVE, RunState, run_wire_id
from waterclock.stores.base import Kind, Topic, Tx, Values
from waterclock.stores.ops.bundle import Bundle, Call, add, bundle_row, may_be_bundled
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.new_run import NewRun, attempt_row, claimed_run, run_row, settled_row
from waterclock.stores.ops.room import raised

NOTHING_ELSE: Final[Mapping[str, Sequence[Values]]] = {}


@dataclass(slots=True, kw_only=True)
class Inserted:
    run_id: int
    attempt_id: int
    wire_id: str
    state: RunState
    claimed: Claimed | None = None


async def insert_runs(tx: Tx, new: Sequence[NewRun], now: Moment, moves: Moves) -> list[Inserted]:
    """A SKIPPED run has no attempt: it is a record of what was not run. Their moves are the caller's to write."""
    inserted, batches = await _numbered(tx, new, now, moves)
    await tx.run_together(batches)
    return inserted


async def insert_runs_with_moves(
    tx: Tx, new: Sequence[NewRun], now: Moment, besides: Mapping[str, Sequence[Values]] = NOTHING_ELSE
) -> list[Inserted]:
    """As `insert_runs`, where nothing else moves; and what else is to be inserted, in the same trip."""
    moves = Moves()
    inserted, batches = await _numbered(tx, new, now, moves)
    await tx.run_together({**besides, **batches, **moves.batch(now)})
    return inserted


async def rows_with_moves(tx: Tx, new: Sequence[NewRun], now: Moment) -> dict[str, list[Values]]:
    """What `insert_runs_with_moves` would write."""
    moves = Moves()
    _, batches = await _numbered(tx, new, now, moves)
    return {**batches, **moves.batch(now)}


async def _numbered(
    tx: Tx, new: Sequence[NewRun], now: Moment, moves: Moves
) -> tuple[list[Inserted], dict[str, list[Values]]]:
    if not new:
        return [], {}
    if any(run.state is RunState.STARTING and run.taker is None for run in new):
        tx.wake(Topic.ATTEMPTS)
    return numbered(new, iter(await tx.numbers(Kind.RUN, 2 * len(new))), now, moves)


def numbered(
    new: Sequence[NewRun], numbers: Iterator[int], now: Moment, moves: Moves
) -> tuple[list[Inserted], dict[str, list[Values]]]:
    """The runs and their rows; two numbers each."""
    entropy = secrets.token_bytes(26 * len(new))
    inserted: list[Inserted] = []
    settled: dict[tuple[int, int], Values] = {}
    runs: list[Values] = []
    attempts: list[Values] = []
    bundled: dict[str, list[Call]] = {}
    for index, run in enumerate(new):
        run_id, attempt_id = next(numbers), next(numbers)
        wire_id = run.wire_id or run_wire_id(run.run_at, entropy[26 * index : 26 * index + 26])
        claimed = claimed_run(run, run_id, attempt_id, wire_id, now) if run.taker else None
        inserted.append(
            Inserted(run_id=run_id, attempt_id=attempt_id, wire_id=wire_id, state=run.state, claimed=claimed)
        )
        if claimed and may_be_bundled(run):
            calls = bundled.setdefault(claimed.spec.queue, [])
            calls.append(add(calls[0].bundle if calls else Bundle(run_id, now), run, run_id, claimed))
            continue
        spec = run.job.spec if run.job else None
        key = (id(spec), id(run.probing))  # both live as long as this call
        if key not in settled:
            settled[key] = settled_row(spec, run.probing)
        runs.append(run_row(run, run_id, wire_id, settled[key], now))
        if run.state is not RunState.SKIPPED:
            attempts.append(attempt_row(run, runs[-1], attempt_id, now))
            moves.add(run.org_id, attempt_id, None, run.state, run.message)
    started = [run.job for run in new if run.job and run.state in LIVE and not run.last]
    bundles = [bundle_row(calls) for calls in bundled.values()]
    return inserted, {"insert_run": runs, "insert_attempt": attempts, "insert_bundle": bundles, **raised(started)}
