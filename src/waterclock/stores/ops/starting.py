"""Runs asked for by a caller: admitted, queued or refused under the job's lock."""

import secrets
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from waterclock.domain.admission import Admission, Tally, admit
from waterclock.domain.errors import ConcurrentRunsExceeded, NotFound, QuotaExceeded, WaterclockError
from waterclock.domain.job import Job, merge_arguments
from waterclock.domain.moment import Moment
from waterclock.domain.quota import QuotaKind
from waterclock.domain.run import RunState, WaitReason, run_wire_id
from waterclock.stores.base import Tx
from waterclock.stores.ops.jobs import JobsByPlace, Place, get_jobs, hold_jobs
from waterclock.stores.ops.new_run import NewRun
from waterclock.stores.ops.newruns import Inserted, insert_runs_with_moves
from waterclock.stores.ops.quotas import exceeded, keep_quota, run_quotas
from waterclock.stores.ops.repeats import forget, remember
from waterclock.stores.ops.room import Ceilings, live_runs
from waterclock.stores.ops.rows import job_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One run, now; or at a later moment, until when it is durable and holds a slot."""

    job_name: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    timeout_seconds: int | None = None
    notify_after_seconds: int | None = None
    previous_wire_id: str | None = None
    queueing: bool | None = None  # over the cap: wait or be refused, whatever the job says
    due_at: Moment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCall:
    """One caller's request, which has nothing to do with those beside it."""

    org_id: int
    namespace: str
    requested_by: str
    request: RunRequest
    digest: str | None = None  # of a call that its client may repeat, and that must count once
    is_limited: bool = False  # somebody in the organisation has a quota of live runs


async def start_runs(
    tx: Tx, *, org_id: int, namespace: str, requested_by: str, requests: Sequence[RunRequest], is_limited: bool = False
) -> list[Inserted]:
    """All of them or, where one is refused, none."""
    if is_limited:
        await keep_quota(tx, org_id=org_id, user=requested_by, kind=QuotaKind.LIVE_RUNS, more=len(requests))
    found = await get_jobs(tx, org_id=org_id, namespace=namespace, names=sorted({r.job_name for r in requests}))
    held = await hold_jobs(tx, {job.id: job for job in found.values()})
    jobs = {job.name: job for job in held.values()}
    counted = await live_runs(tx, [jobs[r.job_name] for r in requests if r.job_name in jobs])
    now = await tx.now()
    new = [_admitted(jobs.get(r.job_name), r, requested_by, counted, now) for r in requests]
    return await insert_runs_with_moves(tx, new, now)


async def start_each(tx: Tx, *, calls: Sequence[StartCall]) -> list[str | WaterclockError]:
    """The id of each call's run, or why it has none; a refused one leaves nothing and harms no neighbour."""
    now, keys = await tx.now(), [call.digest or f"#{number}" for number, call in enumerate(calls)]
    distinct: dict[str, StartCall] = {}
    for key, call in zip(keys, calls, strict=True):
        distinct.setdefault(key, call)
    own = dict(zip(distinct, _wire_ids(now, len(distinct)), strict=True))
    standing = await remember(tx, {key: own[key] for key, call in distinct.items() if call.digest}, now)
    answers: dict[str, str | WaterclockError] = {**own, **standing}
    fresh = {key: call for key, call in distinct.items() if answers[key] == own[key]}
    refused = await _start_fresh(tx, fresh, own, now)
    await forget(tx, [key for key in refused if distinct[key].digest], now)
    answers.update(refused)
    return [answers[key] for key in keys]


async def _start_fresh(
    tx: Tx, calls: Mapping[str, StartCall], wire_ids: Mapping[str, str], now: Moment
) -> dict[str, WaterclockError]:
    """Those that were refused, and why; of the others there is a run now."""
    quotas = await run_quotas(tx, [(call.org_id, call.requested_by) for call in calls.values() if call.is_limited])
    jobs, ceilings = await _held(tx, calls.values())
    wanted = {key: jobs.of(call.org_id, call.namespace).get(call.request.job_name) for key, call in calls.items()}
    counted = await live_runs(tx, [job for job in wanted.values() if job], ceilings)
    refused: dict[str, WaterclockError] = {}
    new = []
    for key, call in calls.items():
        who = (call.org_id, call.requested_by)
        try:
            if (quota := quotas.get(who)) and quota.is_used_up:
                raise exceeded(quota)
            new.append(_admitted(wanted[key], call.request, call.requested_by, counted, now, wire_ids[key]))
        except (NotFound, ConcurrentRunsExceeded, QuotaExceeded) as refusal:
            refused[key] = refusal
        else:
            if quota:
                quotas[who] = quota.with_one_more()
    await insert_runs_with_moves(tx, new, now)
    return refused


async def _held(tx: Tx, calls: Collection[StartCall]) -> tuple[JobsByPlace, Ceilings | None]:
    """The jobs that the calls name: found and held with one trip where all are of one organisation, and there."""
    names: defaultdict[Place, set[str]] = defaultdict(set)
    for call in calls:
        names[call.org_id, call.namespace].add(call.request.job_name)
    if len(names) == 1:
        (((org_id, namespace), wanted),) = names.items()
        key = {"org_id": org_id, "namespace": namespace, "names": sorted(wanted)}
        rows = await tx.fetch("hold_jobs_by_names", key)
        if len(rows) == len(wanted):
            return JobsByPlace.of_jobs(map(job_of, rows)), {row["id"]: row["live_ceiling"] for row in rows}
    found: list[Job] = []
    for (org_id, namespace), wanted in names.items():
        found += (await get_jobs(tx, org_id=org_id, namespace=namespace, names=sorted(wanted))).values()
    return JobsByPlace.of_jobs((await hold_jobs(tx, {job.id: job for job in found})).values()), None


def _wire_ids(now: Moment, count: int) -> list[str]:
    entropy = secrets.token_bytes(26 * count)
    return [run_wire_id(now, entropy[26 * number : 26 * number + 26]) for number in range(count)]


def _admitted(
    job: Job | None,
    request: RunRequest,
    requested_by: str,
    counted: Mapping[int, Tally],
    now: Moment,
    wire_id: str = "",
) -> NewRun:
    if job is None:
        raise NotFound("job", request.job_name)
    tally = counted[job.id]
    spec = job.spec if request.queueing is None else replace(job.spec, queueing=request.queueing)
    admission = admit(spec, tally)
    if admission is Admission.REFUSE:
        raise ConcurrentRunsExceeded(job.name, job.spec.max_concurrent)
    waits = admission is Admission.WAIT
    tally.live += 1
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
        wire_id=wire_id,
        due_at=max(request.due_at, now) if request.due_at is not None else None,
    )
