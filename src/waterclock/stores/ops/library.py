"""Jobs of the library: added, changed and removed, many at once; each with its trigger, in one transaction.

The trigger's row stands for both: whoever holds it may change the job, which is locked after it, as everybody does.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace as replaced

from waterclock.domain.errors import AlreadyExists, NotFound
from waterclock.domain.library import LibraryJob, StoredJob
from waterclock.domain.moment import Moment
from waterclock.stores.base import NOW, Kind, Row, Topic, Tx
from waterclock.stores.ops.dropping import forget_versions, gone_with_jobs
from waterclock.stores.ops.library_changing import change_jobs, going_on
from waterclock.stores.ops.library_reading import (
    has_server,
    library_jobs,
    lock_triggers,
    past_runs,
    stored_of,
    with_jobs,
)
from waterclock.stores.ops.library_rows import new_rows, new_trigger_row, problem_text

__all__ = [
    "add_free_job",
    "add_library_jobs",
    "change_library_job",
    "has_server",
    "library_jobs",
    "past_runs",
    "quarantine",
    "remove_library_jobs",
]


async def add_library_jobs(
    tx: Tx, *, namespace: str, jobs: Sequence[LibraryJob], replace: Collection[str] = (), keeping: Collection[str] = ()
) -> list[StoredJob]:
    """All of them or none. A name that is taken is an error; one in `replace` becomes what is given here.

    Those in `keeping` go on from the next instant that they have, where their schedule stays as it is.
    """
    _must_differ(job.name for job in jobs)
    now, done = await tx.now(), dict[str, StoredJob]()
    while left := {job.name: job for job in jobs if job.name not in done}:
        held = {row["name"]: row for row in await lock_triggers(tx, namespace, list(left))}
        _must_be_in(replace, held)
        done |= await _insert(tx, namespace, [job for name, job in left.items() if name not in held], now)
        done |= await _change(tx, namespace, list(held.values()), left, keeping, now)
    tx.wake(Topic.TRIGGERS)
    return [done[job.name] for job in jobs]


async def add_free_job(tx: Tx, *, namespace: str, job: LibraryJob) -> StoredJob | None:
    """One whose name is free; None, and nothing was done, where it is taken. One statement: it may be sent alone."""
    (job_id,) = await tx.numbers(Kind.JOB, 1)
    (trigger_id,) = await tx.numbers(Kind.TRIGGER, 1)
    new = StoredJob(job=job, id=job_id, version=1, trigger_id=trigger_id)
    tx.wake(Topic.TRIGGERS)
    rows = {name: row for name, (row,) in new_rows([new], namespace, NOW).items()}
    is_free = await tx.insert_free("insert_library_trigger", new_trigger_row(new, namespace, NOW), rows)
    return new if is_free else None


async def change_library_job(
    tx: Tx, *, namespace: str, name: str, revise: Callable[[StoredJob], LibraryJob]
) -> StoredJob:
    """`revise` is pure and sees the job as it is now; the name stays as it is."""
    row = await _hold(tx, namespace, name)
    if row is None:
        raise NotFound("job", name)
    job = replaced(revise(stored_of(row)), name=name)
    (changed,) = await change_jobs(tx, [(row, job)], await tx.now())
    tx.wake(Topic.TRIGGERS)
    return changed


async def remove_library_jobs(tx: Tx, *, namespace: str, names: Sequence[str] | None) -> list[str]:
    """Those that were there; None: all. Their runs stay, with the versions that they run, and live ones go on."""
    triggers = await lock_triggers(tx, namespace, names)
    if triggers:
        job_ids = sorted(row["id"] for row in await _hold_jobs(tx, namespace, triggers))
        await tx.run_together(gone_with_jobs([row["trigger_id"] for row in triggers], job_ids))
        await forget_versions(tx, job_ids)
    found = {row["name"] for row in triggers}
    return sorted(found) if names is None else [name for name in dict.fromkeys(names) if name in found]


async def quarantine(tx: Tx, *, namespace: str, name: str, version: int, reason: str) -> bool:
    """Paused, with the reason; not when it is another version by now, which may be all right."""
    row = await _hold(tx, namespace, name)
    if row is None or row["version"] != version:
        return False
    values = {"id": row["trigger_id"], "tags": problem_text(reason), "now": await tx.now()}
    await tx.run("quarantine_trigger", values)
    return True


def _must_differ(names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise AlreadyExists("job", name)


def _must_be_in(replace: Collection[str], taken: Iterable[str]) -> None:
    for name in taken:
        if name not in replace:
            raise AlreadyExists("job", name)


async def _change(
    tx: Tx,
    namespace: str,
    triggers: Sequence[Row],
    jobs: Mapping[str, LibraryJob],
    keeping: Collection[str],
    now: Moment,
) -> dict[str, StoredJob]:
    rows = await _hold_jobs(tx, namespace, triggers)
    for name in {row["name"] for row in triggers} - {row["name"] for row in rows}:
        raise AlreadyExists("trigger", name)  # somebody has deleted its job alone
    named = [(row, jobs[row["name"]]) for row in rows]
    wanted = [(row, going_on(row, job) if job.name in keeping else job) for row, job in named]
    return {each.job.name: each for each in await change_jobs(tx, wanted, now)}


async def _insert(tx: Tx, namespace: str, jobs: Sequence[LibraryJob], now: Moment) -> dict[str, StoredJob]:
    """Those whose names are free. In the order of names: two programs that add the same do not wait in a circle."""
    if not jobs:
        return {}
    job_ids = await tx.numbers(Kind.JOB, len(jobs))
    trigger_ids = await tx.numbers(Kind.TRIGGER, len(jobs))
    ordered = sorted(jobs, key=lambda job: job.name)
    new = [
        StoredJob(job=job, id=job_id, version=1, trigger_id=trigger_id)
        for job, job_id, trigger_id in zip(ordered, job_ids, trigger_ids, strict=True)
    ]
    triggers = [new_trigger_row(each, namespace, now) for each in new]
    if await tx.run_many("insert_library_trigger", triggers) < len(new):
        rows = await tx.fetch("present_triggers", {"ids": [each.trigger_id for each in new]})
        present = {row["id"] for row in rows}
        new = [each for each in new if each.trigger_id in present]
    await tx.run_together(new_rows(new, namespace, now))
    return {each.job.name: each for each in new}


async def _hold(tx: Tx, namespace: str, name: str) -> Row | None:
    """The job and its trigger, held."""
    rows = await _hold_jobs(tx, namespace, await lock_triggers(tx, namespace, [name]))
    return rows[0] if rows else None


async def _hold_jobs(tx: Tx, namespace: str, triggers: Sequence[Row]) -> Sequence[Row]:
    """Read before they are locked: nobody else changes the job of a trigger that is held, only its runs are counted."""
    rows = await with_jobs(tx, namespace, triggers)
    if rows:
        await tx.fetch("lock_jobs", {"ids": sorted(row["id"] for row in rows)})
    return rows
