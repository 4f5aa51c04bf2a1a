"""Fire what was decided beforehand, if nothing has happened to it since; all of it, or none."""

from waterclock.domain.moment import Moment
from waterclock.stores.base import Tx
from waterclock.stores.ops.volley import Volley


class Changed(Exception):
    """Something is not as it was read (fired by another, changed, removed, too late): undo, and fire with care."""


async def fire_volley(tx: Tx, *, volley: Volley) -> Moment:
    """When, by the store's clock; before its instant nothing was done."""
    now = await tx.now()
    if now < volley.due_at:
        return now
    if now > volley.until or not await _is_as_it_was(tx, volley):
        raise Changed
    await tx.run_together(volley.stamped(now))
    return now


async def _is_as_it_was(tx: Tx, volley: Volley) -> bool:
    """Whoever changes a job has its trigger first: while those are held nobody does."""
    wanted = {"ids": sorted(volley.triggers), "due_at": volley.due_at}
    if {row["id"]: row["version"] for row in await tx.fetch("hold_due_triggers", wanted)} != volley.triggers:
        return False
    # Who counts the runs of a job holds it; of one that has never fired there are none.
    jobs = await tx.fetch("lock_jobs" if volley.caps else "versions_now", {"ids": sorted(volley.jobs)})
    if {row["id"]: row["version"] for row in jobs} != volley.jobs:
        return False
    live = await tx.fetch("count_live_runs", {"job_ids": sorted(volley.caps)}) if volley.caps else ()
    return all(row["live"] < volley.caps[row["job_id"]] for row in live)
