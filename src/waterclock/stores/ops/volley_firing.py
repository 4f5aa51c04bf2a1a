"""Fire what was decided beforehand, if nothing has happened to it since; all of it, or none."""

from dataclasses import dataclass

from waterclock.domain.moment import Moment
from waterclock.stores.base import Tx
from waterclock.stores.ops.volley import Volley


@dataclass(frozen=True, slots=True)
class Shot:
    """`is_fired` is false before the instant, and where something is not as it was read: then nothing was done."""

    is_fired: bool
    now: Moment  # by the store's clock


async def fire_volley(tx: Tx, *, volley: Volley, about: Moment) -> Shot:
    """`about`: what the caller takes for the store's time; for stores that are not asked for it by themselves."""
    now = await tx.now()
    is_fired = volley.due_at <= now <= volley.until and await _is_as_it_was(tx, volley)
    if is_fired:
        await tx.run_together({**volley.stamped(now), **volley.gone()})
    return Shot(is_fired, now)


async def _is_as_it_was(tx: Tx, volley: Volley) -> bool:
    """Whoever changes a job, or fires it, has its trigger first: while those are held nobody does."""
    wanted = {"ids": sorted(volley.triggers), "due_at": volley.due_at}
    if {row["id"]: row["version"] for row in await tx.fetch("hold_due_triggers", wanted)} != volley.triggers:
        return False
    jobs = await tx.fetch("versions_now", {"ids": sorted(volley.jobs)})
    return {row["id"]: row["version"] for row in jobs} == volley.jobs
