"""What a worker reports of its attempts, beginnings and ends, in one transaction."""

from collections.abc import Sequence

from waterclock.domain.outcome import Outcome
from waterclock.stores.base import Tx
from waterclock.stores.ops.claiming import Beginning, begin
from waterclock.stores.ops.ending import end_locked, lock_jobs_of


async def record(tx: Tx, *, beginnings: Sequence[Beginning], outcomes: Sequence[Outcome]) -> frozenset[int]:
    """Those of the beginnings that are not the caller's any more.

    The jobs are locked before the attempts, as everybody does: `begin` and then `end_attempts` would wait in a circle
    with a stop of the same runs.
    """
    jobs = await lock_jobs_of(tx, [outcome.attempt_id for outcome in outcomes]) if outcomes else {}
    lost = await begin(tx, beginnings) if beginnings else frozenset()
    if outcomes:
        await end_locked(tx, outcomes, jobs, await tx.now())
    return lost
