"""The tables that people know from the seeds: asked in plain SQL, over a plain connection, on every store."""

import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import asyncmy
import asyncpg
import pytest

from waterclock.domain.job import JobSpec
from waterclock.domain.moment import SECOND, Moment, to_datetime
from waterclock.domain.outcome import Outcome
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.schedule import parse_schedule
from waterclock.domain.schedule.codec import to_json
from waterclock.domain.trigger import Action, Target, TriggerSpec, TriggerType
from waterclock.stores import Database, database_from_url
from waterclock.stores.dialect import MYSQL, POSTGRES, SQLITE
from waterclock.stores.ops.access import create_organisation
from waterclock.stores.ops.claiming import Beginning, Claimant, begin, claim
from waterclock.stores.ops.ending import end_attempts
from waterclock.stores.ops.firing import fire_due
from waterclock.stores.ops.jobs import create_job, update_job
from waterclock.stores.ops.nodes import Node, beat, stop_node
from waterclock.stores.ops.starting import RunRequest, start_runs
from waterclock.stores.ops.triggers import create_trigger, start_trigger, stop_trigger
from waterclock.stores.views import drop_views, refresh_views, view_names

Answer = list[dict[str, Any]]

ACCOUNT: Final = "123456789012"
NODE: Final = "11111111-2222-3333-4444-555555555555"
PLACE: Final = {"org_id": 1, "namespace": "glue"}
CLAIMANT: Final = Claimant(node=NODE, host="host")
TRIGGER_KEY: Final = ("SCHED_NAME", "TRIGGER_NAME", "TRIGGER_GROUP")
QUARTZ: Final = {
    "job_details": (
        *("SCHED_NAME", "JOB_NAME", "JOB_GROUP", "DESCRIPTION", "JOB_CLASS_NAME", "IS_DURABLE", "IS_NONCONCURRENT"),
        *("IS_UPDATE_DATA", "REQUESTS_RECOVERY", "JOB_DATA"),
    ),
    "triggers": (
        *(*TRIGGER_KEY, "JOB_NAME", "JOB_GROUP", "DESCRIPTION", "NEXT_FIRE_TIME", "PREV_FIRE_TIME", "PRIORITY"),
        *("TRIGGER_STATE", "TRIGGER_TYPE", "START_TIME", "END_TIME", "CALENDAR_NAME", "MISFIRE_INSTR", "JOB_DATA"),
    ),
    "simple_triggers": (*TRIGGER_KEY, "REPEAT_COUNT", "REPEAT_INTERVAL", "TIMES_TRIGGERED"),
    "cron_triggers": (*TRIGGER_KEY, "CRON_EXPRESSION", "TIME_ZONE_ID"),
    "simprop_triggers": (
        *(*TRIGGER_KEY, "STR_PROP_1", "STR_PROP_2", "STR_PROP_3", "INT_PROP_1", "INT_PROP_2", "LONG_PROP_1"),
        *("LONG_PROP_2", "DEC_PROP_1", "DEC_PROP_2", "BOOL_PROP_1", "BOOL_PROP_2"),
    ),
    "blob_triggers": (*TRIGGER_KEY, "BLOB_DATA"),
    "calendars": ("SCHED_NAME", "CALENDAR_NAME", "CALENDAR"),
    "paused_trigger_grps": ("SCHED_NAME", "TRIGGER_GROUP"),
    "fired_triggers": (
        *("SCHED_NAME", "ENTRY_ID", "TRIGGER_NAME", "TRIGGER_GROUP", "INSTANCE_NAME", "FIRED_TIME", "SCHED_TIME"),
        *("PRIORITY", "STATE", "JOB_NAME", "JOB_GROUP", "IS_NONCONCURRENT", "REQUESTS_RECOVERY"),
    ),
    "scheduler_state": ("SCHED_NAME", "INSTANCE_NAME", "LAST_CHECKIN_TIME", "CHECKIN_INTERVAL"),
    "locks": ("SCHED_NAME", "LOCK_NAME"),
}
COLUMNS: Final = {
    "api_glue_job": (
        *("job_id", "username", "job_name", "script_name", "script_location", "create_ts", "update_ts", "body"),
    ),
    "api_glue_trigger": (
        *("trigger_id", "name", "description", "schedule", "start_on_create", "type", "workflow_name", "job_name"),
        *("user_name", "trigger_state", "body"),
    ),
    "api_glue_job_run": (
        *("job_run_id", "job_name", "job_run_state", "user_name", "trigger_name", "trigger_id", "pid"),
        *("create_ts", "update_ts"),
    ),
    **{f"glue_qrtz_{name}": columns for name, columns in QUARTZ.items()},
    **{f"glue_sch_qrtz_{name}": columns for name, columns in QUARTZ.items()},
}


class Refused(Exception):
    """What the database says to a statement that it does not carry out."""


class Plain:
    """Somebody's own connection, in whichever database: column names in lower case, as PostgreSQL gives them."""

    async def columns(self, sql: str) -> tuple[str, ...]:
        raise NotImplementedError

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    async def ask(self, sql: str) -> Answer:
        names = [name.lower() for name in await self.columns(sql)]
        return [dict(zip(names, row, strict=True)) for row in await self.rows(sql)]


class PlainSqlite(Plain):
    def __init__(self, path: str) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)

    async def columns(self, sql: str) -> tuple[str, ...]:
        return tuple(column[0] for column in self.connection.execute(sql).description)

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            return self.connection.execute(sql).fetchall()
        except sqlite3.Error as problem:
            raise Refused(str(problem)) from problem


class PlainPostgres(Plain):
    def __init__(self, connection: Any) -> None:
        self.connection = connection

    async def columns(self, sql: str) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in (await self.connection.prepare(sql)).get_attributes())

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            return [tuple(row) for row in await self.connection.fetch(sql)]
        except asyncpg.PostgresError as problem:
            raise Refused(str(problem)) from problem


class PlainMariadb(Plain):
    def __init__(self, connection: Any) -> None:
        self.connection = connection

    async def columns(self, sql: str) -> tuple[str, ...]:
        async with self.connection.cursor() as cursor:
            await cursor.execute(sql)
            return tuple(column[0] for column in cursor.description)

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        async with self.connection.cursor() as cursor:
            try:
                await cursor.execute(sql)
            except asyncmy.errors.MySQLError as problem:
                raise Refused(str(problem)) from problem
            return list(await cursor.fetchall())


@asynccontextmanager
async def plain(url: str) -> AsyncIterator[Plain]:
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        sqlite = PlainSqlite(parts.path[1:])
        yield sqlite
        sqlite.connection.close()
    elif parts.scheme == "postgresql":
        connection = await asyncpg.connect(url, server_settings={"timezone": "UTC"})
        yield PlainPostgres(connection)
        await connection.close()
    else:
        where = {"host": parts.hostname, "port": parts.port, "user": parts.username, "password": parts.password}
        connection = await asyncmy.connect(
            **where, db=parts.path[1:], autocommit=True, init_command="SET time_zone = '+00:00'"
        )
        yield PlainMariadb(connection)
        await connection.ensure_closed()


@dataclass(frozen=True, slots=True)
class Store:
    database: Database
    sql: Plain
    dialect: str

    async def job(self, name: str, owner: str, definition: Mapping[str, object], *, namespace: str = "glue", **spec: Any) -> int:
        job = await self.database.write(
            create_job,
            org_id=1,
            namespace=namespace,
            name=name,
            owner=owner,
            spec=JobSpec(kind="python", **spec),
            definition=definition,
            tags={},
        )
        return job.id

    async def trigger(
        self,
        name: str,
        schedule: str | None,
        *jobs: str,
        start: bool = False,
        definition: Mapping[str, object] | None = None,
        misfire: Mapping[str, object] | None = None,
        wrapped_in: Mapping[str, Any] | None = None,
    ) -> int:
        trigger = await self.database.write(
            create_trigger,
            **PLACE,
            name=name,
            owner="kim",
            spec=TriggerSpec(
                type=TriggerType.SCHEDULED if schedule else TriggerType.ON_DEMAND,
                actions=tuple(Action(target=Target.JOB, name=job) for job in jobs),
                expression=schedule,
                schedule=to_json(parse_schedule(schedule, **(wrapped_in or {}))) if schedule else None,
                misfire=misfire or {},
            ),
            definition=definition or {},
            tags={},
            start=start,
        )
        return trigger.id

    async def run(self, job: str, namespace: str = "glue") -> str:
        (inserted,) = await self.database.write(
            start_runs, org_id=1, namespace=namespace, requested_by="lee", requests=[RunRequest(job_name=job)]
        )
        return inserted.wire_id

    async def fire(self, trigger: str) -> None:
        await self.database.write(start_trigger, **PLACE, name=trigger, allow=lambda _: None, rules={})

    async def stop(self, trigger: str) -> None:
        await self.database.write(stop_trigger, **PLACE, name=trigger, allow=lambda _: None, stop_runs=True)

    async def claim(self) -> list[Attempt]:
        claims = await self.database.write(claim, claimant=CLAIMANT, limit=10, ttl_seconds=60)
        return [each.attempt for each in claims.claimed]

    async def begin(self, attempt: Attempt, pid: int) -> None:
        await self.database.write(begin, [Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=pid)])

    async def end(self, attempt: Attempt, state: RunState) -> None:
        await self.database.write(end_attempts, [Outcome(attempt_id=attempt.id, fence=attempt.fence, state=state)])

    def instant(self, moment: Moment) -> object:
        """As this database shows one to a person."""
        at = to_datetime(moment)
        match self.dialect:
            case "sqlite":
                return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            case "postgresql":
                return at
        return at.replace(tzinfo=None)


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    database = database_from_url(store_url)
    await database.open()
    await database.migrate()
    await database.write(create_organisation, account=ACCOUNT, name="us")
    async with plain(store_url) as sql:
        yield Store(database, sql, urlsplit(store_url).scheme)
    await database.close()


async def test_every_table_of_the_seeds_answers_with_its_columns(store: Store) -> None:
    assert set(view_names()) == set(COLUMNS)
    for name, columns in COLUMNS.items():
        found = await store.sql.columns(f"select * from {name}")
        assert found == (tuple(map(str.lower, columns)) if store.dialect == "postgresql" else columns), name
        assert await store.sql.rows(f"select * from {name};") == [], name


async def test_nothing_can_be_written_through_a_view(store: Store) -> None:
    await store.job("etl", "kim", {})
    await store.trigger("nightly", "0 4 * * *", "etl", start=True)
    await store.trigger("by hand", None, "etl")
    await store.fire("by hand")
    before = [await store.sql.rows(f"select * from {table}") for table in ("jobs", "triggers", "runs", "attempts")]
    for view, columns in COLUMNS.items():
        attempts = [f"DELETE FROM {view}", f"INSERT INTO {view} SELECT * FROM {view}"]
        attempts += [f"INSERT INTO {view} ({column}) VALUES (NULL)" for column in columns]
        attempts += [f"UPDATE {view} SET {column} = NULL" for column in columns]
        for attempt in attempts:
            with pytest.raises(Refused):
                await store.sql.rows(attempt)
                pytest.fail(attempt)
    after = [await store.sql.rows(f"select * from {table}") for table in ("jobs", "triggers", "runs", "attempts")]
    assert after == before


async def test_api_glue_job_shows_each_job_as_it_is_now(store: Store) -> None:
    definition = {"Command": {"Name": "pythonshell", "ScriptLocation": "s3://bucket/jobs/old.py"}}
    etl = await store.job("etl", "kim", definition)
    await store.job("일일 집계 ⏳", "lee", {"Command": {"ScriptLocation": "집계.py"}})
    await store.job("a lake job", "kim", {}, namespace="lake")
    revised = {"Command": {"Name": "pythonshell", "ScriptLocation": "s3://bucket/jobs/etl.py"}}
    store.database.offset_us = 5 * SECOND
    job = await store.database.write(
        update_job, **PLACE, name="etl", by="kim", revise=lambda job: (job.spec, revised), allow=lambda _: None
    )
    first, second = await store.sql.ask("select * from api_glue_job order by job_id")
    assert first == {
        "job_id": etl,
        "username": "kim",
        "job_name": "etl",
        "script_name": "etl.py",
        "script_location": "s3://bucket/jobs/etl.py",
        "create_ts": store.instant(job.created_at),
        "update_ts": store.instant(job.updated_at),
        "body": '{"Command":{"Name":"pythonshell","ScriptLocation":"s3://bucket/jobs/etl.py"}}',
    }
    assert job.updated_at > job.created_at
    assert [second[name] for name in ("job_name", "username", "script_name")] == ["일일 집계 ⏳", "lee", "집계.py"]


ODD: Final = [
    ({}, None),
    ({"Command": None, "Description": None, "StartOnCreation": None}, None),
    ({"Command": "a text", "Description": {"a": 1}, "StartOnCreation": [1]}, None),
    ({"Command": {}, "Arguments": {"--nul": "\x00", "--backslash": "\\u0000"}}, None),
    ({"Command": {"ScriptLocation": "s3://bucket/folder/"}}, ""),
    ({"Command": {"ScriptLocation": 'it\'s "50%" \\ done.py'}}, 'it\'s "50%" \\ done.py'),
    ({"Command": {"ScriptLocation": "null"}, "Description": "null"}, "null"),
]


async def test_a_definition_that_lacks_a_member_breaks_no_view(store: Store) -> None:
    for number, (definition, _) in enumerate(ODD):
        await store.job(f"job {number}", "kim", definition)
        await store.trigger(f"trigger {number}", "0 4 * * *", f"job {number}", start=True, definition=definition)
    jobs = await store.sql.ask("select * from api_glue_job order by job_id")
    assert [job["script_name"] for job in jobs] == [name for _, name in ODD]
    triggers = await store.sql.ask("select * from api_glue_trigger order by trigger_id")
    assert not any(trigger["start_on_create"] for trigger in triggers)
    assert [triggers[number]["description"] for number in (0, 1, 6)] == [None, None, "null"]
    for view in ("glue_qrtz_job_details", "glue_qrtz_triggers", "glue_qrtz_cron_triggers"):
        assert len(await store.sql.ask(f"select * from {view}")) == len(ODD)


async def test_a_job_without_a_definition_of_its_script_shows_the_one_it_runs(store: Store) -> None:
    await store.job("etl", "kim", {}, script="file:///srv/etl.py")
    (job,) = await store.sql.ask("select script_location, script_name from api_glue_job")
    assert job == {"script_location": "file:///srv/etl.py", "script_name": "etl.py"}


async def test_api_glue_trigger_shows_every_trigger_in_the_words_of_the_seeds(store: Store) -> None:
    await store.job("etl", "lee", {})
    await store.job("report", "lee", {})
    definition = {"Description": "each night", "StartOnCreation": True}
    nightly = await store.trigger("nightly", "cron(0 4 * * ? *)", "etl", "report", start=True, definition=definition)
    await store.trigger("later", "0 5 * * *", "report", definition={"StartOnCreation": False})
    await store.trigger("stopped", "0 5 * * *", "report", start=True)
    await store.stop("stopped")
    await store.trigger("by hand", None, "report", "etl")
    first, *others = await store.sql.ask("select * from api_glue_trigger order by trigger_id")
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


async def test_api_glue_job_run_follows_a_run_through_its_states_and_its_retry(store: Store) -> None:
    await store.job("etl", "kim", {}, retries=1)
    wire_id = await store.run("etl")

    async def shown() -> list[tuple[object, ...]]:
        rows = await store.sql.ask("select * from api_glue_job_run order by job_run_id")
        assert all(row["trigger_id"] is None and row["trigger_name"] is None for row in rows)
        assert all((row["job_name"], row["user_name"]) == ("etl", "lee") for row in rows)
        return [(row["job_run_id"], row["job_run_state"], row["pid"]) for row in rows]

    assert await shown() == [(wire_id, "STARTING", None)]
    (attempt,) = await store.claim()
    await store.begin(attempt, pid=4711)
    assert await shown() == [(wire_id, "RUNNING", 4711)]
    store.database.offset_us = 2 * SECOND
    await store.end(attempt, RunState.FAILED)
    assert await shown() == [(wire_id, "FAILED", 4711), (f"{wire_id}_attempt_1", "STARTING", None)]
    (again,) = await store.claim()
    await store.begin(again, pid=4712)
    await store.end(again, RunState.SUCCEEDED)
    assert await shown() == [(wire_id, "FAILED", 4711), (f"{wire_id}_attempt_1", "SUCCEEDED", 4712)]
    first, _ = await store.sql.ask("select * from api_glue_job_run order by job_run_id")
    assert first["create_ts"] == store.instant(attempt.created_at)
    assert first["update_ts"] > store.instant(attempt.created_at + SECOND)


async def test_a_triggers_runs_carry_its_name_and_id_and_what_was_skipped_is_not_shown(store: Store) -> None:
    await store.job("etl", "lee", {})
    await store.job("lake job", "lee", {}, namespace="lake")
    await store.run("lake job", namespace="lake")
    by_hand = await store.trigger("by hand", None, "etl")
    await store.fire("by hand")
    store.database.offset_us = SECOND
    await store.fire("by hand")
    assert len(await store.sql.rows("select 1 from runs where state = 'SKIPPED'")) == 1
    (row,) = await store.sql.ask("select * from api_glue_job_run")
    assert (row["trigger_name"], row["trigger_id"], row["job_run_state"]) == ("by hand", by_hand, "STARTING")


async def test_the_newest_runs_are_found_by_an_index(store: Store) -> None:
    await store.job("etl", "kim", {}, max_concurrent=0)
    await store.database.write(
        start_runs, **PLACE, requested_by="kim", requests=[RunRequest(job_name="etl") for _ in range(1_000)]
    )
    newest = "select * from api_glue_job_run order by job_run_id desc limit 5"
    match store.dialect:
        case "sqlite":
            plan = str(await store.sql.rows(f"EXPLAIN QUERY PLAN {newest}"))
            assert "TEMP B-TREE" not in plan
            assert "SCAN a USING INDEX" in plan
        case "postgresql":
            await store.sql.rows("ANALYZE")
            plan = str(await store.sql.rows(f"EXPLAIN {newest}"))
            assert "Sort" not in plan
            assert "Seq Scan" not in plan
        case _:
            await store.sql.rows("ANALYZE TABLE runs, attempts")
            plan = str(await store.sql.rows(f"EXPLAIN {newest}"))
            assert "filesort" not in plan
            assert "temporary" not in plan
            assert "meta" not in plan


async def test_quartz_knows_every_job_with_its_owner_as_the_group(store: Store) -> None:
    await store.job("etl", "kim", {"Description": "nightly"}, retries=2)
    await store.job("many", "lee", {}, max_concurrent=5)
    rows = await store.sql.ask("select * from glue_qrtz_job_details order by job_name")
    common = {"sched_name": ACCOUNT, "job_class_name": "python", "is_durable": True, "is_update_data": False}
    assert rows == [
        {
            **common,
            "job_name": "etl",
            "job_group": "kim",
            "description": "nightly",
            "is_nonconcurrent": True,
            "requests_recovery": True,
            "job_data": None,
        },
        {
            **common,
            "job_name": "many",
            "job_group": "lee",
            "description": None,
            "is_nonconcurrent": False,
            "requests_recovery": False,
            "job_data": None,
        },
    ]


async def test_quartz_knows_a_trigger_only_while_it_is_scheduled(store: Store) -> None:
    await store.job("etl", "lee", {})
    await store.trigger("nightly", "0 4 * * *", "etl", definition={"Description": "each night"})
    await store.trigger("by hand", None, "etl")
    names = "select trigger_name from glue_qrtz_triggers"
    assert await store.sql.rows(names) == []
    await store.fire("nightly")
    (next_fire,) = (await store.sql.rows("select next_fire_at from triggers where name = 'nightly'"))[0]
    (created,) = (await store.sql.rows("select created_at from triggers where name = 'nightly'"))[0]
    assert await store.sql.ask("select * from glue_qrtz_triggers") == [
        {
            "sched_name": ACCOUNT,
            "trigger_name": "nightly",
            "trigger_group": "kim",
            "job_name": "etl",
            "job_group": "lee",
            "description": "each night",
            "next_fire_time": next_fire // 1000,
            "prev_fire_time": -1,
            "priority": 5,
            "trigger_state": "WAITING",
            "trigger_type": "CRON",
            "start_time": created // 1000,
            "end_time": 0,
            "calendar_name": None,
            "misfire_instr": 0,
            "job_data": None,
        }
    ]
    await store.stop("nightly")
    assert await store.sql.rows(names) == []
    assert await store.sql.rows("select * from glue_qrtz_cron_triggers") == []


START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2199, 1, 1, tzinfo=UTC)


async def test_cron_triggers_and_simple_triggers_are_told_apart(store: Store) -> None:
    await store.job("etl", "lee", {}, max_concurrent=0)
    wrapped = {"start": START, "end": END, "jitter_seconds": 2, "exclude": [END.date()]}
    await store.trigger("cron", "cron(0 4 * * ? *)", "etl", start=True, wrapped_in={"timezone": "Asia/Seoul"})
    await store.trigger("wrapped", "0 4 * * *", "etl", start=True, misfire={"policy": "skip"}, wrapped_in=wrapped)
    await store.trigger("rate", "rate(90 seconds)", "etl", start=True, misfire={"policy": "all"})
    await store.trigger("at", "at(2020-01-01T00:00:00)", "etl", start=True, misfire={"policy": "skip"})
    rows = await store.sql.ask("select * from glue_qrtz_triggers order by trigger_name")
    shown = ("trigger_name", "trigger_type", "trigger_state", "misfire_instr", "end_time")
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("at", "SIMPLE", "COMPLETE", 4, 0),
        ("cron", "CRON", "WAITING", 0, 0),
        ("rate", "SIMPLE", "WAITING", -1, 0),
        ("wrapped", "CRON", "WAITING", 2, int(END.timestamp() * 1000)),
    ]
    assert rows[0]["next_fire_time"] == -1
    assert rows[3]["start_time"] == int(START.timestamp() * 1000)
    assert await store.sql.rows("select * from glue_qrtz_cron_triggers order by trigger_name") == [
        (ACCOUNT, "cron", "kim", "cron(0 4 * * ? *)", "Asia/Seoul"),
        (ACCOUNT, "wrapped", "kim", "0 4 * * *", "UTC"),
    ]
    assert await store.sql.rows("select * from glue_qrtz_simple_triggers order by trigger_name") == [
        (ACCOUNT, "at", "kim", 0, 0, 0),
        (ACCOUNT, "rate", "kim", -1, 90_000, 0),
    ]


async def test_a_fire_is_seen_in_the_trigger_and_while_its_run_lives_among_the_fired(store: Store) -> None:
    await store.job("etl", "lee", {})
    await store.job("report", "lee", {})
    await store.trigger("rate", "rate(90 seconds)", "etl", "report", start=True)
    store.database.offset_us = 90 * SECOND
    await store.database.write(fire_due, limit=10, rules={})
    (fire_at,) = (await store.sql.rows("select fire_at from fires"))[0]
    (trigger,) = await store.sql.ask("select * from glue_qrtz_triggers")
    assert trigger["prev_fire_time"] == fire_at // 1000
    assert trigger["next_fire_time"] == fire_at // 1000 + 90_000
    assert (await store.sql.ask("select * from glue_qrtz_simple_triggers"))[0]["times_triggered"] == 1

    (fired,) = await store.sql.ask("select * from glue_qrtz_fired_triggers")
    (run,) = await store.sql.ask("select * from api_glue_job_run where job_name = 'etl'")
    fired_time = fired.pop("fired_time")
    assert fired_time >= fire_at // 1000
    assert fired == {
        "sched_name": ACCOUNT,
        "entry_id": run["job_run_id"],
        "trigger_name": "rate",
        "trigger_group": "kim",
        "instance_name": "",
        "sched_time": fire_at // 1000,
        "priority": 5,
        "state": "ACQUIRED",
        "job_name": "etl",
        "job_group": "lee",
        "is_nonconcurrent": True,
        "requests_recovery": False,
    }
    (attempt,) = await store.claim()
    await store.begin(attempt, pid=4711)
    running = "select job_name, state, instance_name from glue_qrtz_fired_triggers"
    assert await store.sql.rows(running) == [("etl", "EXECUTING", NODE)]
    await store.end(attempt, RunState.SUCCEEDED)
    assert await store.sql.rows(running) == [("report", "ACQUIRED", "")]


async def test_a_run_by_hand_is_not_among_the_fired_triggers(store: Store) -> None:
    await store.job("etl", "lee", {})
    await store.run("etl")
    assert await store.sql.rows("select * from glue_qrtz_fired_triggers") == []


async def test_nodes_check_in_until_they_stop(store: Store) -> None:
    node = Node(id=NODE, host="host", name="here", duties=("scheduler", "worker"), version="0", pid=1)
    await store.database.write(beat, node=node, wall_us=0)
    (heartbeat,) = (await store.sql.rows("select heartbeat_at from nodes"))[0]
    rows = await store.sql.rows("select * from glue_qrtz_scheduler_state")
    assert rows == [(ACCOUNT, NODE, heartbeat // 1000, 5_000)]
    await store.database.write(stop_node, node_id=NODE)
    assert await store.sql.rows("select * from glue_qrtz_scheduler_state") == []


async def test_both_names_of_a_quartz_table_answer_alike(store: Store) -> None:
    await store.job("etl", "lee", {})
    await store.trigger("nightly", "0 4 * * *", "etl", start=True)
    await store.trigger("hourly", "rate(1 hour)", "etl", start=True)
    for name in QUARTZ:
        rows = await store.sql.rows(f"select * from glue_qrtz_{name}")
        assert await store.sql.rows(f"select * from glue_sch_qrtz_{name}") == rows, name


async def test_two_organisations_keep_quartzs_keys_apart(store: Store) -> None:
    other = await store.database.write(create_organisation, account="210987654321", name="them")
    await store.job("etl", "admin", {})
    await store.database.write(
        create_job,
        org_id=other.id,
        namespace="glue",
        name="etl",
        owner="admin",
        spec=JobSpec(kind="python"),
        definition={},
        tags={},
    )
    keys = "select sched_name, job_name, job_group from glue_qrtz_job_details order by sched_name"
    assert await store.sql.rows(keys) == [(ACCOUNT, "etl", "admin"), ("210987654321", "etl", "admin")]


async def test_views_are_made_anew_at_each_migration_and_let_a_column_change(store: Store) -> None:
    dialect = {"sqlite": SQLITE, "postgresql": POSTGRES, "mysql": MYSQL}[store.dialect]
    await store.job("etl", "kim", {})
    assert await store.database.migrate() == []
    for statement in (*drop_views(dialect), "ALTER TABLE jobs RENAME COLUMN owner TO proprietor"):
        await store.sql.rows(statement)
    await store.sql.rows("ALTER TABLE jobs RENAME COLUMN proprietor TO owner")
    for statement in refresh_views(dialect):
        await store.sql.rows(statement)
    assert await store.sql.rows("select job_name, username from api_glue_job") == [("etl", "kim")]
