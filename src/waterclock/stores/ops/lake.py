"""Lake jobs: made, changed and deleted together with the job and the trigger that they are.

One that was deleted leaves its row behind, so that its runs still have a name.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypedDict

from waterclock.domain.errors import InvalidInput, NotAllowed, NotFound
from waterclock.domain.job import Job, JobFacts, JobSpec
from waterclock.domain.lake import NAMESPACE, LakeDraft, LakeJob
from waterclock.domain.lake_secrets import secret_arguments
from waterclock.domain.schedule import Schedule, to_json
from waterclock.domain.trigger import Action, FireRules, Target, Trigger, TriggerSpec, TriggerType
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.jobs import create_job, delete_job, get_job, update_job
from waterclock.stores.ops.lake_reading import get_lake_job
from waterclock.stores.ops.lake_references import with_sources
from waterclock.stores.ops.lake_rows import draft_row
from waterclock.stores.ops.rows import dumped, loaded
from waterclock.stores.ops.stopping import stop_by_ids
from waterclock.stores.ops.triggers import create_trigger, delete_trigger, update_trigger

Rule = Callable[[Job], None]

ONE_RUN: Final = 1
MISFIRE: Final = {"policy": "one"}  # however many instants were missed


class _Key(TypedDict):
    """Where its job and its trigger are found."""

    org_id: int
    namespace: str
    name: str


async def create_lake_job(tx: Tx, *, org_id: int, owner: str, creator: str, draft: LakeDraft) -> LakeJob:
    """Its number is its job's; whoever `creator` is, `owner` may change it."""
    draft = await with_sources(tx, org_id, draft)
    job = await create_job(
        tx,
        org_id=org_id,
        namespace=NAMESPACE,
        name=None,
        owner=owner,
        spec=_job_spec(draft),
        definition=draft.definition,
        tags={},
    )
    trigger = await _schedule(tx, job, draft.schedule) if draft.schedule else None
    row = {**draft_row(draft, job.created_at), "id": job.id, "org_id": org_id, "class_name": draft.class_name}
    made = {"creator": creator, "created_at": job.created_at, "trigger_id": trigger.id if trigger else None}
    await tx.run("insert_lake_job", {**row, **made})
    return await get_lake_job(tx, org_id=org_id, job_id=job.id)


async def create_lake_jobs(
    tx: Tx, *, org_id: int, owner: str, creator: str, drafts: Sequence[LakeDraft]
) -> list[LakeJob]:
    """All of them, or none."""
    return [await create_lake_job(tx, org_id=org_id, owner=owner, creator=creator, draft=draft) for draft in drafts]


async def update_lake_job(tx: Tx, *, org_id: int, job_id: int, by: str, draft: LakeDraft, allow: Rule) -> LakeJob:
    """All of it but its kind. A schedule that is given as it was goes on as it is; another one begins anew."""
    row, job = await _lock(tx, org_id, job_id, allow)
    if row["class_name"] != draft.class_name:
        raise InvalidInput(
            f"a {row['class_name']} cannot become a {draft.class_name}, whose runs are told otherwise: delete it and "
            "create another",
            field="class_name",
            value=draft.class_name,
        )
    draft = await with_sources(tx, org_id, draft)
    trigger_id = await _reschedule(tx, row, job, draft)
    spec = _job_spec(draft)
    await update_job(tx, **_key(job), by=by, revise=lambda _: (spec, draft.definition), allow=_nothing_lives)
    await tx.run("update_lake_job", {**draft_row(draft, await tx.now()), "id": job_id, "trigger_id": trigger_id})
    return await get_lake_job(tx, org_id=org_id, job_id=job_id)


async def delete_lake_job(tx: Tx, *, org_id: int, job_id: int, allow: Rule) -> None:
    row, job = await _lock(tx, org_id, job_id, allow)
    if row["trigger_id"] is not None:
        await delete_trigger(tx, **_key(job), allow=_anybody)
    await delete_job(tx, **_key(job), allow=_nothing_lives)
    await tx.run("delete_lake_job", {"id": job_id, "now": await tx.now()})


async def kill_lake_job(tx: Tx, *, org_id: int, job_id: int, rules: Mapping[str, FireRules]) -> bool:
    """Whether anything of it was live, in a queue or in a process: all of that is to die."""
    row = await tx.fetch_one("lake_job_exists", {"id": job_id, "org_id": org_id})
    if row is None or row["deleted_at"] is not None:
        raise NotFound("job", job_id)
    live = [row["id"] for row in await tx.fetch("live_attempt_ids_of_job", {"job_id": job_id})]
    await stop_by_ids(tx, live, await tx.now(), rules)
    return bool(live)


async def _lock(tx: Tx, org_id: int, job_id: int, allow: Rule) -> tuple[Row, Job]:
    """Its row first, then its trigger, then its job, as all do who change it."""
    row = await tx.fetch_one("lock_lake_job", {"id": job_id, "org_id": org_id})
    job = await get_job(tx, org_id=org_id, namespace=NAMESPACE, name=str(job_id))
    if row is None or job is None:
        raise NotFound("job", job_id)
    allow(job)
    return row, job


async def _reschedule(tx: Tx, row: Row, job: Job, draft: LakeDraft) -> int | None:
    """The number of its trigger from now on."""
    if loaded(row["schedule"]) == loaded(dumped(draft.schedule_time)):
        return int(row["trigger_id"]) if row["trigger_id"] is not None else None
    if row["trigger_id"] is None:
        return (await _schedule(tx, job, draft.schedule)).id if draft.schedule else None
    if draft.schedule is None:
        await delete_trigger(tx, **_key(job), allow=_anybody)
        return None
    meant = _trigger_spec(job, draft.schedule)
    return (await update_trigger(tx, **_key(job), revise=lambda _: (meant, {}), allow=_anybody, late=True)).id


async def _schedule(tx: Tx, job: Job, schedule: Schedule) -> Trigger:
    """Also one whose only instant is the moment of the call, which is over by now."""
    spec = _trigger_spec(job, schedule)
    return await create_trigger(
        tx, **_key(job), owner=job.owner, spec=spec, definition={}, tags={}, start=True, late=True
    )


def _job_spec(draft: LakeDraft) -> JobSpec:
    return JobSpec(
        kind=draft.class_name,
        fixed_arguments=secret_arguments(draft.task),
        max_concurrent=ONE_RUN,
        retries=draft.retries,
        timeout_seconds=draft.timeout_seconds,
        queue=draft.queue,
        labels=draft.labels,
        call=draft.task,
    )


def _trigger_spec(job: Job, schedule: Schedule) -> TriggerSpec:
    return TriggerSpec(
        type=TriggerType.SCHEDULED,
        actions=(Action(target=Target.JOB, name=job.name),),
        schedule=to_json(schedule),
        misfire=MISFIRE,
    )


def _key(job: Job) -> _Key:
    return _Key(org_id=job.org_id, namespace=NAMESPACE, name=job.name)


def _anybody(_: Trigger) -> None:
    """The lake job's own rule has been asked."""


def _nothing_lives(facts: JobFacts) -> None:
    if facts.live_runs:
        raise NotAllowed(f"job {facts.job.name} has a live run: kill it or wait for its end first")
