"""What PostgreSQL plans once goes by an index, and not for longer than its table stays as it was."""

import re
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from waterclock import clock
from waterclock.stores.base import is_by_key
from waterclock.stores.numbers import Numbers
from waterclock.stores.ops import jobs, reading, starting, starting_known
from waterclock.stores.postgres.compiling import compiled
from waterclock.stores.postgres.connection import PostgresConnection
from waterclock.stores.postgres.planning import KEPT_PLANS, KEPT_SECONDS
from waterclock.stores.postgres.session import PostgresSession

BY_KEY = (
    "hold_jobs_by_names",
    "hold_known_jobs",
    "lock_jobs",
    "share_jobs",
    "jobs_by_ids",
    "jobs_by_names",
    "job_by_name",
    "live_ceilings",
    "lock_quotas",
    "answers_of_calls",
    "whole_attempts_by_wire_ids",
)
EMPTY = "TRUNCATE jobs, job_versions, triggers"  # whatever was known of them is forgotten, too
SOME_JOBS = """INSERT INTO jobs (id, org_id, namespace, name, owner, kind, version, tags, created_at, updated_at)
SELECT n, 1, 'api', 'job ' || n, 'ann', 'shell', 1, '{}', 0, 0 FROM generate_series(1, 3000) n"""
SOME_VERSIONS = """INSERT INTO job_versions (job_id, version, org_id, spec, definition, created_by, created_at)
SELECT n, 1, 1, '{}', '{}', 'ann', 0 FROM generate_series(1, 3000) n"""

DUE_TOGETHER = """INSERT INTO triggers (id, org_id, namespace, name, owner, type, state, misfire, next_fire_at, version,
  generation, definition, tags, created_at, updated_at, ticker)
SELECT n, 1, 'py', 'job ' || n, 'ann', 'SCHEDULED', 'RUNNING', '{}', 7, 1, 1, '{}', '{}', 0, 0, 'py'
FROM generate_series(1, 3000) n"""


@pytest.fixture
async def connection(migrated_postgres: str) -> AsyncIterator[Any]:
    settings = dict(KEPT_PLANS)
    opened = await asyncpg.connect(migrated_postgres, connection_class=PostgresConnection, server_settings=settings)
    try:
        await opened.execute(EMPTY)
        yield opened
        await opened.execute(EMPTY)
    finally:
        await opened.close()


def session(connection: Any) -> PostgresSession:
    async def none(*_: object) -> int:
        raise AssertionError

    return PostgresSession(
        connection, lambda _: None, sender="", numbers=Numbers(none), offset_us=0, asked_at=clock.monotonic()
    )


async def plan_of(connection: Any, name: str) -> str:
    """The one that is kept."""
    kept = await connection.fetchval("SELECT name FROM pg_prepared_statements WHERE statement = $1", compiled(name).sql)
    given = ", ".join("NULL" for _ in compiled(name).names)
    return "\n".join(line for (line,) in await connection.fetch(f'EXPLAIN EXECUTE "{kept}"({given})'))


@pytest.mark.parametrize("name", BY_KEY)
async def test_what_goes_by_key_goes_by_an_index_whatever_it_is_asked_for(connection: Any, name: str) -> None:
    await connection.execute(f"{SOME_JOBS}; {SOME_VERSIONS}; ANALYZE jobs, job_versions")
    prepared = await connection.prepare(compiled(name).sql)
    text = await plan_of(connection, name)
    del prepared
    assert "Seq Scan" not in text, text
    assert "Index Cond" in text or "Subplans Removed" in text, text
    assert "Join Filter" not in text, text


async def test_what_is_due_at_one_instant_is_held_by_its_keys_and_not_looked_for_among_all_that_is_due(
    connection: Any,
) -> None:
    await connection.execute(f"{SOME_JOBS}; {DUE_TOGETHER}")  # as after thousands of add_job: nothing is analysed yet
    prepared = await connection.prepare(compiled("hold_as_they_were").sql)
    text = await plan_of(connection, "hold_as_they_were")
    del prepared
    assert "triggers_due" not in text, text
    assert text.count("triggers_pkey") == 2, text  # to hold them, and to delete those that have fired for the last time


async def test_some_of_a_million_that_are_due_together_are_read_without_the_others(connection: Any) -> None:
    await connection.execute(f"{DUE_TOGETHER}; ANALYZE triggers")  # a planner knows that one is as good as another
    prepared = await connection.prepare(compiled("triggers_due_at").sql)
    text = await plan_of(connection, "triggers_due_at")
    del prepared
    assert "Index Scan using triggers_due" in text, text
    assert not re.search("Sort|Materialize|CTE|Bitmap", text), text


async def test_a_plan_is_not_kept_until_its_table_has_grown(connection: Any) -> None:
    tx, asked = session(connection), {"org_id": 1, "namespace": "api", "name": "job 7"}
    await connection.execute("VACUUM ANALYZE jobs")
    await connection.execute("VACUUM ANALYZE job_versions")
    await tx.replan()
    await tx.fetch("job_by_name", asked)
    before = await plan_of(connection, "job_by_name")
    await connection.execute(f"{SOME_JOBS}; {SOME_VERSIONS}")
    await tx.replan()
    assert await plan_of(connection, "job_by_name") == before, "it is kept for a while"
    connection.planned_at -= KEPT_SECONDS + 1
    await tx.replan()
    after = await plan_of(connection, "job_by_name")
    assert after != before
    assert "Index Cond" in after, after


def test_what_is_planned_once_is_said() -> None:
    assert is_by_key(starting.start_new)
    assert is_by_key(starting.start_each)
    assert is_by_key(starting_known.start_known)
    assert is_by_key(jobs.create_job)
    assert not is_by_key(reading.list_attempts)
