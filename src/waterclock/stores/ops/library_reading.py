"""Jobs of the library as they are stored, and what became of their runs."""

from collections.abc import Sequence

from waterclock.domain.library import ORGANISATION, LibraryJob, PastRun, PastState, StoredJob
from waterclock.domain.planning import COALESCED
from waterclock.domain.run import RunState
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.rows import loaded, misfire_of, schedule_of, spec_of


async def library_jobs(tx: Tx, *, namespace: str, names: Sequence[str] | None = None) -> list[StoredJob]:
    """In the order of their next instants, the paused ones last."""
    triggers = await _named(tx, "library_triggers", namespace, names)
    found = [stored_of(row) for row in await with_jobs(tx, namespace, triggers, all_of_them=names is None)]
    return sorted(found, key=lambda each: (each.job.next_fire_at is None, each.job.next_fire_at or 0, each.job.name))


async def past_runs(tx: Tx, *, job_id: int, trigger_id: int, limit: int) -> list[PastRun]:
    """The newest first: runs, and instants that were not run."""
    runs = await tx.fetch("past_runs_of_job", {"job_id": job_id, "limit": limit})
    skips = await tx.fetch("skipped_fires_of_trigger", {"trigger_id": trigger_id, "limit": limit})
    lines = [(row["run_at"], row["id"], _run(row)) for row in runs]
    lines += [(row["fire_at"], row["id"], _not_run(row)) for row in skips]
    return [line for _, _, line in sorted(lines, key=lambda each: each[:2], reverse=True)[:limit]]


async def has_server(tx: Tx) -> bool:
    """Whether a server's organisations live in this store, too."""
    return await tx.fetch_one("any_organisation") is not None


async def lock_triggers(tx: Tx, namespace: str, names: Sequence[str] | None) -> Sequence[Row]:
    """Those that are there; None: all."""
    ids = sorted(row["id"] for row in await _named(tx, "library_trigger_ids", namespace, names))
    return await tx.fetch("lock_library_triggers", {"ids": ids}) if ids else ()


async def with_jobs(tx: Tx, namespace: str, triggers: Sequence[Row], *, all_of_them: bool = False) -> list[Row]:
    """Each trigger and its job as one row; without those that have no job any more."""
    names = None if all_of_them else [row["name"] for row in triggers]
    jobs = {row["name"]: row for row in await _named(tx, "jobs_of_library", namespace, names)}
    return [{**row, **jobs[row["name"]]} for row in triggers if row["name"] in jobs]


async def _named(tx: Tx, statement: str, namespace: str, names: Sequence[str] | None) -> Sequence[Row]:
    key = {"org_id": ORGANISATION, "namespace": namespace}
    if names is None:
        return await tx.fetch(statement, key)
    return await tx.fetch(f"{statement}_by_names", {**key, "names": list(names)}) if names else ()


def stored_of(row: Row) -> StoredJob:
    job = LibraryJob(
        name=row["name"],
        spec=spec_of(row["spec"]),
        definition=loaded(row["definition"]),
        trigger=loaded(row["trigger_definition"]),
        schedule=schedule_of(row["schedule"]),
        misfire=misfire_of(row["misfire"]),
        next_fire_at=row["next_fire_at"],
        problem=loaded(row["tags"]).get("problem"),
    )
    return StoredJob(job=job, id=row["id"], version=row["version"], trigger_id=row["trigger_id"])


async def has_unread_jobs(tx: Tx, *, namespace: str, table: str) -> bool:
    """Whether APScheduler's own table is here while the library has no job yet: somebody may expect those to run."""
    if await tx.fetch_one("any_library_job", {"namespace": namespace}):
        return False
    return await tx.fetch_one("table_of_apscheduler", {"name": table}) is not None


def _run(row: Row) -> PastRun:
    return PastRun(
        scheduled_at=row["run_at"],
        state=row["state"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        attempts=row["attempts"],
        result=row["output"],
        message=row["message"] or row["wait_reason"],
        wire_id=row["wire_id"],
    )


def _not_run(row: Row) -> PastRun:
    """One that has a run of its own was over its job's cap: it was in time."""
    missed = row["wire_id"] is None and not row["reason"].startswith(COALESCED)
    return PastRun(
        scheduled_at=row["fire_at"],
        state=PastState.MISSED if missed else RunState.SKIPPED,
        message=row["reason"],
        first_at=row["first_at"],
        count=row["instants"],
    )
