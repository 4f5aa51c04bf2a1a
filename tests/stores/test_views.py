"""The tables that people know from the seeds, asked in plain SQL over a plain connection, on every store."""

import re
from collections.abc import AsyncIterator
from typing import Final

import pytest

from tests.stores.glue import PLACE, Glue, glue_on
from tests.stores.known_tables import COLUMNS
from waterclock.domain.moment import SECOND
from waterclock.domain.run import RunState
from waterclock.stores.dialect import MYSQL, POSTGRES, SQLITE
from waterclock.stores.ops.jobs import update_job
from waterclock.stores.ops.starting import RunRequest, start_runs
from waterclock.stores.views import drop_views, refresh_views, view_names

# As the three databases say it; a refusal for any other reason would prove nothing.
READ_ONLY: Final = "because it is a view|cannot (insert into|update|delete from) view|not updatable|not insertable-into"


@pytest.fixture
async def glue(store_url: str) -> AsyncIterator[Glue]:
    async with glue_on(store_url) as glue:
        yield glue


async def test_every_table_of_the_seeds_answers_with_its_columns(glue: Glue) -> None:
    assert set(view_names()) == set(COLUMNS)
    for name, columns in COLUMNS.items():
        found = await glue.sql.columns(f"select * from {name}")
        assert found == (tuple(map(str.lower, columns)) if glue.dialect == "postgresql" else columns), name
        assert await glue.sql.rows(f"select * from {name};") == [], name


async def test_nothing_can_be_written_through_a_view(glue: Glue) -> None:
    await glue.job("etl", "kim", {})
    await glue.trigger("nightly", "0 4 * * *", "etl", start=True)
    await glue.trigger("by hand", None, "etl")
    await glue.fire("by hand")
    tables = ("jobs", "triggers", "trigger_actions", "runs", "attempts")
    before = [await glue.sql.rows(f"select * from {table}") for table in tables]
    for view, columns in COLUMNS.items():
        attempts = [f"DELETE FROM {view}", f"INSERT INTO {view} SELECT * FROM {view}"]
        spelled = [glue.sql.quoted(column) if column == "desc" else column for column in columns]
        attempts += [f"INSERT INTO {view} ({column}) VALUES (NULL)" for column in spelled]
        attempts += [f"UPDATE {view} SET {column} = {column}" for column in spelled]
        for attempt in attempts:
            assert re.search(READ_ONLY, await glue.sql.refusal(attempt)), attempt
    assert [await glue.sql.rows(f"select * from {table}") for table in tables] == before


async def test_api_glue_job_shows_each_job_as_it_is_now(glue: Glue) -> None:
    definition = {"Command": {"Name": "pythonshell", "ScriptLocation": "s3://bucket/jobs/old.py"}}
    etl = await glue.job("etl", "kim", definition)
    await glue.job("일일 집계 ⏳", "lee", {"Command": {"ScriptLocation": "집계.py"}})
    await glue.job("a lake job", "kim", {}, namespace="lake")
    revised = {"Command": {"Name": "pythonshell", "ScriptLocation": "s3://bucket/jobs/etl.py"}}
    glue.database.offset_us = 5 * SECOND
    job = await glue.database.write(
        update_job, **PLACE, name="etl", by="kim", revise=lambda job: (job.spec, revised), allow=lambda _: None
    )
    first, second = await glue.sql.ask("select * from api_glue_job order by job_id")
    assert first == {
        "job_id": etl,
        "username": "kim",
        "job_name": "etl",
        "script_name": "etl.py",
        "script_location": "s3://bucket/jobs/etl.py",
        "create_ts": glue.instant(job.created_at),
        "update_ts": glue.instant(job.updated_at),
        "body": '{"Command":{"Name":"pythonshell","ScriptLocation":"s3://bucket/jobs/etl.py"}}',
    }
    assert job.updated_at > job.created_at
    assert [second[name] for name in ("job_name", "username", "script_name")] == ["일일 집계 ⏳", "lee", "집계.py"]


ODD: Final[list[tuple[dict[str, object], str | None]]] = [
    ({}, None),
    ({"Command": None, "Description": None, "StartOnCreation": None}, None),
    ({"Command": "a text", "Description": {"a": 1}, "StartOnCreation": [1]}, None),
    ({"Command": {}, "Arguments": {"--nul": "\x00", "--backslash": "\\u0000"}}, None),
    ({"Command": {"ScriptLocation": "s3://bucket/folder/"}}, ""),
    ({"Command": {"ScriptLocation": 'it\'s "50%" \\ done.py'}}, 'it\'s "50%" \\ done.py'),
    ({"Command": {"ScriptLocation": "null"}, "Description": "null"}, "null"),
]


async def test_a_definition_that_lacks_a_member_breaks_no_view(glue: Glue) -> None:
    for number, (definition, _) in enumerate(ODD):
        await glue.job(f"job {number}", "kim", definition)
        await glue.trigger(f"trigger {number}", "0 4 * * *", f"job {number}", start=True, definition=definition)
    jobs = await glue.sql.ask("select * from api_glue_job order by job_id")
    assert [job["script_name"] for job in jobs] == [name for _, name in ODD]
    triggers = await glue.sql.ask("select * from api_glue_trigger order by trigger_id")
    assert not any(trigger["start_on_create"] for trigger in triggers)
    assert [triggers[number]["description"] for number in (0, 1, 6)] == [None, None, "null"]
    for view in ("glue_qrtz_job_details", "glue_qrtz_triggers", "glue_qrtz_cron_triggers"):
        assert len(await glue.sql.ask(f"select * from {view}")) == len(ODD)


async def test_a_job_without_a_definition_of_its_script_shows_the_one_it_runs(glue: Glue) -> None:
    await glue.job("etl", "kim", {}, script="file:///srv/etl.py")
    (job,) = await glue.sql.ask("select script_location, script_name from api_glue_job")
    assert job == {"script_location": "file:///srv/etl.py", "script_name": "etl.py"}


async def test_api_glue_trigger_shows_every_trigger_in_the_words_of_the_seeds(glue: Glue) -> None:
    await glue.job("etl", "lee", {})
    await glue.job("report", "lee", {})
    definition = {"Description": "each night", "StartOnCreation": True}
    nightly = await glue.trigger("nightly", "cron(0 4 * * ? *)", "etl", "report", start=True, definition=definition)
    await glue.trigger("later", "0 5 * * *", "report", definition={"StartOnCreation": False})
    await glue.trigger("stopped", "0 5 * * *", "report", start=True)
    await glue.stop("stopped")
    await glue.trigger("by hand", None, "report", "etl")
    first, *others = await glue.sql.ask("select * from api_glue_trigger order by trigger_id")
    assert first == {
        "trigger_id": nightly,
        "name": "nightly",
        "description": "each night",
        "schedule": "cron(0 4 * * ? *)",
        "start_on_create": True,
        "type": "SCHEDULED",
        "workflow_name": None,
        "job_name": "etl",
        "user_name": "kim",
        "trigger_state": "RUNNING",
        "body": '{"Description":"each night","StartOnCreation":true}',
    }
    shown = ("name", "type", "trigger_state", "start_on_create", "schedule", "job_name")
    assert [tuple(other[name] for name in shown) for other in others] == [
        ("later", "SCHEDULED", "STANDBY", False, "0 5 * * *", "report"),
        ("stopped", "SCHEDULED", "STOPPED", False, "0 5 * * *", "report"),
        ("by hand", "ON_DEMAND", "STANDBY", False, None, "report"),
    ]


async def test_api_glue_job_run_follows_a_run_through_its_states_and_its_retry(glue: Glue) -> None:
    await glue.job("etl", "kim", {}, retries=1)
    wire_id = await glue.run("etl")

    async def shown() -> list[tuple[object, ...]]:
        rows = await glue.sql.ask("select * from api_glue_job_run order by job_run_id")
        assert all(row["trigger_id"] is None and row["trigger_name"] is None for row in rows)
        assert all((row["job_name"], row["user_name"]) == ("etl", "lee") for row in rows)
        return [(row["job_run_id"], row["job_run_state"], row["pid"]) for row in rows]

    assert await shown() == [(wire_id, "STARTING", None)]
    (attempt,) = await glue.claim()
    await glue.begin(attempt, pid=4711)
    assert await shown() == [(wire_id, "RUNNING", 4711)]
    glue.database.offset_us = 2 * SECOND
    await glue.end(attempt, RunState.FAILED)
    assert await shown() == [(wire_id, "FAILED", 4711), (f"{wire_id}_attempt_1", "STARTING", None)]
    (again,) = await glue.claim()
    await glue.begin(again, pid=4712)
    await glue.end(again, RunState.SUCCEEDED)
    assert await shown() == [(wire_id, "FAILED", 4711), (f"{wire_id}_attempt_1", "SUCCEEDED", 4712)]
    first, _ = await glue.sql.ask("select * from api_glue_job_run order by job_run_id")
    assert first["create_ts"] == glue.instant(attempt.created_at)
    assert first["update_ts"] > glue.instant(attempt.created_at + SECOND)


async def test_a_triggers_runs_carry_its_name_and_id_and_what_was_skipped_is_not_shown(glue: Glue) -> None:
    await glue.job("etl", "lee", {})
    await glue.job("lake job", "lee", {}, namespace="lake")
    await glue.run("lake job", namespace="lake")
    by_hand = await glue.trigger("by hand", None, "etl")
    await glue.fire("by hand")
    glue.database.offset_us = SECOND
    await glue.fire("by hand")
    assert len(await glue.sql.rows("select 1 from runs where state = 'SKIPPED'")) == 1
    (row,) = await glue.sql.ask("select * from api_glue_job_run")
    assert (row["trigger_name"], row["trigger_id"], row["job_run_state"]) == ("by hand", by_hand, "STARTING")


async def test_the_newest_runs_are_found_by_an_index(glue: Glue) -> None:
    await glue.job("etl", "kim", {}, max_concurrent=0)
    await glue.database.write(
        start_runs, **PLACE, requested_by="kim", requests=[RunRequest(job_name="etl") for _ in range(1_000)]
    )
    newest = "select * from api_glue_job_run order by job_run_id desc limit 5"
    match glue.dialect:
        case "sqlite":
            plan = str(await glue.sql.rows(f"EXPLAIN QUERY PLAN {newest}"))
            assert "TEMP B-TREE" not in plan
            assert "SCAN a USING INDEX" in plan
        case "postgresql":
            await glue.sql.rows("ANALYZE")  # it would sort the nothing that is in empty partitions
            await glue.sql.rows("SET enable_seqscan = off")
            plan = str(await glue.sql.rows(f"EXPLAIN {newest}"))
            assert "Sort  (" not in plan
            assert "Seq Scan" not in plan
        case _:
            await glue.sql.rows("ANALYZE TABLE runs, attempts")
            plan = str(await glue.sql.rows(f"EXPLAIN {newest}"))
            assert "filesort" not in plan
            assert "temporary" not in plan
            assert "meta" not in plan


async def test_views_are_made_anew_at_each_migration_and_let_a_column_change(glue: Glue) -> None:
    dialect = {"sqlite": SQLITE, "postgresql": POSTGRES, "mysql": MYSQL}[glue.dialect]
    await glue.job("etl", "kim", {})
    assert await glue.database.migrate() == []
    for statement in (*drop_views(dialect), "ALTER TABLE jobs RENAME COLUMN owner TO proprietor"):
        await glue.sql.rows(statement)
    await glue.sql.rows("ALTER TABLE jobs RENAME COLUMN proprietor TO owner")
    for statement in refresh_views(dialect):
        await glue.sql.rows(statement)
    assert await glue.sql.rows("select job_name, username from api_glue_job") == [("etl", "kim")]
