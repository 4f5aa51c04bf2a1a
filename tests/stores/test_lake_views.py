"""The four tables of the lake's seed, asked in plain SQL over a plain connection, on every store."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from tests.stores.laking import BY_HAND, MINUTELY, Laking, draft, minutely
from tests.stores.plain import Plain, plain
from tests.stores.store import Store
from waterclock.domain.lake import LakeJob, LakeKind, status_of
from waterclock.domain.lake_sync import SyncKind
from waterclock.domain.progress import Report
from waterclock.domain.run import RunState
from waterclock.stores.ops import progressing

OVERDUE = """
select s.job_id from JobScheduler s join JobStatus t on t.job_id = s.job_id
where t.current_status = 'Finished' and s.last_time_sync < 2000000000000 - s.sync_internal * 60000"""


@dataclass(frozen=True, slots=True)
class Seen:
    """A store as somebody sees it who knows the seed's tables."""

    laking: Laking
    sql: Plain

    async def status(self, job: LakeJob) -> str:
        """The view's word, which is also ours, where both look at the same clock."""
        ((found,),) = await self.sql.rows(f"select current_status from JobStatus where job_id = {job.id}")
        shown = await self.laking.get(job)
        assert found == status_of(shown.last_run, shown.now, shown.class_name) or found == "Unknown"
        return str(found)

    async def scheduler(self, job: LakeJob) -> dict[str, Any]:
        (row,) = await self.sql.ask(f"select * from JobScheduler where job_id = {job.id}")
        return {**row, "sync_data": orjson.loads(row["sync_data"])}

    async def history(self) -> list[dict[str, Any]]:
        rows = await self.sql.ask("select * from JobHistory order by job_id, sync_time")
        return [{**row, "stats_data": orjson.loads(row["stats_data"])} for row in rows]


@pytest.fixture
async def seen(shared: Store) -> AsyncIterator[Seen]:
    async with plain(shared.url) as sql:
        yield Seen(Laking(await shared.open()), sql)


async def test_a_job_is_shown_with_its_definition_and_its_schedule(seen: Seen) -> None:
    hourly = await seen.laking.lake_job(minutely("Đơn"))
    by_hand = await seen.laking.lake_job()
    first, second = await seen.sql.ask("select * from JobInfo order by job_id")
    assert (first["datasource_id"], first["job_id"], second["job_id"]) == (None, hourly.id, by_hand.id)
    assert orjson.loads(first["job_data"]) == hourly.definition
    assert await seen.scheduler(hourly) == {
        "job_id": hourly.id,
        "last_time_sync": None,
        "sync_internal": 1,
        "sync_data": {"schedule": MINUTELY, "watermark": None},
        "last_sync_status": "Initialized",
    }
    assert (await seen.scheduler(by_hand))["sync_data"]["schedule"] == BY_HAND
    assert (await seen.scheduler(by_hand))["sync_internal"] is None
    assert await seen.history() == []
    await seen.laking.remove(hourly)
    for view in ("JobInfo", "JobScheduler", "JobStatus"):
        assert await seen.sql.rows(f"select job_id from {view}") == [(by_hand.id,)], view


async def test_every_status_is_told_in_the_seeds_words(seen: Seen) -> None:
    laking = seen.laking
    job = await laking.lake_job(draft(kind=LakeKind.JAVA, task={"git_url": "abcd"}, retries=1))
    assert await seen.status(job) == "Initialized"
    for end, word in ((RunState.SUCCEEDED, "Finished"), (RunState.TIMEOUT, "Error"), (RunState.STOPPED, "Killed")):
        await laking.run(job)
        assert await seen.status(job) == "Queued"
        attempt = await laking.claim_one()
        assert await seen.status(job) == "Queued"
        await laking.begin(attempt)
        assert await seen.status(job) == "Compiling"
        report = Report(attempt_id=attempt.id, fence=attempt.fence, phase="executing")
        await laking.database.write(progressing.report, reports=[report])
        assert await seen.status(job) == "Running"
        await laking.kill(job)
        assert await seen.status(job) == "Running"
        await laking.end(attempt, state=end)
        assert await seen.status(job) == word
        assert (await seen.scheduler(job))["last_sync_status"] == word


async def test_a_sync_is_told_in_its_own_words_with_its_source_and_its_watermark(seen: Seen) -> None:
    laking = seen.laking
    source = await laking.source()
    job = await laking.lake_job(draft(kind=SyncKind.DB, task={"source": "shop", "table_name": "orders"}))
    python = await laking.lake_job(draft(kind=LakeKind.PYTHON))
    assert await seen.sql.rows("select datasource_id, job_id from JobInfo order by job_id") == [
        *((source, job.id), (None, python.id))
    ]
    assert await seen.status(job) == "Init"
    for end, word in ((RunState.FAILED, "Error"), (RunState.STOPPED, "Terminated"), (RunState.SUCCEEDED, "Synced")):
        await laking.run(job)
        assert await seen.status(job) == "Queued"
        attempt = await laking.claim_one()
        await laking.begin(attempt)
        assert await seen.status(job) == "Syncing"
        if end is RunState.STOPPED:
            await laking.kill(job)
            assert await seen.status(job) == "Syncing"
        await laking.end(attempt, state=end, bookmark='{"value": "2026-11-16", "of": "x"}')
        assert await seen.status(job) == word
        assert (await seen.scheduler(job))["last_sync_status"] == word
        is_synced = end is RunState.SUCCEEDED
        mark = {"value": "2026-11-16", "of": "x"} if is_synced else None
        assert (await seen.scheduler(job))["sync_data"] == {"schedule": BY_HAND, "watermark": mark}
    assert {row["stats_data"]["state"] for row in await seen.history()} == {"Error", "Terminated", "Synced"}
    await laking.run(python)
    attempt = await laking.claim_one()
    await laking.begin(attempt)
    await laking.end(attempt, bookmark="no JSON")
    assert (await seen.scheduler(python))["sync_data"]["watermark"] is None


async def test_a_lease_that_is_over_by_the_clock_of_the_database_is_unknown(seen: Seen) -> None:
    job = await seen.laking.lake_job()
    await seen.laking.run(job)
    seen.laking.pass_time(-3_600)
    await seen.laking.run(await seen.laking.lake_job("another"))
    attempts = [claimed.attempt for claimed in await seen.laking.claim()]
    await seen.laking.begin(*attempts)
    seen.laking.pass_time(3_600)
    (another,) = attempts
    assert another.job_id != job.id
    assert await seen.sql.rows("select current_status from JobStatus order by job_id") == [("Queued",), ("Unknown",)]
    assert [row["stats_data"]["state"] for row in await seen.history()] == ["Queued", "Unknown"]
    await seen.laking.end(another)
    assert await seen.sql.rows("select current_status from JobStatus order by job_id") == [("Queued",), ("Finished",)]


async def test_the_history_has_one_line_a_run_also_of_a_job_that_is_gone(seen: Seen) -> None:
    laking = seen.laking
    job = await laking.lake_job(minutely(retries=1))
    first = await laking.run(job)
    await laking.run_one(RunState.FAILED)
    laking.pass_time(3_600)
    attempt = await laking.claim_one()
    await laking.begin(attempt)
    await laking.end(attempt, message="it's “done”", progress='{"rows_read":3,"outputs":[{"rows":3}]}')
    (run,) = (await laking.history()).items
    assert run.attempt.started_at
    assert run.attempt.ended_at
    began, ended = run.attempt.started_at // 1_000, run.attempt.ended_at // 1_000
    line = {
        "job_id": job.id,
        "sync_time": began,
        "stats_data": {
            "run_id": first,
            "state": "Finished",
            "message": "it's “done”",
            "progress": {"rows_read": 3, "outputs": [{"rows": 3}]},
            "start": began,
            "end": ended,
        },
    }
    assert await seen.history() == [line]
    assert (await seen.scheduler(job))["last_time_sync"] == began
    assert await seen.sql.rows(OVERDUE) == [(job.id,)]
    await laking.remove(job)
    assert await seen.history() == [line]


async def test_a_run_that_waits_stands_where_it_was_asked_for(seen: Seen) -> None:
    job = await seen.laking.lake_job()
    run_id = await seen.laking.run(job, due_at=await seen.laking.now() + 10**9)
    (line,) = await seen.history()
    found = await seen.laking.get(job)
    assert found.last_run
    assert line["sync_time"] == found.last_run.run_at // 1_000
    nothing = dict.fromkeys(("message", "progress", "start", "end"))
    assert line["stats_data"] == {"run_id": run_id, "state": "Queued", **nothing}
