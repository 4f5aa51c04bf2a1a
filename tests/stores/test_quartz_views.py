"""Quartz's tables over our own: what its users look for is there, on every store."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from tests.stores.glue import ACCOUNT, NODE, Glue, glue_on
from tests.stores.known_tables import QUARTZ
from waterclock.domain.job import JobSpec
from waterclock.domain.moment import SECOND
from waterclock.domain.run import RunState
from waterclock.stores.ops.access import create_organisation
from waterclock.stores.ops.firing import fire_due
from waterclock.stores.ops.jobs import create_job
from waterclock.stores.ops.nodes import Node, beat, stop_node


@pytest.fixture
async def glue(store_url: str) -> AsyncIterator[Glue]:
    async with glue_on(store_url) as glue:
        yield glue


async def test_quartz_knows_every_job_with_its_owner_as_the_group(glue: Glue) -> None:
    await glue.job("etl", "kim", {"Description": "nightly"}, retries=2)
    await glue.job("many", "lee", {}, max_concurrent=5)
    rows = await glue.sql.ask("select * from glue_qrtz_job_details order by job_name")
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


async def test_quartz_knows_a_trigger_only_while_it_is_scheduled(glue: Glue) -> None:
    await glue.job("etl", "lee", {})
    await glue.trigger("nightly", "0 4 * * *", "etl", definition={"Description": "each night"})
    await glue.trigger("by hand", None, "etl")
    names = "select trigger_name from glue_qrtz_triggers"
    assert await glue.sql.rows(names) == []
    await glue.fire("nightly")
    (next_fire,) = (await glue.sql.rows("select next_fire_at from triggers where name = 'nightly'"))[0]
    (created,) = (await glue.sql.rows("select created_at from triggers where name = 'nightly'"))[0]
    assert await glue.sql.ask("select * from glue_qrtz_triggers") == [
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
    await glue.stop("nightly")
    assert await glue.sql.rows(names) == []
    assert await glue.sql.rows("select * from glue_qrtz_cron_triggers") == []


START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2199, 1, 1, tzinfo=UTC)


async def test_cron_triggers_and_simple_triggers_are_told_apart(glue: Glue) -> None:
    await glue.job("etl", "lee", {}, max_concurrent=0)
    wrapped = {"start": START, "end": END, "jitter_seconds": 2, "exclude": [END.date()]}
    await glue.trigger("cron", "cron(0 4 * * ? *)", "etl", start=True, wrapped_in={"timezone": "Asia/Seoul"})
    await glue.trigger("wrapped", "0 4 * * *", "etl", start=True, misfire={"policy": "skip"}, wrapped_in=wrapped)
    await glue.trigger("rate", "rate(90 seconds)", "etl", start=True, misfire={"policy": "all"})
    await glue.trigger("at", "at(2020-01-01T00:00:00)", "etl", start=True, misfire={"policy": "skip"})
    rows = await glue.sql.ask("select * from glue_qrtz_triggers order by trigger_name")
    shown = ("trigger_name", "trigger_type", "trigger_state", "misfire_instr", "end_time")
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("at", "SIMPLE", "COMPLETE", 4, 0),
        ("cron", "CRON", "WAITING", 0, 0),
        ("rate", "SIMPLE", "WAITING", -1, 0),
        ("wrapped", "CRON", "WAITING", 2, int(END.timestamp() * 1000)),
    ]
    assert rows[0]["next_fire_time"] == -1
    assert rows[3]["start_time"] == int(START.timestamp() * 1000)
    assert await glue.sql.rows("select * from glue_qrtz_cron_triggers order by trigger_name") == [
        (ACCOUNT, "cron", "kim", "cron(0 4 * * ? *)", "Asia/Seoul"),
        (ACCOUNT, "wrapped", "kim", "0 4 * * *", "UTC"),
    ]
    assert await glue.sql.rows("select * from glue_qrtz_simple_triggers order by trigger_name") == [
        (ACCOUNT, "at", "kim", 0, 0, 0),
        (ACCOUNT, "rate", "kim", -1, 90_000, 0),
    ]


async def test_a_fire_is_seen_in_the_trigger_and_while_its_run_lives_among_the_fired(glue: Glue) -> None:
    await glue.job("etl", "lee", {})
    await glue.job("report", "lee", {})
    await glue.trigger("rate", "rate(90 seconds)", "etl", "report", start=True)
    glue.database.offset_us = 90 * SECOND
    await glue.database.write(fire_due, limit=10, rules={})
    (fire_at,) = (await glue.sql.rows("select fire_at from fires"))[0]
    (trigger,) = await glue.sql.ask("select * from glue_qrtz_triggers")
    assert trigger["prev_fire_time"] == fire_at // 1000
    assert trigger["next_fire_time"] == fire_at // 1000 + 90_000
    assert (await glue.sql.ask("select * from glue_qrtz_simple_triggers"))[0]["times_triggered"] == 1

    (fired,) = await glue.sql.ask("select * from glue_qrtz_fired_triggers")
    (run,) = await glue.sql.ask("select * from api_glue_job_run where job_name = 'etl'")
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
    (attempt,) = await glue.claim()
    await glue.begin(attempt, pid=4711)
    running = "select job_name, state, instance_name from glue_qrtz_fired_triggers"
    assert await glue.sql.rows(running) == [("etl", "EXECUTING", NODE)]
    await glue.end(attempt, RunState.SUCCEEDED)
    assert await glue.sql.rows(running) == [("report", "ACQUIRED", "")]


async def test_a_run_by_hand_is_not_among_the_fired_triggers(glue: Glue) -> None:
    await glue.job("etl", "lee", {})
    await glue.run("etl")
    assert await glue.sql.rows("select * from glue_qrtz_fired_triggers") == []


async def test_nodes_check_in_until_they_stop(glue: Glue) -> None:
    node = Node(id=NODE, host="host", name="here", duties=("scheduler", "worker"), version="0", pid=1)
    await glue.database.write(beat, node=node, wall_us=0)
    (heartbeat,) = (await glue.sql.rows("select heartbeat_at from nodes"))[0]
    rows = await glue.sql.rows("select * from glue_qrtz_scheduler_state")
    assert rows == [(ACCOUNT, NODE, heartbeat // 1000, 5_000)]
    await glue.database.write(stop_node, node_id=NODE)
    assert await glue.sql.rows("select * from glue_qrtz_scheduler_state") == []


async def test_both_names_of_a_quartz_table_answer_alike(glue: Glue) -> None:
    await glue.job("etl", "lee", {})
    await glue.trigger("nightly", "0 4 * * *", "etl", start=True)
    await glue.trigger("hourly", "rate(1 hour)", "etl", start=True)
    for name in QUARTZ:
        rows = await glue.sql.rows(f"select * from glue_qrtz_{name}")
        assert await glue.sql.rows(f"select * from glue_sch_qrtz_{name}") == rows, name


async def test_two_organisations_keep_quartzs_keys_apart(glue: Glue) -> None:
    other = await glue.database.write(create_organisation, account="210987654321", name="them")
    await glue.job("etl", "admin", {})
    await glue.database.write(
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
    assert await glue.sql.rows(keys) == [(ACCOUNT, "etl", "admin"), ("210987654321", "etl", "admin")]
