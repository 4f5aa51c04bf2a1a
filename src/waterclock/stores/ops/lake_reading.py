"""Lake jobs as they are shown: what they are, when they run next, and what became of their last runs."""

from collections.abc import Collection, Sequence

from waterclock.domain.errors import NotFound
from waterclock.domain.lake import LakeJob, Listed, Sort, SortField
from waterclock.domain.run import Attempt
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.lake_rows import NO_RUNS, LastRuns, in_order, lake_job_of, pattern_of, total_of
from waterclock.stores.ops.rows import attempt_of, loaded
from waterclock.stores.ops.span import ALL


async def get_lake_job(tx: Tx, *, org_id: int, job_id: int) -> LakeJob:
    for job in await _lake_jobs(tx, org_id, [job_id]):
        return job
    raise NotFound("job", job_id)


async def list_lake_jobs(
    tx: Tx, *, org_id: int, keyword: str | None, offset: int, limit: int, sorts: Sequence[Sort[SortField]]
) -> Listed[LakeJob]:
    """Those whose name holds the keyword; by number, unless they are to be sorted first."""
    sought = {"org_id": org_id, "pattern": pattern_of(keyword)}
    rows = await tx.fetch(in_order("lake_job_ids", sorts), {**sought, "offset": offset, "limit": limit})
    jobs = await _lake_jobs(tx, org_id, [row["id"] for row in rows])
    return Listed(items=jobs, total=await total_of(tx, "count_lake_jobs", sought))


async def newest_attempts(tx: Tx, run_ids: Collection[int]) -> dict[int, Row]:
    """By their runs: the number of each, with what only its run knows."""
    rows = await tx.fetch("newest_attempts_of_runs", {"run_ids": sorted(run_ids)}) if run_ids else ()
    return {row["run_id"]: row for row in rows}


async def whole_attempts(tx: Tx, ids: Collection[int]) -> dict[int, Attempt]:
    rows = await tx.fetch("whole_attempts", {"ids": sorted(ids), **ALL}) if ids else ()
    return {row["id"]: attempt_of(row) for row in rows}


async def _lake_jobs(tx: Tx, org_id: int, ids: Sequence[int]) -> list[LakeJob]:
    """In the order of these ids."""
    if not ids:
        return []
    rows = {row["id"]: row for row in await tx.fetch("lake_jobs_by_ids", {"ids": list(ids), "org_id": org_id})}
    last, now = await _last_runs(tx, rows), await tx.now()
    return [lake_job_of(rows[job_id], last.get(job_id, NO_RUNS), now) for job_id in ids if job_id in rows]


async def _last_runs(tx: Tx, job_ids: Collection[int]) -> dict[int, LastRuns]:
    """With three statements, however many jobs there are and however often they ran."""
    if not job_ids:
        return {}
    rows = await tx.fetch("last_runs_of_lake_jobs", {"ids": sorted(job_ids)})
    run_ids = {run_id for row in rows for run_id in (row["last"], row["ended"]) if run_id is not None}
    newest = await newest_attempts(tx, run_ids)
    attempts = await whole_attempts(tx, [row["id"] for row in newest.values()])
    by_run = {attempt.run_id: attempt for attempt in attempts.values()}
    progress = {run_id: loaded(row["progress"]) for run_id, row in newest.items()}
    return {
        row["job_id"]: LastRuns(
            run=by_run.get(row["last"]), ended=by_run.get(row["ended"]), progress=progress.get(row["last"], {})
        )
        for row in rows
    }
