"""How many runs of a job are live, as far as its cap goes: counted, or known to be no more than a ceiling.

Counting is quick where the cap is low. A job with a high cap may have thousands of live runs; its row keeps a ceiling
instead: every new run raises it, no end lowers it, and whoever reaches the cap counts and writes it down anew.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from waterclock.domain.admission import Tally
from waterclock.domain.job import NO_CAP, Job
from waterclock.stores.base import Tx, Values

LOW_CAP: Final = 100


Ceilings = Mapping[int, int | None]  # None: nobody has counted since the job was last changed


async def live_runs(tx: Tx, asked: Collection[Job], ceilings: Ceilings | None = None) -> dict[int, Tally]:
    """Of each job, which stands there as often as it is to be started.

    The caller holds them, so that the numbers are true until the commit; `ceilings` were read after that.
    """
    caps = {job.id: job.spec.max_concurrent for job in asked if job.spec.max_concurrent != NO_CAP}
    high = Counter(job.id for job in asked if has_ceiling(job))
    if ceilings is None:
        ceilings = await _ceilings(tx, high)
    near = {job_id for job_id, count in high.items() if _reaches(caps[job_id], ceilings[job_id], count)}
    live = await _count(tx, {job_id: cap for job_id, cap in caps.items() if job_id not in high or job_id in near})
    await tx.run_together({"set_live_ceiling": [{"id": job_id, "ceiling": live[job_id]} for job_id in sorted(near)]})
    known = {**ceilings, **live}
    return {job.id: Tally(live=known.get(job.id) or 0) for job in asked}


def raised(started: Iterable[Job]) -> dict[str, list[Values]]:
    """For `run_together`: of each of these jobs there is one more live run."""
    more = Counter(job.id for job in started if has_ceiling(job))
    return {"raise_live_ceiling": [{"id": job_id, "more": count} for job_id, count in sorted(more.items())]}


def has_ceiling(job: Job) -> bool:
    """Else it is counted, or has no cap."""
    return job.spec.max_concurrent > LOW_CAP


def _reaches(cap: int, ceiling: int | None, count: int) -> bool:
    return ceiling is None or ceiling + count > cap


async def _ceilings(tx: Tx, job_ids: Collection[int]) -> Ceilings:
    rows = await tx.fetch("live_ceilings", {"ids": sorted(job_ids)}) if job_ids else ()
    return {row["id"]: row["live_ceiling"] for row in rows}


async def _count(tx: Tx, caps: Mapping[int, int]) -> dict[int, int]:
    counted = dict.fromkeys(caps, 0)
    if caps:
        values = {"job_ids": sorted(caps), "most": max(caps.values())}
        counted |= {row["job_id"]: row["live"] for row in await tx.fetch("count_live_runs_up_to", values)}
    return counted
