"""What a worker reports of its attempts, beginnings and ends, in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Tx
from waterclock.stores.ops.bundle import call_of
from waterclock.stores.ops.claiming import begin
from waterclock.stores.ops.ending import GUARDED_EVERYWHERE, end_locked
from waterclock.stores.ops.lone_ends import end_lone, is_lone
from waterclock.stores.ops.reach import Reach, lock_jobs_alone, lock_reach
from waterclock.stores.ops.span import span_of
from waterclock.stores.ops.unbundling import unbundle


async def record(
    tx: Tx,
    *,
    beginnings: Sequence[Beginning],
    outcomes: Sequence[Outcome],
    rules: Mapping[str, FireRules] = GUARDED_EVERYWHERE,
    alone: bool = False,
    carefully: bool = False,
) -> frozenset[int]:
    """Those of the beginnings that are not the caller's any more. What has begun and ended is written once, not twice.

    The jobs are locked before the attempts, as everybody does: `begin` and then `end_attempts` would wait in a circle
    with a stop of the same runs. `alone`: these runs are in no flow, nobody watches their jobs, and no action follows.
    `Contested` where it took an end for lone that is not: then it must be called again, `carefully`.
    """
    begun = {beginning.attempt_id: beginning for beginning in beginnings}
    whole = [
        replace(outcome, beginning=begun.pop(outcome.attempt_id)) if outcome.attempt_id in begun else outcome
        for outcome in outcomes
    ]
    if alone and not carefully and not begun and all(map(is_lone, whole)):
        await end_lone(tx, whole)
        return frozenset()
    await unbundle(tx, calls=[call for each in whole if (call := call_of(each.lone))])
    reach = await _lock(tx, whole, rules, alone=alone) if whole else None
    lost = await begin(tx, list(begun.values())) if begun else frozenset()
    if reach:
        await end_locked(tx, whole, reach, await tx.now())
    return lost


async def _lock(tx: Tx, outcomes: Sequence[Outcome], rules: Mapping[str, FireRules], *, alone: bool) -> Reach:
    times = span_of(outcome.run_at for outcome in outcomes)
    if not alone:
        return await lock_reach(tx, [outcome.attempt_id for outcome in outcomes], rules, times)
    job_ids = {outcome.job_id for outcome in outcomes if outcome.job_id is not None}
    unknown = [outcome.attempt_id for outcome in outcomes if outcome.job_id is None]
    return await lock_jobs_alone(tx, job_ids, unknown, rules, times)
