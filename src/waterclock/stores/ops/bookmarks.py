"""Bookmarks: saved in the transaction that ends a run, so that a run that succeeded has moved its job's on."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from waterclock.domain.bookmark import Bookmark, Left
from waterclock.domain.errors import NotFound
from waterclock.domain.message import MessageKind, NewMessage, Severity
from waterclock.domain.moment import Moment
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.jobs import get_job
from waterclock.stores.ops.messages import add_messages


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBookmark:
    """What an attempt that succeeded left for the next run of its job."""

    job_id: int
    org_id: int
    job_name: str
    run_id: int
    attempt: int
    wire_id: str
    left: Left


async def save_bookmarks(tx: Tx, given: Sequence[LeftBookmark], now: Moment) -> None:
    """Of each job the last in the list is what stays; of one that cannot be saved a message tells."""
    saved = [each for each in given if each.left.content is not None]
    present = await _locked(tx, sorted({each.job_id for each in saved}), now) if saved else {}
    for each in saved:
        if entry := present.get(each.job_id):  # else its job was deleted meanwhile
            present[each.job_id] = _moved_on(entry, each, now)
    if present:
        await tx.run_many("update_bookmark", [_values(present[job_id]) for job_id in sorted(present)])
    for each in given:
        if each.left.refused is not None:
            await _tell(tx, each, each.left.refused)


async def get_bookmark(tx: Tx, *, job_id: int) -> Bookmark | None:
    row = await tx.fetch_one("bookmark_of_job", {"job_id": job_id})
    return _bookmark(row) if row else None


async def set_bookmark(tx: Tx, *, org_id: int, namespace: str, name: str, content: str) -> Bookmark:
    """By a call, not by a run; the job must be there, an entry need not."""
    job_id, now = await _job_id(tx, org_id, namespace, name), await tx.now()
    entry = (await _locked(tx, [job_id], now)).get(job_id)
    if entry is None:  # deleted just now
        raise NotFound("job", name)
    return await _replaced(
        tx, replace(entry, wire_id=None, previous_wire_id=entry.wire_id, content=content, updated_at=now)
    )


async def reset_bookmark(tx: Tx, *, org_id: int, namespace: str, name: str) -> Bookmark:
    """The entry stays and counts it; the next run begins from nothing."""
    rows = await tx.fetch("lock_bookmarks", {"job_ids": [await _job_id(tx, org_id, namespace, name)]})
    if not rows:
        raise NotFound("bookmark of job", name)
    entry = _bookmark(rows[0])
    return await _replaced(tx, replace(entry, version=entry.version + 1, content=None, updated_at=await tx.now()))


def _moved_on(entry: Bookmark, by: LeftBookmark, now: Moment) -> Bookmark:
    return replace(
        entry,
        runs=entry.runs + 1,
        attempt=by.attempt,
        wire_id=by.wire_id,
        previous_wire_id=entry.wire_id,
        content=by.left.content,
        updated_at=now,
    )


async def _tell(tx: Tx, of: LeftBookmark, reason: str) -> None:
    told = NewMessage(
        org_id=of.org_id,
        kind=MessageKind.BOOKMARK,
        severity=Severity.WARNING,
        subject=of.job_name,
        body=f"run {of.wire_id} succeeded, but its bookmark was not saved: {reason}",
        run_id=of.run_id,
    )
    await add_messages(tx, [told], await tx.now())


async def _job_id(tx: Tx, org_id: int, namespace: str, name: str) -> int:
    job = await get_job(tx, org_id=org_id, namespace=namespace, name=name)
    if job is None:
        raise NotFound("job", name)
    return job.id


async def _locked(tx: Tx, job_ids: Sequence[int], now: Moment) -> dict[int, Bookmark]:
    """An entry for each job that is there: an empty one where it had none."""
    rows = list(await tx.fetch("lock_bookmarks", {"job_ids": list(job_ids)}))
    missing = sorted(set(job_ids) - {row["job_id"] for row in rows})
    found = await tx.fetch("jobs_to_bookmark", {"job_ids": missing}) if missing else ()
    if found:
        await tx.run_many("insert_empty_bookmark", [{**row, "now": now} for row in found])
        rows += await tx.fetch("lock_bookmarks", {"job_ids": [row["job_id"] for row in found]})
    return {row["job_id"]: _bookmark(row) for row in rows}


async def _replaced(tx: Tx, entry: Bookmark) -> Bookmark:
    await tx.run("update_bookmark", _values(entry))
    return entry


def _bookmark(row: Row) -> Bookmark:
    return Bookmark(**{field.name: row[field.name] for field in fields(Bookmark)})


def _values(entry: Bookmark) -> dict[str, object]:
    return {field.name: getattr(entry, field.name) for field in fields(Bookmark) if field.name != "job_name"}
