"""Runs asked for by a caller: admitted, queued or refused under the job's lock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from waterclock.domain.admission import Admission, Tally, admit
from waterclock.domain.errors import ConcurrentRunsExceeded, NotFound
from waterclock.domain.job import Job, merge_arguments
from waterclock.domain.moment import Moment
from waterclock.domain.run import RunState, WaitReason
from waterclock.stores.base import Tx
from waterclock.stores.ops.jobs import get_jobs, hold_jobs, tallies
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.newruns import Inserted, NewRun, insert_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One run, now."""

    job_name: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    timeout_seconds: int | None = None
    notify_after_seconds: int | None = None
    previous_wire_id: str | None = None
    queueing: bool | None = None  # over the cap: wait or be refused, whatever the job says


async def start_runs(
    tx: Tx, *, org_id: int, namespace: str, requested_by: str, requests: Sequence[RunRequest]
) -> list[Inserted]:
    """All of them or, where one is refused, none."""
    found = await get_jobs(tx, org_id=org_id, namespace=namespace, names=sorted({r.job_name for r in requests}))
    held = await hold_jobs(tx, {job.id: job for job in found.values()})
    jobs = {job.name: job for job in held.values()}
    for request in requests:
        if request.job_name not in jobs:
            raise NotFound("job", request.job_name)
    counted = await tallies(tx, jobs.values())
    now, moves = await tx.now(), Moves()
    new = [_admitted(jobs[r.job_name], r, requested_by, counted[jobs[r.job_name].id], now) for r in requests]
    inserted = await insert_runs(tx, new, now, moves)
    await moves.write(tx, now)
    return inserted


def _admitted(job: Job, request: RunRequest, requested_by: str, tally: Tally, now: Moment) -> NewRun:
    spec = job.spec if request.queueing is None else replace(job.spec, queueing=request.queueing)
    admission = admit(spec, tally)
    if admission is Admission.REFUSE:
        raise ConcurrentRunsExceeded(job.name, job.spec.max_concurrent)
    waits = admission is Admission.WAIT
    tally.live += 1
    tally.active += not waits
    return NewRun(
        org_id=job.org_id,
        namespace=job.namespace,
        job=job,
        job_name=job.name,
        owner=job.owner,
        requested_by=requested_by,
        run_at=now,
        state=RunState.WAITING if waits else RunState.STARTING,
        wait_reason=WaitReason.SLOT if waits else None,
        arguments=merge_arguments(job.spec, of_run=request.arguments),
        settings=request.settings,
        timeout_seconds=request.timeout_seconds,
        notify_after_seconds=request.notify_after_seconds,
        previous_wire_id=request.previous_wire_id,
    )
