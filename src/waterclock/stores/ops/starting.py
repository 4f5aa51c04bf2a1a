"""Runs asked for by a caller: admitted, queued or refused under the job's lock."""

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from waterclock.domain.admission import Admission, Tally, admit
from waterclock.domain.errors import ConcurrentRunsExceeded, NotFound, QuotaExceeded, WaterclockError
from waterclock.domain.job import Job, merge_arguments
from waterclock.domain.moment import Moment
from waterclock.domain.quota import Quota, QuotaKind
from waterclock.domain.run import RunState, WaitReason, run_wire_id
from waterclock.stores.base import Tx, Values, by_key
from waterclock.stores.ops.jobs import JobsByPlace, Place, get_jobs, hold_jobs
from waterclock.stores.ops.new_run import NewRun
from waterclock.stores.ops.newruns import Inserted, insert_runs_with_moves
from waterclock.stores.ops.quotas import exceeded, keep_quota, run_quotas
from waterclock.stores.ops.repeats import answered, forget, remember
from waterclock.stores.ops.room import Ceilings, live_runs
from waterclock.stores.ops.rows import job_to_start


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    answers: Sequence[str | WaterclockError]  # the id of each call's run, or why it has none
    jobs: Sequence[Job]  # that they name, as they were at that moment
    now: Moment


@by_key
async def start_new(tx: Tx, *, calls: Sequence[StartCall]) -> Started:
    """As `start_each`, one trip shorter, for calls that nobody has made before; `AlreadyExists` where one was.

    A repeated call that would be refused by now (its own first run has taken the last slot) is found without that.
    """
    batch = await _held_batch(tx, calls)
    new, refused = decided(batch, batch.calls)
    named = sorted(key for key, call in batch.calls.items() if call.digest)
    await insert_runs_with_moves(tx, new, batch.now, batch.names_of(key for key in named if key not in refused))
    standing = await answered(tx, [key for key in named if key in refused], batch.now)
    answers = batch.in_order({**batch.own, **refused, **standing})
    return Started(answers=answers, jobs=batch.jobs.every, now=batch.now)


@by_key
async def start_each(tx: Tx, *, calls: Sequence[StartCall]) -> list[str | WaterclockError]:
    """The id of each call's run, or why it has none; a refused one leaves nothing and harms no neighbour."""
    batch = await _held_batch(tx, calls)
    named = {key: batch.own[key] for key, call in batch.calls.items() if call.digest}
    answers: dict[str, str | WaterclockError] = {**batch.own, **await remember(tx, named, batch.now)}
    fresh = {key: call for key, call in batch.calls.items() if answers[key] == batch.own[key]}
    new, refused = decided(batch, fresh)
    await insert_runs_with_moves(tx, new, batch.now)
    await forget(tx, [key for key in refused if key in named], batch.now)
    return batch.in_order({**answers, **refused})


@dataclass(slots=True, kw_only=True)
class Batch:
    """Calls, and what they are decided from: it is held until the commit.

    Jobs are held before anything is remembered: whoever repeats a call waits for the job that both of them name.
    """

    keys: Sequence[str]  # of the calls as they came: those with one key are one call
    calls: Mapping[str, StartCall]
    own: Mapping[str, str]  # the id that a run of each would have
    now: Moment
    quotas: dict[tuple[int, str], Quota]
    jobs: JobsByPlace
    counted: Mapping[int, Tally]

    def job_of(self, call: StartCall) -> Job | None:
        return self.jobs.of(call.org_id, call.namespace).get(call.request.job_name)

    def names_of(self, keys: Iterable[str]) -> dict[str, list[Values]]:
        """For `run_together`: what a repetition of these calls would run into."""
        return {"insert_call": [{"digest": key, "answer": self.own[key], "now": self.now} for key in keys]}

    def in_order(self, answers: Mapping[str, str | WaterclockError]) -> list[str | WaterclockError]:
        return [answers[key] for key in self.keys]


async def _held_batch(tx: Tx, calls: Sequence[StartCall]) -> Batch:
    keys = [call.digest or f"#{number}" for number, call in enumerate(calls)]
    distinct: dict[str, StartCall] = {}
    for key, call in zip(keys, calls, strict=True):
        distinct.setdefault(key, call)
    quotas = await run_quotas(tx, [(call.org_id, call.requested_by) for call in distinct.values() if call.is_limited])
    now, jobs, ceilings = await _held(tx, distinct.values())
    wanted = [jobs.of(call.org_id, call.namespace).get(call.request.job_name) for call in distinct.values()]
    return Batch(
        keys=keys,
        calls=distinct,
        own=dict(zip(distinct, wire_ids(now, len(distinct)), strict=True)),
        now=now,
        quotas=quotas,
        jobs=jobs,
        counted=await live_runs(tx, [job for job in wanted if job], ceilings),
    )


def decided(batch: Batch, calls: Mapping[str, StartCall]) -> tuple[list[NewRun], dict[str, WaterclockError]]:
    """The runs of these calls, and why others have none."""
    refused: dict[str, WaterclockError] = {}
    new = []
    for key, call in calls.items():
        who, job = (call.org_id, call.requested_by), batch.job_of(call)
        try:
            if (quota := batch.quotas.get(who)) and quota.is_used_up:
                raise exceeded(quota)
            new.append(_admitted(job, call.request, call.requested_by, batch.counted, batch.now, batch.own[key]))
        except (NotFound, ConcurrentRunsExceeded, QuotaExceeded) as refusal:
            refused[key] = refusal
        else:
            if quota:
                batch.quotas[who] = quota.with_one_more()
    return new, refused


async def _held(tx: Tx, calls: Collection[StartCall]) -> tuple[Moment, JobsByPlace, Ceilings | None]:
    """The time, and the jobs that the calls name: all in one trip where these are of one organisation, and there."""
    names: defaultdict[Place, set[str]] = defaultdict(set)
    for call in calls:
        names[call.org_id, call.namespace].add(call.request.job_name)
    if len(names) == 1:
        (((org_id, namespace), wanted),) = names.items()
        key = {"org_id": org_id, "namespace": namespace, "names": sorted(wanted)}
        now, rows = await tx.fetch_at("hold_jobs_by_names", key)
        if len(rows) == len(wanted):
            return now, JobsByPlace.of_jobs(map(job_to_start, rows)), {row["id"]: row["live_ceiling"] for row in rows}
    found: list[Job] = []
    for (org_id, namespace), wanted in names.items():
        found += (await get_jobs(tx, org_id=org_id, namespace=namespace, names=sorted(wanted))).values()
    held = await hold_jobs(tx, {job.id: job for job in found})
    return await tx.now(), JobsByPlace.of_jobs(held.values()), None


def wire_ids(now: Moment, count: int) -> list[str]:
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
