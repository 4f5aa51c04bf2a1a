"""The runs of an organisation's lake jobs, also of those that were deleted: each by its newest attempt."""

from collections.abc import Sequence
from dataclasses import replace

from waterclock.domain.errors import NotFound
from waterclock.domain.lake import LakeRun, Listed, RunSortField, Sort
from waterclock.stores.base import Row, Tx, Values
from waterclock.stores.ops.lake_reading import newest_attempts, whole_attempts
from waterclock.stores.ops.lake_rows import folded, in_order, pattern_of, total_of
from waterclock.stores.ops.rows import loaded


async def list_lake_runs(
    tx: Tx,
    *,
    org_id: int,
    keyword: str | None,
    job_id: int | None,
    offset: int,
    limit: int,
    sorts: Sequence[Sort[RunSortField]],
) -> Listed[LakeRun]:
    """Of one job, or of those whose name holds the keyword; newest first, unless they are to be sorted first."""
    which, sought = await _sought(tx, org_id, keyword, job_id)
    rows = await tx.fetch(in_order(f"lake_runs{which}", sorts), {**sought, "offset": offset, "limit": limit})
    newest = await newest_attempts(tx, [row["run_id"] for row in rows])
    items = await shown_runs(tx, org_id, [newest[row["run_id"]] for row in rows if row["run_id"] in newest])
    return Listed(items=items, total=await total_of(tx, f"count_lake_runs{which}", sought))


async def _sought(tx: Tx, org_id: int, keyword: str | None, job_id: int | None) -> tuple[str, Values]:
    """Which of the statements, and what it is given."""
    if job_id is not None:
        names = await tx.fetch("lake_job_names", {"ids": [job_id], "org_id": org_id})
        if not names:
            raise NotFound("job", job_id)
        fits = folded(keyword or "") in folded(names[0]["display_name"])
        return ("_of_job", {"job_id": job_id}) if fits else ("_of_jobs", {"job_ids": []})
    if not keyword:
        return "", {"org_id": org_id}
    rows = await tx.fetch("lake_job_ids_with_history", {"org_id": org_id, "pattern": pattern_of(keyword)})
    return "_of_jobs", {"job_ids": [row["id"] for row in rows]}


async def shown_runs(tx: Tx, org_id: int, rows: Sequence[Row]) -> list[LakeRun]:
    """Rows as of `newest_attempts`."""
    if not rows:
        return []
    attempts, now = await whole_attempts(tx, [row["id"] for row in rows]), await tx.now()
    job_ids = sorted({row["job_id"] for row in rows if row["job_id"] is not None})
    names = {row["id"]: row for row in await tx.fetch("lake_job_names", {"ids": job_ids, "org_id": org_id})}
    return [
        LakeRun(
            # It began with its first attempt; and what its program says of it is news of it, too.
            attempt=replace(attempts[row["id"]], started_at=row["started_at"], updated_at=row["updated_at"]),
            job_id=row["job_id"],
            display_name=names[row["job_id"]]["display_name"],
            class_name=names[row["job_id"]]["class_name"],
            job_type=names[row["job_id"]]["job_type"],
            progress=loaded(row["progress"]),
            now=now,
        )
        for row in rows
        if row["id"] in attempts and row["job_id"] in names
    ]
