"""Lake jobs on every store: made, changed, run, killed and deleted as one with their job and their trigger."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.stores.laking import MINUTELY, ONCE, PLACE, Laking, draft, minutely
from tests.stores.store import Store
from waterclock.domain.errors import (
    AlreadyExists,
    ConcurrentRunsExceeded,
    InvalidInput,
    NotAllowed,
    NotFound,
    QuotaExceeded,
)
from waterclock.domain.job import Job, JobSpec
from waterclock.domain.lake import LakeJob, LakeKind, LakeTable, Sort, SortField, TableFormat
from waterclock.domain.moment import MINUTE, SECOND, to_datetime
from waterclock.domain.progress import Report
from waterclock.domain.quota import EVERYBODY, QuotaKind
from waterclock.domain.run import RunState
from waterclock.domain.schedule import Every, Once
from waterclock.domain.trigger import FireOutcome, TriggerState
from waterclock.stores.ops import access, jobs, lake_tables, progressing, pruning, quotas
from waterclock.stores.ops.rows import LARGEST_KEPT, dumped, spec_of


@pytest.fixture
async def laking(shared: Store) -> Laking:
    """Ten seconds past a minute."""
    laking = Laking(await shared.open())
    await laking.pass_minute()
    return laking


async def engine_job(laking: Laking, job: LakeJob) -> Job | None:
    return await laking.database.read(jobs.get_job, **PLACE, name=str(job.id))


async def test_a_lake_job_is_a_job_a_trigger_and_a_row_that_share_its_number(laking: Laking) -> None:
    task = {"query_info": {"query": "select * from abc where t = '{{secret:TOKEN}}'"}}
    options = {"retries": 2, "timeout_seconds": 60, "queue": "lake", "labels": ("gpu",)}
    made = await laking.lake_job(minutely("Đơn hàng", task=task, **options))
    job, trigger = await engine_job(laking, made), await laking.trigger_of(made)
    assert job
    assert trigger
    assert (made.id, str(made.id)) == (job.id, job.name)
    assert (job.spec.kind, job.spec.call, job.spec.max_concurrent, job.spec.queueing) == ("sql_job", task, 1, False)
    assert (job.spec.retries, job.spec.timeout_seconds, job.spec.queue, job.spec.labels) == (2, 60, "lake", ("gpu",))
    assert job.spec.fixed_arguments == {"--secrets": "{{secret:TOKEN}}"}
    assert (trigger.owner, trigger.state, trigger.spec.misfire) == ("ann", TriggerState.RUNNING, {"policy": "one"})
    assert (made.display_name, made.class_name, made.job_type, made.creator) == ("Đơn hàng", "sql_job", "Sql", "ann")
    assert made.definition["schedule_time"] == MINUTELY
    assert made.next_run_at == trigger.next_fire_at == made.created_at // MINUTE * MINUTE + MINUTE
    assert (made.last_run, made.last_ended, made.progress) == (None, None, {})
    assert replace(await laking.get(made), now=made.now) == made


async def test_one_without_a_schedule_has_no_trigger(laking: Laking) -> None:
    made = await laking.lake_job()
    assert await laking.trigger_of(made) is None
    assert made.next_run_at is None


async def test_once_in_the_past_runs_once_at_the_moment_of_its_creation(laking: Laking) -> None:
    made = await laking.once()
    assert made.next_run_at
    assert made.next_run_at <= made.created_at
    laking.pass_time(600)  # however late: it is due until it has run
    assert [(await laking.fire()).runs for _ in range(2)] == [1, 0]
    await laking.run_one()
    assert (await laking.get(made)).next_run_at is None


async def test_an_update_that_leaves_the_schedule_keeps_its_trigger_as_it_is(laking: Laking) -> None:
    made = await laking.once()
    await laking.fire()
    await laking.run_one()
    before = await laking.trigger_of(made)
    given = draft("renamed", schedule_time={"start_time": 0, **ONCE}, schedule=Once(at=to_datetime(made.now)))
    changed = await laking.change(made, given)
    assert (changed.display_name, changed.next_run_at, changed.creator) == ("renamed", None, "ann")
    assert changed.updated_at >= made.updated_at == changed.created_at
    assert await laking.trigger_of(made) == before
    assert (await laking.fire()).runs == 0
    job = await engine_job(laking, made)
    assert job
    assert (job.version, job.definition["display_name"]) == (2, "renamed")


async def test_an_update_that_changes_the_schedule_begins_anew(laking: Laking) -> None:
    made = await laking.lake_job(minutely())
    before = await laking.trigger_of(made)
    hourly = {"class_name": "schedule_hourly", "recur_every": 1}
    changed = await laking.change(made, draft(schedule_time=hourly, schedule=Every(interval=timedelta(hours=1))))
    after = await laking.trigger_of(made)
    assert before
    assert after
    assert (after.id, after.generation, after.state) == (before.id, before.generation + 1, TriggerState.RUNNING)
    assert changed.next_run_at == after.next_fire_at != before.next_fire_at
    now = to_datetime(await laking.now())
    due = await laking.change(made, draft(schedule_time=ONCE, schedule=Once(at=now)))
    assert due.next_run_at is not None
    assert (await laking.fire()).runs == 1


async def test_a_schedule_can_be_taken_away_and_given_back(laking: Laking) -> None:
    made = await laking.lake_job(minutely())
    assert (await laking.change(made, draft())).next_run_at is None
    assert await laking.trigger_of(made) is None
    await laking.pass_minute()
    assert (await laking.fire()).triggers == 0
    assert (await laking.change(made, minutely())).next_run_at
    await laking.pass_minute()
    assert (await laking.fire()).runs == 1


async def test_what_lives_is_neither_changed_nor_deleted_until_it_is_dead(laking: Laking) -> None:
    made = await laking.lake_job(minutely())
    await laking.run(made)
    attempt = await laking.claim_one()
    before = await laking.trigger_of(made)
    with pytest.raises(NotAllowed, match="kill it or wait"):
        await laking.change(made, draft("another"))
    with pytest.raises(NotAllowed, match="kill it or wait"):
        await laking.remove(made)
    assert await laking.trigger_of(made) == before
    assert (await laking.get(made)).display_name == "job"
    await laking.end(attempt)
    await laking.remove(made)
    assert await laking.trigger_of(made) is None
    assert await engine_job(laking, made) is None
    for again in (laking.get(made), laking.remove(made), laking.change(made, draft()), laking.kill(made)):
        with pytest.raises(NotFound, match=str(made.id)):
            await again
    assert (await laking.listed()).total == 0


async def test_a_job_stays_of_its_kind(laking: Laking) -> None:
    made = await laking.lake_job()
    with pytest.raises(InvalidInput, match="class_name: a sql_job cannot become a java_job"):
        await laking.change(made, draft(kind=LakeKind.JAVA))


async def test_another_organisation_sees_and_touches_nothing(laking: Laking) -> None:
    made, theirs = await laking.lake_job(minutely()), await laking.lake_job("theirs", org_id=2)
    for call in (
        laking.get(made, org_id=2),
        laking.change(made, draft("stolen"), org_id=2),
        laking.remove(made, org_id=2),
        laking.kill(made, org_id=2),
        laking.run(theirs),
        laking.history(job_id=theirs.id),
    ):
        with pytest.raises(NotFound):
            await call
    assert [job.id for job in (await laking.listed(org_id=2)).items] == [theirs.id]
    assert (await laking.get(made)).display_name == "job"


async def test_a_fire_while_it_runs_is_skipped_with_the_reason(laking: Laking) -> None:
    made = await laking.lake_job(minutely())
    trigger = await laking.trigger_of(made)
    assert trigger
    await laking.pass_minute()
    await laking.fire()
    await laking.pass_minute()
    await laking.fire()
    skipped, fired = await laking.fires(trigger)
    assert (fired.outcome, skipped.outcome) == (FireOutcome.FIRED, FireOutcome.SKIPPED)
    assert skipped.reason
    assert "already has its 1 concurrent run" in skipped.reason
    with pytest.raises(ConcurrentRunsExceeded):
        await laking.run(made)


async def test_it_is_shown_from_its_queue_to_its_end(laking: Laking) -> None:
    made = await laking.lake_job(draft(kind=LakeKind.JAVA, task={"git_url": "abcd"}))
    statuses = [await laking.status(made)]
    run_id = await laking.run(made)
    statuses.append(await laking.status(made))
    attempt = await laking.claim_one()
    await laking.begin(attempt)
    statuses.append(await laking.status(made))
    report = Report(attempt_id=attempt.id, fence=attempt.fence, phase="executing", progress={"rows_read": 7})
    await laking.database.write(progressing.report, reports=[report])
    found = await laking.get(made)
    statuses.append(await laking.status(made))
    assert found.last_run
    assert (found.last_run.run_id, found.progress, found.last_ended) == (run_id, {"rows_read": 7}, None)
    laking.pass_time(120)
    statuses.append(await laking.status(made))
    await laking.end(attempt, state=RunState.FAILED, message="no rows")
    statuses.append(await laking.status(made))
    await laking.run(made)
    statuses.append(await laking.status(made))
    found = await laking.get(made)
    assert found.last_ended
    assert (found.last_ended.run_id, found.last_ended.message) == (run_id, "no rows")
    assert await laking.kill(made)
    statuses.append(await laking.status(made))
    assert statuses == [
        *("Initialized", "Queued", "Compiling", "Running", "Unknown", "Error"),
        *("Queued", "Killed"),
    ]


async def test_a_run_that_lives_is_the_last_one_even_where_it_was_due_before_another(laking: Laking) -> None:
    """A scheduler was down; somebody ran the job by hand meanwhile; now what was missed is made up for."""
    made = await laking.lake_job(minutely())
    await laking.pass_minute()
    by_hand = await laking.run(made)
    await laking.run_one()
    await laking.fire()
    found = await laking.get(made)
    assert found.last_run
    assert found.last_ended
    assert (found.last_run.state, found.last_ended.run_id) == (RunState.STARTING, by_hand)
    assert found.last_run.run_at < found.last_ended.run_at


async def test_a_run_that_is_retried_is_shown_by_its_newest_attempt(laking: Laking) -> None:
    made = await laking.lake_job(draft(retries=1))
    run_id = await laking.run(made)
    await laking.run_one(RunState.FAILED)
    found = await laking.get(made)
    assert found.last_run
    assert (found.last_run.number, found.last_run.run_id, found.last_ended) == (1, run_id, None)
    laking.pass_time(3_600)
    await laking.run_one()
    found = await laking.get(made)
    assert found.last_run == found.last_ended
    assert found.last_run
    assert (found.last_run.number, found.last_run.state) == (1, RunState.SUCCEEDED)


async def test_a_run_for_later_is_durable_at_once_begins_then_and_can_be_killed(laking: Laking) -> None:
    made = await laking.lake_job()
    at = await laking.now() + 5 * MINUTE
    run_id = await laking.run(made, due_at=at)
    assert await laking.status(made) == "Queued"
    assert await laking.claim() == []
    with pytest.raises(ConcurrentRunsExceeded):
        await laking.run(made)
    laking.pass_time(301)
    attempt = await laking.claim_one()
    assert (attempt.run_id, attempt.due_at) == (run_id, at)
    await laking.end(attempt)
    await laking.run(made, due_at=await laking.now() + MINUTE)
    assert await laking.kill(made)
    assert await laking.status(made) == "Killed"
    assert not await laking.kill(made)
    await laking.run(made, due_at=at - MINUTE)  # over already
    assert (await laking.claim_one()).due_at > at


async def test_killing_one_that_runs_waits_for_the_proof(laking: Laking) -> None:
    made, other = await laking.lake_job(), await laking.lake_job("other")
    await laking.run(made)
    attempt = await laking.claim_one()
    await laking.begin(attempt)
    await laking.run(other)
    assert await laking.kill(made)
    assert [await laking.status(job) for job in (made, other)] == ["Running", "Queued"]
    assert await laking.kill(made)  # asked again, it still lives
    await laking.end(attempt, state=RunState.STOPPED)
    assert await laking.status(made) == "Killed"


async def test_quotas_hold_for_lake_jobs_as_for_others(laking: Laking) -> None:
    org_id = (await laking.database.write(access.create_organisation, account="123456789012", name="o")).id

    async def limit(kind: QuotaKind, most: int) -> None:
        await laking.database.write(quotas.set_quota, org_id=org_id, user=EVERYBODY, kind=kind, most=most)

    await limit(QuotaKind.JOBS, 1)
    await limit(QuotaKind.TRIGGERS, 1)
    made = await laking.lake_job(org_id=org_id)
    with pytest.raises(QuotaExceeded):
        await laking.lake_job("one too many", org_id=org_id)
    await laking.change(made, minutely(), org_id=org_id)
    await limit(QuotaKind.JOBS, 2)
    with pytest.raises(QuotaExceeded):
        await laking.lake_job(minutely("with one trigger too many"), org_id=org_id)
    assert (await laking.listed(org_id=org_id)).total == 1


async def test_a_deleted_one_is_forgotten_with_the_last_of_its_history(laking: Laking) -> None:
    made = await laking.lake_job("gone")
    await laking.run(made)
    await laking.run_one()
    await laking.remove(made)
    keep: dict[str, Any] = {"keep_seconds": 3_600}
    for hours, known in ((0, 1), (2, 0)):
        laking.pass_time(3_600 * hours)
        await laking.database.write(pruning.prune_runs, **keep)
        await laking.database.write(pruning.prune_ledger, **keep, keep_moves_seconds=3_600)
        if known:
            assert [run.display_name for run in (await laking.history(job_id=made.id)).items] == ["gone"]
    with pytest.raises(NotFound):
        await laking.history(job_id=made.id)


async def test_of_two_who_give_it_a_schedule_at_once_both_are_heard(shared: Store) -> None:
    one, other = [Laking(database) for database in await shared.open_many(2)]
    made = await one.lake_job()
    hourly = {"class_name": "schedule_hourly", "recur_every": 1}
    changes = (minutely("minutely"), draft("hourly", schedule_time=hourly, schedule=Every(interval=timedelta(hours=1))))
    await asyncio.gather(*(each.change(made, given) for each, given in zip((one, other), changes, strict=True)))
    trigger, found = await one.trigger_of(made), await one.get(made)
    assert trigger
    assert trigger.spec.schedule
    assert trigger.spec.schedule["interval"] == (MINUTE if found.display_name == "minutely" else 60 * MINUTE)


# Lists


async def names(laking: Laking, *sorts: Sort[SortField], **how: Any) -> list[str]:
    return [job.display_name for job in (await laking.listed(*sorts, **how)).items]


def by(field: SortField, *, descending: bool = False) -> Sort[SortField]:
    return Sort(field=field, descending=descending)


async def test_a_keyword_is_found_in_any_case_and_letter_by_letter(laking: Laking) -> None:
    given = ("100% Orders", "100 orders", "a_b", "aXb", "Đơn HÀNG", "wow!", "bang")
    for name in given:
        await laking.lake_job(name)
    sought = {
        "ORDERS": ["100% Orders", "100 orders"],
        "0%": ["100% Orders"],
        "A_B": ["a_b"],
        "đƠN hàng": ["Đơn HÀNG"],
        "đơn ha\u0300ng": ["Đơn HÀNG"],  # the same, as another keyboard sends it
        "!": ["wow!"],
        "nowhere": [],
        "": list(given),
    }
    assert {keyword: await names(laking, keyword=keyword) for keyword in sought} == sought
    assert (await laking.listed(keyword="orders", limit=1)).total == 2


async def test_lists_are_sorted_by_each_field_with_what_has_none_at_the_end(laking: Laking) -> None:
    ran = await laking.lake_job(draft("B ran", job_type="Java"), creator="cem")
    await laking.run(ran)
    await laking.run_one()
    laking.pass_time(1)
    await laking.lake_job(minutely("a due", job_type="Sql"), creator="bob")
    laking.pass_time(1)
    again = await laking.lake_job(draft("c ran again", job_type="Java"), creator="ann")
    await laking.run(again)
    laking.pass_time(1)
    await laking.change(ran, draft("B ran", job_type="Java"))
    orders = {
        SortField.JOB_ID: "Bac",
        SortField.DISPLAY_NAME: "aBc",
        SortField.JOB_TYPE: "Bca",  # of the same type by their numbers
        SortField.CREATOR_ID: "caB",
        SortField.CREATED_TIME: "Bac",
        SortField.UPDATED_TIME: "acB",
        SortField.NEXT_RUN_TIME: "aBc",
        SortField.LAST_RUN_TIME: "Bca",
    }
    downwards = {field: order[::-1] for field, order in orders.items()}
    downwards |= {SortField.JOB_TYPE: "aBc", SortField.NEXT_RUN_TIME: "aBc", SortField.LAST_RUN_TIME: "cBa"}
    for field in SortField:
        assert "".join(name[0] for name in await names(laking, by(field))) == orders[field], field
        assert "".join(name[0] for name in await names(laking, by(field, descending=True))) == downwards[field], field
    by_type_and_name = by(SortField.JOB_TYPE, descending=True), by(SortField.DISPLAY_NAME, descending=True)
    assert await names(laking, *by_type_and_name) == ["a due", "c ran again", "B ran"]


async def test_pages_never_overlap_and_say_how_many_there_are(laking: Laking) -> None:
    made = [(await laking.lake_job("same")).id for _ in range(5)]
    for sort in (by(SortField.DISPLAY_NAME), by(SortField.LAST_RUN_TIME, descending=True)):
        pages = [await laking.listed(sort, offset=offset, limit=2) for offset in (0, 2, 4, 6)]
        assert [job.id for page in pages for job in page.items] == made
        assert {page.total for page in pages} == {5}
    assert (await laking.listed(limit=0)).total == 5


# Tables


def table(name: str = "abc", path: str = "/data/abc") -> LakeTable:
    return LakeTable(name=name, format=TableFormat.PARQUET, path=path)


async def keep(laking: Laking, kept: LakeTable, *, org_id: int = 1) -> None:
    await laking.database.write(lake_tables.create_table, org_id=org_id, creator="ann", table=kept)


async def test_tables_are_kept_once_each_listed_and_deleted(laking: Laking) -> None:
    for each in (table("orders"), table("abc"), table("old_orders")):
        await keep(laking, each)
    await keep(laking, table("abc", "s3://theirs/abc"), org_id=2)
    with pytest.raises(AlreadyExists, match="'abc'"):
        await keep(laking, table("abc", "/elsewhere"))

    async def listed(keyword: str | None, offset: int = 0) -> tuple[list[str], int]:
        page: dict[str, Any] = {"org_id": 1, "keyword": keyword, "offset": offset, "limit": 2}
        found = await laking.database.read(lake_tables.list_tables, **page)
        return [each.name for each in found.items], found.total

    assert await listed(None) == (["abc", "old_orders"], 3)
    assert await listed(None, 2) == (["orders"], 3)
    assert await listed("D_O") == (["old_orders"], 1)
    key: dict[str, Any] = {"org_id": 1, "name": "abc", "allow": lambda _: None}
    await laking.database.write(lake_tables.delete_table, **key)
    with pytest.raises(NotFound):
        await laking.database.write(lake_tables.delete_table, **key)
    assert (await listed(None))[1] == 2


async def test_the_tables_of_its_organisation_travel_with_a_query_and_with_nothing_else(laking: Laking) -> None:
    await keep(laking, table("b", "hdfs://nn:9000/b"))
    await keep(laking, table("a"))
    query, java = await laking.lake_job(), await laking.lake_job(draft("java", kind=LakeKind.JAVA))
    for job in (query, java):
        await laking.run(job)
    claimed = {each.attempt.job_id: each for each in await laking.claim()}
    assert [each.name for each in claimed[query.id].tables] == ["a", "b"]
    assert claimed[query.id].tables[1] == table("b", "hdfs://nn:9000/b")
    assert claimed[java.id].tables == ()
    theirs = await laking.lake_job("theirs", org_id=2)
    assert theirs.id != query.id


# A scheduler that comes back


async def test_what_was_overdue_is_queued_once_by_however_many_schedulers_start(shared: Store) -> None:
    worlds = [Laking(database) for database in await shared.open_many(3)]
    made = [await worlds[0].lake_job(minutely(f"job {number}")) for number in range(12)]
    for world in worlds:
        world.pass_time(3_600)  # nobody fired for an hour

    async def start(world: Laking) -> None:
        for _ in range(6):
            await world.fire(limit=4)

    await asyncio.gather(*(start(world) for world in worlds))
    attempts = await worlds[0].lake_attempts()
    assert sorted(attempt.job_id or 0 for attempt in attempts) == [job.id for job in made]
    shown = await shared.rows("SELECT job_id, current_status FROM JobStatus ORDER BY job_id")
    assert [(row["job_id"], row["current_status"]) for row in shown] == [(job.id, "Queued") for job in made]
    now = await worlds[0].now()
    for job in made:
        trigger = await worlds[0].trigger_of(job)
        assert trigger
        fires = await worlds[0].fires(trigger)
        assert sum(fire.outcome is FireOutcome.FIRED for fire in fires) == 1
        assert sum(fire.count for fire in fires) >= 60  # each minute has its row, or is covered by one
        assert trigger.next_fire_at
        assert trigger.next_fire_at > now - SECOND


def test_what_carries_a_whole_program_is_not_kept_in_memory() -> None:
    small, large = (dumped(JobSpec(kind=LakeKind.PYTHON, call={"code": "#" * size})) for size in (10, LARGEST_KEPT))
    assert spec_of(small) is spec_of(small)
    assert spec_of(large) is not spec_of(large)
    assert spec_of(large) == spec_of(large)
