"""The history of lake jobs on every store: each run once, by its newest attempt, whatever became of its job."""

from typing import Any

import pytest

from tests.stores.laking import Laking, draft
from tests.stores.store import Store
from waterclock.domain.errors import NotFound
from waterclock.domain.lake import LakeJob, LakeKind, LakeRun, Listed, RunSortField, Sort, status_of
from waterclock.domain.moment import SECOND
from waterclock.domain.progress import Report
from waterclock.domain.run import RunState
from waterclock.stores.dialect import statement
from waterclock.stores.ops import progressing


@pytest.fixture
async def laking(shared: Store) -> Laking:
    return Laking(await shared.open())


async def ran(laking: Laking, job: LakeJob, state: RunState = RunState.SUCCEEDED, **how: Any) -> int:
    """The number of a run that has ended, a second after it began."""
    run_id = await laking.run(job)
    attempt = await laking.claim_one()
    await laking.begin(attempt)
    laking.pass_time(1)
    await laking.end(attempt, state=state, **how)
    return run_id


def ids(runs: Listed[LakeRun]) -> list[int]:
    return [run.attempt.run_id for run in runs.items]


async def test_a_run_is_shown_with_its_job_its_end_and_its_progress(laking: Laking) -> None:
    job = await laking.lake_job(draft("orders", kind=LakeKind.PYTHON, job_type="Python"))
    progress = '{"rows_read":3,"outputs":[{"where":"/data","rows":3}]}'
    run_id = await ran(laking, job, RunState.FAILED, message="no such table", progress=progress)
    (run,) = (await laking.history()).items
    assert (run.attempt.run_id, run.job_id, run.attempt.job_id) == (run_id, job.id, job.id)
    assert (run.display_name, run.class_name, run.job_type) == ("orders", "python_job", "Python")
    assert run.progress == {"rows_read": 3, "outputs": [{"where": "/data", "rows": 3}]}
    assert (run.attempt.message, status_of(run.attempt, run.now, run.class_name)) == ("no such table", "Error")
    assert run.attempt.started_at
    assert run.attempt.ended_at
    assert run.attempt.started_at < run.attempt.ended_at <= run.attempt.updated_at <= run.now


async def test_what_its_program_says_is_news_of_a_run(laking: Laking) -> None:
    job = await laking.lake_job()
    await laking.run(job)
    attempt = await laking.claim_one()
    await laking.begin(attempt)
    laking.pass_time(1)
    report = Report(attempt_id=attempt.id, fence=attempt.fence, progress={"rows_read": 1})
    await laking.database.write(progressing.report, reports=[report])
    (run,) = (await laking.history()).items
    assert run.attempt.started_at
    assert run.attempt.updated_at > run.attempt.started_at
    assert (run.progress, status_of(run.attempt, run.now, run.class_name)) == ({"rows_read": 1}, "Running")


async def test_a_run_with_retries_is_one_line(laking: Laking) -> None:
    job = await laking.lake_job(draft(retries=1))
    run_id = await ran(laking, job, RunState.FAILED)
    laking.pass_time(3_600)
    await laking.run_one()
    runs = await laking.history()
    assert (ids(runs), runs.total) == ([run_id], 1)
    newest = runs.items[0].attempt
    assert (newest.number, newest.state) == (1, RunState.SUCCEEDED)
    assert newest.started_at
    assert newest.ended_at
    assert newest.ended_at - newest.started_at > 3_600 * SECOND  # it began with its first attempt


async def test_newest_first_by_job_and_by_keyword_and_nothing_of_other_faces_or_organisations(laking: Laking) -> None:
    await laking.job("a job of Glue")
    await laking.start("a job of Glue")
    await laking.run_one()
    orders, sums = await laking.lake_job("Orders"), await laking.lake_job("sums")
    await laking.lake_job("orders of others", org_id=2)
    first, second, third = [await ran(laking, job) for job in (orders, sums, orders)]
    assert ids(await laking.history()) == [third, second, first]
    assert ids(await laking.history(offset=1, limit=1)) == [second]
    assert (await laking.history(offset=5)).total == 3
    assert ids(await laking.history(job_id=orders.id)) == [third, first]
    assert ids(await laking.history(keyword="ORD")) == [third, first]
    assert (await laking.history(keyword="ord", limit=1)).total == 2
    assert ids(await laking.history(keyword="%")) == []
    assert ids(await laking.history(keyword="sums", job_id=orders.id)) == []
    assert ids(await laking.history(keyword="der", job_id=orders.id)) == [third, first]
    assert (await laking.history(org_id=2)).total == 0
    with pytest.raises(NotFound):
        await laking.history(job_id=orders.id, org_id=2)


async def test_a_deleted_job_keeps_its_history_and_its_name(laking: Laking) -> None:
    job = await laking.lake_job("gone")
    run_id = await ran(laking, job)
    await laking.remove(job)
    for runs in (await laking.history(), await laking.history(keyword="gone"), await laking.history(job_id=job.id)):
        assert [(run.attempt.run_id, run.display_name) for run in runs.items] == [(run_id, "gone")]


async def test_history_is_sorted_by_each_field_with_what_has_none_at_the_end(laking: Laking) -> None:
    one, two, late = [await laking.lake_job(name) for name in ("one", "two", "late")]
    first = await ran(laking, one)
    laking.pass_time(1)
    second = await ran(laking, two)
    laking.pass_time(1)
    queued = await laking.run(late)
    upwards, nullable = [first, second, queued], (RunSortField.START_TIME, RunSortField.END_TIME)
    for field in RunSortField:
        downwards = [second, first, queued] if field in nullable else upwards[::-1]
        for expected, descending in ((upwards, False), (downwards, True)):
            sorts = (Sort(field=field, descending=descending),)
            assert ids(await laking.history(sorts=sorts)) == expected, (field, descending)
            assert ids(await laking.history(sorts=sorts, keyword="o")) == [each for each in expected if each != queued]


OF_REST = """SELECT inhrelid::regclass::text || ' on ' AS name FROM pg_inherits
JOIN pg_index i ON i.indexrelid = inhrelid
WHERE inhparent = 'attempts_of_lake'::regclass AND i.indrelid = 'attempts_rest'::regclass"""


async def test_whoever_looks_for_it_does_not_go_through_the_runs_of_other_faces(shared: Store) -> None:
    dialect = {"sqlite": "sqlite", "postgres": "postgres", "mariadb": "mysql"}[shared.kind]
    explain = "EXPLAIN QUERY PLAN" if shared.kind == "sqlite" else "EXPLAIN"
    before = ("SET enable_seqscan = off",) if shared.kind == "postgres" else ()  # empty tables
    index = "attempts_of_org" if shared.kind == "mariadb" else "attempts_of_lake"  # it has no partial indexes
    if shared.kind == "postgres":  # each partition has one with a name of its own
        (row,) = await shared.rows(OF_REST)
        index = row["name"]
    for name in ("lake_runs", "count_lake_runs"):
        asked = statement(dialect, name).replace(":org_id", "1").replace(":limit", "5").replace(":offset", "0")
        plan = str(await shared.rows(*before, f"{explain} {asked}"))
        assert index in plan
        assert "sort  (" not in plan.lower(), name
