"""A job of the library as the rows that it is: a job, its version and a trigger, whose one action is its namesake."""

from collections.abc import Mapping, Sequence

from waterclock.domain.job import JobSpec
from waterclock.domain.library import ORGANISATION, OWNER, LibraryJob, StoredJob
from waterclock.domain.moment import Moment
from waterclock.domain.planning import Misfire
from waterclock.domain.schedule import to_json
from waterclock.domain.trigger import TriggerState
from waterclock.stores.base import Now, Values
from waterclock.stores.ops.rows import dumped, storable


def new_rows(new: Sequence[StoredJob], namespace: str, now: Moment | Now) -> dict[str, list[Values]]:
    """All but the triggers, for `run_together`."""
    return {
        "insert_job": [_job_row(each, namespace, now) for each in new],
        "insert_job_version": [version_row(each, now) for each in new],
    }


def _job_row(stored: StoredJob, namespace: str, now: Moment | Now) -> dict[str, object]:
    return {
        "id": stored.id,
        "org_id": ORGANISATION,
        "namespace": namespace,
        "name": stored.job.name,
        "owner": OWNER,
        "kind": stored.job.spec.kind,
        "version": stored.version,
        "tags": "{}",
        "created_at": now,
        "updated_at": now,
    }


def new_trigger_row(stored: StoredJob, namespace: str, now: Moment | Now) -> dict[str, object]:
    return {
        **trigger_row(stored.job),
        "id": stored.trigger_id,
        "org_id": ORGANISATION,
        "namespace": namespace,
        "name": stored.job.name,
        "owner": OWNER,
        "job_id": stored.id,
        "now": now,
    }


def trigger_row(job: LibraryJob) -> dict[str, object]:
    """What of it may change. It fires while it has a next instant."""
    return {
        "state": TriggerState.STOPPED if job.next_fire_at is None else TriggerState.RUNNING,
        "schedule": dumped(to_json(job.schedule)),
        "misfire": _misfire_text(job.misfire),
        "next_fire_at": job.next_fire_at,
        "definition": dumped(job.trigger),
        "tags": problem_text(job.problem),
    }


def version_row(stored: StoredJob, now: Moment | Now) -> dict[str, object]:
    return new_version(stored.id, stored.version, stored.job.spec, stored.job.definition, now)


def new_version(
    job_id: int, version: int, spec: JobSpec, definition: Mapping[str, object], now: Moment | Now
) -> dict[str, object]:
    return {
        "job_id": job_id,
        "version": version,
        "org_id": ORGANISATION,
        "spec": dumped(spec),
        "definition": dumped(definition),
        "created_by": OWNER,
        "created_at": now,
    }


def problem_text(problem: str | None) -> str:
    return dumped({} if problem is None else {"problem": storable(problem)})


def _misfire_text(misfire: Misfire) -> str:
    return dumped(
        {
            "policy": misfire.policy.value,
            "grace_seconds": misfire.grace.total_seconds(),
            "cap": misfire.cap,
            "coalesce": misfire.coalesce,
        }
    )
