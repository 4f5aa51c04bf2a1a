"""The service of lake jobs: who may do what, and what is refused before the store is asked."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest

from tests.stores.laking import draft
from waterclock import clock
from waterclock.domain.access import Caller, Role
from waterclock.domain.errors import AlreadyExists, Forbidden, InvalidInput, NotFound
from waterclock.domain.lake import LakeDraft, LakeTable, RunSortField, Sort, SortField, TableFormat
from waterclock.domain.moment import MINUTE, SECOND
from waterclock.domain.rules import GUARDED
from waterclock.services.jobs import Jobs
from waterclock.services.lake import FURTHEST_US, Lake
from waterclock.services.runs import Runs
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url

ANN = Caller(user="ann", org_id=1, account="", role=Role.AUTHOR, address="", request_id="")
BOB = replace(ANN, user="bob")
OPERATOR = replace(ANN, user="oscar", role=Role.OPERATOR)
VIEWER = replace(ANN, user="vic", role=Role.VIEWER)
OTHER = replace(ANN, user="ann", org_id=2)
TABLE = LakeTable(name="Orders", format=TableFormat.CSV, path="s3://bucket/orders")


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
def lake(database: Database) -> Lake:
    return Lake(database, Runs(database, Jobs(database, GUARDED)), {})


async def test_authors_define_operators_run_and_viewers_look(lake: Lake) -> None:
    made = await lake.create(ANN, draft())
    for who in (OPERATOR, VIEWER):
        for refused in (lake.create(who, draft()), lake.update(who, made.id, draft()), lake.delete(who, made.id)):
            with pytest.raises(Forbidden, match="may not define"):
                await refused
    for refused_run in (lake.run_now(VIEWER, made.id), lake.kill(VIEWER, made.id)):
        with pytest.raises(Forbidden, match="may not run and stop"):
            await refused_run
    run_id = await lake.run_now(OPERATOR, made.id)
    found = await lake.status(VIEWER, made.id)
    assert found.last_run
    assert (found.last_run.run_id, found.last_run.requested_by) == (run_id, "oscar")
    assert await lake.kill(OPERATOR, made.id)
    assert not await lake.kill(OPERATOR, made.id)
    assert [(await lake.list(VIEWER)).total, (await lake.history(VIEWER)).total] == [1, 1]


async def test_only_its_owner_changes_a_job_or_deletes_a_table(lake: Lake) -> None:
    made = await lake.create(replace(ANN, group="etl"), draft())
    await lake.create_table(ANN, TABLE)
    for refused in (lake.update(BOB, made.id, draft()), lake.delete(BOB, made.id), lake.delete_table(BOB, "orders")):
        with pytest.raises(Forbidden, match="belongs to"):
            await refused
    member = replace(BOB, groups=frozenset({"etl"}))
    changed = await lake.update(member, made.id, draft("changed"))
    assert (changed.display_name, changed.creator) == ("changed", "ann")
    await lake.delete(member, made.id)


async def test_another_organisation_has_none_of_it(lake: Lake) -> None:
    made = await lake.create(ANN, draft())
    await lake.create_table(ANN, TABLE)
    calls: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: lake.get(OTHER, made.id),
        lambda: lake.status(OTHER, made.id),
        lambda: lake.update(OTHER, made.id, draft()),
        lambda: lake.delete(OTHER, made.id),
        lambda: lake.run_now(OTHER, made.id),
        lambda: lake.kill(OTHER, made.id),
        lambda: lake.history(OTHER, job_id=made.id),
        lambda: lake.delete_table(OTHER, "orders"),
    )
    for call in calls:
        with pytest.raises(NotFound):
            await call()
    jobs, runs, tables = await lake.list(OTHER), await lake.history(OTHER), await lake.list_tables(OTHER)
    assert (jobs.total, runs.total, tables.total) == (0, 0, 0)


async def test_a_run_for_later_lies_within_a_year(lake: Lake) -> None:
    made = await lake.create(ANN, draft())
    with pytest.raises(InvalidInput, match="at_time: must be within a year"):
        await lake.run_now(ANN, made.id, at=clock.wall_us() + FURTHEST_US + MINUTE)
    await lake.run_now(ANN, made.id, at=clock.wall_us() + MINUTE)
    found = await lake.status(ANN, made.id)
    assert found.last_run
    assert found.last_run.due_at > found.now


async def test_who_may_not_define_gives_no_secrets_to_a_run(lake: Lake) -> None:
    made = await lake.create(ANN, draft())
    with pytest.raises(Forbidden, match="may not give secrets"):
        await lake.run_now(OPERATOR, made.id, arguments={"--token": "{{secret:TOKEN}}"})


async def test_a_run_that_nobody_takes_says_what_it_waits_for(lake: Lake, database: Database) -> None:
    made = await lake.create(ANN, draft())
    database.offset_us = -10 * SECOND
    await lake.run_now(ANN, made.id)
    database.offset_us = 0
    (run,) = (await lake.history(VIEWER)).items
    assert run.attempt.wait_reason == "no worker is alive"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (draft(" "), "display_name: must not be empty"),
        (draft("x" * 256), "display_name: is longer than 255"),
        (draft("a\0b"), "display_name: must not hold a NUL"),
        (draft(job_type="x" * 65), "job_type: is longer than 64"),
        (draft(kind="shell_job"), "class_name: must be one of java_job, sql_job, python_job"),
    ],
)
async def test_what_no_store_can_hold_is_refused_with_its_place(lake: Lake, given: LakeDraft, reason: str) -> None:
    made = await lake.create(ANN, draft())
    for refused in (lake.create(ANN, given), lake.update(ANN, made.id, given)):
        with pytest.raises(InvalidInput, match=reason):
            await refused


async def test_a_field_that_was_sorted_by_already_changes_nothing(lake: Lake) -> None:
    for name in ("b", "a", "c"):
        await lake.create(ANN, draft(name))
    up, down = Sort(field=SortField.DISPLAY_NAME), Sort(field=SortField.DISPLAY_NAME, descending=True)
    every = [Sort(field=field) for field in SortField]
    found = await lake.list(ANN, sorts=[down, up, *every, *every])
    assert [job.display_name for job in found.items] == ["c", "b", "a"]
    assert (await lake.history(ANN, sorts=[Sort(field=field) for field in RunSortField] * 2)).total == 0


# Tables


async def test_a_table_is_the_same_in_capitals_as_it_is_to_a_query(lake: Lake) -> None:
    assert (await lake.create_table(ANN, TABLE)).name == "orders"
    with pytest.raises(AlreadyExists):
        await lake.create_table(BOB, replace(TABLE, name="oRDERS"))
    await lake.delete_table(ANN, "ORDERS")
    for name in ("orders", "no such\0name", "x" * 256):
        with pytest.raises(NotFound):
            await lake.delete_table(ANN, name)


@pytest.mark.parametrize("name", ["", "1st", "a b", "db.table", "naïve", "a;drop", "a\0", "x" * 256, "`a`"])
async def test_a_name_that_a_query_cannot_say_is_refused(lake: Lake, name: str) -> None:
    with pytest.raises(InvalidInput, match="name: must have 1 to 255 letters"):
        await lake.create_table(ANN, replace(TABLE, name=name))


@pytest.mark.parametrize(
    "path",
    ["/data/a", "file:///data/a", "file://localhost/a", "hdfs://nn:9000/a", "hdfs://nn/a/b", "s3://bucket/a/*.csv"],
)
async def test_tables_lie_in_files_hdfs_or_s3(lake: Lake, path: str) -> None:
    assert (await lake.create_table(ANN, replace(TABLE, path=path))).path == path


@pytest.mark.parametrize(
    "path",
    [
        *(
            "",
            "data/a",
            "//host/a",
            "http://host/a",
            "s3://",
            "s3://bucket",
            "s3:/bucket/a",
            "hdfs:///a",
            "file://host/a",
        ),
        *("ftp://host/a", "/a\0b", "/a\nb", "s3://[/a", "/" + "x" * 1_000, "jdbc:mysql://h/a"),
    ],
)
async def test_a_path_elsewhere_is_refused_with_what_is_meant(lake: Lake, path: str) -> None:
    with pytest.raises(InvalidInput, match="path: "):
        await lake.create_table(ANN, replace(TABLE, path=path))
