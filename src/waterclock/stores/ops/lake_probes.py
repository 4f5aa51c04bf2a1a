"""Probes of sources: the job that all of an organisation's are runs of, who would take one, and what it answered."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from waterclock.domain.job import JobSpec
from waterclock.domain.lake_probe import NAMESPACE
from waterclock.domain.lake_sync import PROBE
from waterclock.domain.moment import seconds
from waterclock.domain.placement import Asked, why_waiting
from waterclock.stores.base import Tx
from waterclock.stores.ops.jobs import create_job, get_job
from waterclock.stores.ops.lake_reading import newest_attempts
from waterclock.stores.ops.placing import live_workers
from waterclock.stores.ops.rows import loaded

OWNER: Final = "waterclock"  # it is nobody's
AT_ONCE: Final = 4  # of an organisation; further ones wait
LONGEST_SECONDS: Final = 60

SPEC: Final = JobSpec(kind=PROBE, max_concurrent=AT_ONCE, queueing=True, timeout_seconds=LONGEST_SECONDS)


async def is_there(tx: Tx, *, org_id: int) -> bool:
    return await get_job(tx, org_id=org_id, namespace=NAMESPACE, name=PROBE) is not None


async def make(tx: Tx, *, org_id: int) -> None:
    """Once for each organisation."""
    if not await is_there(tx, org_id=org_id):
        await create_job(
            tx, org_id=org_id, namespace=NAMESPACE, name=PROBE, owner=OWNER, spec=SPEC, definition={}, tags={}
        )


async def why_nobody_would(tx: Tx, *, org_id: int, within_seconds: float) -> str | None:
    """Why no live worker could take a probe, however idle; None where one could."""
    workers = await live_workers(tx, since=await tx.now() - seconds(within_seconds))
    asked = Asked(org_id=org_id, queue=SPEC.queue, labels="", role="", memory_mb=0)
    return why_waiting(asked, [replace(each, running=0) for each in workers])


async def answer_of(tx: Tx, *, run_id: int) -> Mapping[str, object]:
    """What the run has said."""
    found = await newest_attempts(tx, [run_id])
    return loaded(found[run_id]["progress"]) if run_id in found else {}
