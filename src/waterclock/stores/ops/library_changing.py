"""What changes of a job of the library: a new version of what it runs, a new generation of when, or neither."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from waterclock.domain.job import NO_CAP, JobSpec
from waterclock.domain.library import LibraryJob, StoredJob
from waterclock.domain.moment import Moment
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.jobs import fill_new_slots, jobs_by_ids
from waterclock.stores.ops.library_reading import stored_of
from waterclock.stores.ops.library_rows import trigger_row, version_row


async def change_jobs(tx: Tx, wanted: Sequence[tuple[Row, LibraryJob]], now: Moment) -> list[StoredJob]:
    """Each row, read while it was held, becomes what stands beside it."""
    changed: list[StoredJob] = []
    versions: list[Mapping[str, object]] = []
    triggers: list[Mapping[str, object]] = []
    raised: dict[int, JobSpec] = {}
    for row, job in wanted:
        was = stored_of(row)
        new = replace(was, job=job, version=was.version + 1)
        version = version_row(new, now)
        if all(version[name] == row[name] for name in ("spec", "definition")):
            new = replace(new, version=was.version)
        else:
            versions.append({**version, **_job_values(new, was.version, now)})
            raised |= {was.id: job.spec} if _raises_cap(was.job.spec, job.spec) else {}
        if _fires_otherwise(row, job):
            triggers.append({**trigger_row(job), "id": was.trigger_id, "was": row["trigger_version"], "now": now})
        changed.append(new)
    if triggers:
        await tx.run_many("redefine_library_trigger", triggers)
    if raised:
        before = await jobs_by_ids(tx, raised)
        await fill_new_slots(tx, [(before[job_id], spec) for job_id, spec in raised.items()], now)
    if versions:
        await tx.run_together({"insert_job_version": versions, "update_job": versions})
    return changed


def going_on(row: Row, job: LibraryJob) -> LibraryJob:
    """A program that starts again says its jobs again: what is due stays due, and what has fired is not fired again."""
    stays = row["next_fire_at"] is not None and trigger_row(job)["schedule"] == row["schedule"]
    return replace(job, next_fire_at=row["next_fire_at"]) if stays else job


def _job_values(stored: StoredJob, was: int, now: Moment) -> dict[str, object]:
    return {"id": stored.id, "kind": stored.job.spec.kind, "updated_at": now, "was": was}


def _raises_cap(was: JobSpec, spec: JobSpec) -> bool:
    """Who had no cap has nobody waiting."""
    return was.max_concurrent != NO_CAP and (spec.max_concurrent == NO_CAP or spec.max_concurrent > was.max_concurrent)


def _fires_otherwise(row: Row, job: LibraryJob) -> bool:
    stored = {"definition": row["trigger_definition"]}
    stored |= {name: row[name] for name in ("schedule", "misfire", "next_fire_at", "tags")}
    wanted = trigger_row(job)
    return any(wanted[name] != value for name, value in stored.items())
