"""Bundled calls that are given rows while they live: they go on like any other run."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from waterclock.domain.job import Job
from waterclock.domain.moment import Moment
from waterclock.domain.run import RunState
from waterclock.stores.base import Row, Tx, Values
from waterclock.stores.ops.bundle import Call, read, rows_of
from waterclock.stores.ops.bundle_ends import emptied, hold
from waterclock.stores.ops.library_rows import new_version
from waterclock.stores.ops.moves import Moves

MOST_AT_ONCE: Final = 10  # bundles, each of hundreds of calls: no transaction grows long


async def unbundle(tx: Tx, *, calls: Sequence[Call]) -> None:
    """Give them rows; those whose bundle is gone have them."""
    there = await hold(tx, calls)
    wanted = [call for call in calls if call.bundle.id in there]
    if wanted:
        await _write(tx, wanted, await tx.now(), emptied(wanted))


async def unpack_of_node(tx: Tx, *, node: str) -> None:
    await _unpack(tx, await tx.fetch("bundles_of_node", {"node": node}))


async def unpack_lost(tx: Tx, *, horizon: Moment, namespace: str | None) -> None:
    """Of lost schedulers: what is left in their bundles are runs whose leases are over, like all others of theirs."""
    wanted = {"horizon": horizon, "limit": MOST_AT_ONCE, "namespace": namespace or ""}
    await _unpack(tx, await tx.fetch("lost_bundles", wanted))


async def _unpack(tx: Tx, rows: Sequence[Row]) -> None:
    if not rows:
        return
    calls = [call for row in rows for call in await read(tx, row)]
    await _write(tx, calls, await tx.now(), {"delete_bundles": [{"ids": [row["id"] for row in rows]}]})


async def _write(tx: Tx, calls: Sequence[Call], now: Moment, besides: Mapping[str, Sequence[Values]]) -> None:
    """Those that have ended, and those that were said before while the answer was lost, have their rows."""
    found = await tx.fetch("written_attempts", {"ids": sorted(call.attempt_id for call in calls)})
    known = {row["id"] for row in found}
    new, moves = [call for call in calls if call.attempt_id not in known], Moves()
    for call in new:
        moves.add(call.run.org_id, call.attempt_id, None, RunState.STARTING)
    versions = [_version(call, now) for call in new if call.bundle.is_submitted]
    runs, attempts = list[Values](), list[Values]()
    for run, attempt in rows_of(new):
        runs.append(run)
        attempts.append(attempt)
    inserted = {
        "insert_job_version": versions,
        "insert_run": runs,
        "insert_attempt": attempts,
        **(moves.batch(now) if new else {}),
    }
    await tx.run_together({**inserted, **besides})


def _version(call: Call, now: Moment) -> Values:
    """Whoever claims the run reads what it runs by it."""
    job = cast(Job, call.run.job)
    return new_version(job.id, job.version, job.spec, job.definition, now)
