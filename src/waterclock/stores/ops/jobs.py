"""Jobs: each change checks its rule under the job's lock, in the transaction that makes it."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from waterclock.domain.admission import Tally
from waterclock.domain.errors import AlreadyExists, NotFound
from waterclock.domain.job import NO_CAP, Job, JobFacts, JobSpec
from waterclock.domain.moment import Moment
from waterclock.domain.quota import QuotaKind
from waterclock.domain.trigger import TriggerState
from waterclock.stores.base import Kind, Tx, Values, by_key
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.quotas import keep_owners_quota
from waterclock.stores.ops.rows import dumped, job_of
from waterclock.stores.ops.waiting import oldest_waiting, start_waiting

Rule = Callable[[JobFacts], None]
Place = tuple[int, str]  # organisation and namespace: where a name means something


@dataclass(frozen=True, slots=True)
class JobsByPlace:
    """Jobs that this transaction holds, found by the names that they have in their place."""

    every: tuple[Job, ...]
    by_place: Mapping[Place, Mapping[str, Job]]

    @classmethod
    def of_jobs(cls, jobs: Iterable[Job]) -> "JobsByPlace":
        every, by_place = tuple(jobs), defaultdict[Place, dict[str, Job]](dict)
        for job in every:
            by_place[job.org_id, job.namespace][job.name] = job
        return cls(every, by_place)

    def of(self, org_id: int, namespace: str) -> Mapping[str, Job]:
        return self.by_place.get((org_id, namespace), {})


@by_key
async def create_job(
    tx: Tx,
    *,
    org_id: int,
    namespace: str,
    name: str | None,
    owner: str,
    spec: JobSpec,
    definition: Mapping[str, object],
    tags: Mapping[str, str],
) -> Job:
    """Without a name it is called by its number, in a namespace where all are."""
    if name is not None and await tx.fetch_one("job_by_name", {"org_id": org_id, "namespace": namespace, "name": name}):
        raise AlreadyExists("job", name)
    await keep_owners_quota(tx, org_id=org_id, namespace=namespace, owner=owner, kind=QuotaKind.JOBS)
    now = await tx.now()
    (job_id,) = await tx.numbers(Kind.JOB, 1)
    name = str(job_id) if name is None else name
    job = {
        "id": job_id,
        "org_id": org_id,
        "namespace": namespace,
        "name": name,
        "owner": owner,
        "kind": spec.kind,
        "version": 1,
        "tags": dumped(tags),
        "created_at": now,
        "updated_at": now,
    }
    version = _version_row(job_id, 1, org_id, spec, definition, owner, now)
    try:
        await tx.run_together({"insert_job": [job], "insert_job_version": [version]})
    except AlreadyExists:  # somebody else was faster
        raise AlreadyExists("job", name) from None
    return Job(
        id=job_id,
        org_id=org_id,
        namespace=namespace,
        name=name,
        owner=owner,
        version=1,
        spec=spec,
        definition=definition,
        tags=tags,
        created_at=now,
        updated_at=now,
    )


async def update_job(
    tx: Tx,
    *,
    org_id: int,
    namespace: str,
    name: str,
    by: str,
    revise: Callable[[Job], tuple[JobSpec, Mapping[str, object]]],
    allow: Rule,
) -> Job:
    """A new version beside the old ones; `revise` is pure and sees the job as it is now."""
    job = await lock_job(tx, org_id=org_id, namespace=namespace, name=name)
    allow(await _facts(tx, job))
    spec, definition = revise(job)
    now, version = await tx.now(), job.version + 1
    await tx.run("insert_job_version", _version_row(job.id, version, org_id, spec, definition, by, now))
    values = {"id": job.id, "kind": spec.kind, "version": version, "updated_at": now, "was": job.version}
    await tx.run("update_job", values)
    await fill_new_slots(tx, [(job, spec)], now)
    found = await get_job(tx, org_id=org_id, namespace=namespace, name=name)
    if found is None:
        raise NotFound("job", name)
    return found


async def delete_job(tx: Tx, *, org_id: int, namespace: str, name: str, allow: Rule) -> Job:
    job = await lock_job(tx, org_id=org_id, namespace=namespace, name=name)
    allow(await _facts(tx, job))
    await tx.run("delete_job", {"id": job.id})
    await tx.run("delete_bookmark", {"job_id": job.id})
    return job


async def get_job(tx: Tx, *, org_id: int, namespace: str, name: str) -> Job | None:
    row = await tx.fetch_one("job_by_name", {"org_id": org_id, "namespace": namespace, "name": name})
    return job_of(row) if row else None


async def get_jobs(tx: Tx, *, org_id: int, namespace: str, names: Sequence[str]) -> dict[str, Job]:
    rows = await tx.fetch("jobs_by_names", {"org_id": org_id, "namespace": namespace, "names": list(names)})
    return {row["name"]: job_of(row) for row in rows}


async def list_jobs(
    tx: Tx, *, org_id: int, namespaces: Sequence[str], after: str, limit: int, after_id: int = 0
) -> list[Job]:
    values = {"org_id": org_id, "namespaces": list(namespaces), "after": after, "after_id": after_id, "limit": limit}
    return [job_of(row) for row in await tx.fetch("jobs_of_org", values)]


async def lock_job(tx: Tx, *, org_id: int, namespace: str, name: str) -> Job:
    """The job as it is while nobody else can change it or count its runs."""
    job = await get_job(tx, org_id=org_id, namespace=namespace, name=name)
    if job is None:
        raise NotFound("job", name)
    await tx.fetch("lock_jobs", {"ids": [job.id]})
    job = await get_job(tx, org_id=org_id, namespace=namespace, name=name)
    if job is None:
        raise NotFound("job", name)
    return job


async def jobs_by_ids(tx: Tx, ids: Collection[int]) -> dict[int, Job]:
    rows = await tx.fetch("jobs_by_ids", {"ids": sorted(ids)}) if ids else ()
    return {row["id"]: job_of(row) for row in rows}


async def job_ids_by_names(tx: Tx, names: Mapping[Place, Collection[str]]) -> set[int]:
    found: set[int] = set()
    for (org_id, namespace), wanted in sorted(names.items()):
        key = {"org_id": org_id, "namespace": namespace, "names": sorted(wanted)}
        found |= {row["id"] for row in await tx.fetch("job_ids_by_names", key)}
    return found


async def lock_capped(tx: Tx, jobs: Mapping[int, Job]) -> dict[int, Job]:
    """The jobs as they are now: those with a cap are held, so that their runs can be counted; without the gone."""
    return await _held(tx, jobs, uncapped_too=False)


async def hold_jobs(tx: Tx, jobs: Mapping[int, Job]) -> dict[int, Job]:
    """As `lock_capped`; those without a cap cannot be changed or deleted until the commit, either."""
    return await _held(tx, jobs, uncapped_too=True)


async def _held(tx: Tx, jobs: Mapping[int, Job], *, uncapped_too: bool) -> dict[int, Job]:
    capped = sorted(job.id for job in jobs.values() if job.spec.max_concurrent != NO_CAP)
    others = sorted(set(jobs) - set(capped)) if uncapped_too else []
    versions = {job.id: job.version for job in jobs.values() if not uncapped_too and job.id not in capped}
    for statement, ids in (("lock_jobs", capped), ("share_jobs", others)):
        if ids:
            versions |= {row["id"]: row["version"] for row in await tx.fetch(statement, {"ids": ids})}
    if versions == {job.id: job.version for job in jobs.values()}:
        return dict(jobs)
    return await _held(tx, await jobs_by_ids(tx, versions), uncapped_too=uncapped_too)


async def tallies(tx: Tx, jobs: Collection[Job]) -> dict[int, Tally]:
    """The live runs of each job; the caller holds those with a cap, so that the numbers are true until the commit."""
    counted = {job.id: Tally() for job in jobs}
    capped = sorted(job.id for job in jobs if job.spec.max_concurrent != NO_CAP)
    if capped:
        for row in await tx.fetch("count_live_runs", {"job_ids": capped}):
            counted[row["job_id"]] = Tally(live=row["live"], active=int(row["active"]))
    return counted


async def fill_new_slots(tx: Tx, changed: Sequence[tuple[Job, JobSpec]], now: Moment) -> None:
    """A higher cap, or none, lets those that wait start at once; the jobs as they were, and what they are now."""
    counted, starts = await tallies(tx, [job for job, _ in changed]), list[int]()
    for job, spec in changed:
        tally = counted[job.id]
        waiting = tally.live - tally.active
        slots = waiting if spec.max_concurrent == NO_CAP else min(waiting, spec.max_concurrent - tally.active)
        starts += await oldest_waiting(tx, job.id, slots) if slots > 0 else []
    if starts:
        moves = Moves()
        await start_waiting(tx, starts, now, moves)
        await moves.write(tx, now)


async def _facts(tx: Tx, job: Job) -> JobFacts:
    key = {"org_id": job.org_id, "namespace": job.namespace, "name": job.name}
    triggers = await tx.fetch("triggers_with_job", key)
    live = await tx.fetch("count_live_runs", {"job_ids": [job.id]})
    return JobFacts(
        job=job,
        triggers=tuple(row["name"] for row in triggers),
        running_triggers=tuple(row["name"] for row in triggers if row["state"] == TriggerState.RUNNING),
        live_runs=live[0]["live"] if live else 0,
    )


def _version_row(
    job_id: int, version: int, org_id: int, spec: JobSpec, definition: Mapping[str, object], by: str, now: Moment
) -> Values:
    return {
        "job_id": job_id,
        "version": version,
        "org_id": org_id,
        "spec": dumped(spec),
        "definition": dumped(definition),
        "created_by": by,
        "created_at": now,
    }
