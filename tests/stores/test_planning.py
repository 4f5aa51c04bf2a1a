"""What PostgreSQL plans once goes by an index on a table of any size, also where the plan was made for an empty one."""

import asyncpg
import pytest

from waterclock.stores.base import is_by_key
from waterclock.stores.ops import jobs, reading, starting
from waterclock.stores.postgres.compiling import compiled
from waterclock.stores.postgres.planning import KEPT_PLANS

BY_KEY = (
    "hold_jobs_by_names",
    "lock_jobs",
    "share_jobs",
    "jobs_by_names",
    "job_by_name",
    "count_live_runs_up_to",
    "live_ceilings",
    "lock_quotas",
    "answers_of_calls",
    "whole_attempts_by_wire_ids",
)


@pytest.mark.parametrize("name", BY_KEY)
async def test_a_plan_that_is_kept_reads_no_table_from_end_to_end(migrated_postgres: str, name: str) -> None:
    connection = await asyncpg.connect(migrated_postgres, server_settings=dict(KEPT_PLANS))
    statement = compiled(name)
    try:
        await connection.execute(f"PREPARE kept AS {statement.sql}")
        plan = await connection.fetch(f"EXPLAIN EXECUTE kept({', '.join('NULL' for _ in statement.names)})")
    finally:
        await connection.close()
    text = "\n".join(line for (line,) in plan)
    assert "Seq Scan" not in text, text
    assert "Index Cond" in text, text
    assert "$" in text, f"a plan for these values alone:\n{text}"


def test_what_is_planned_once_is_said() -> None:
    assert is_by_key(starting.start_new)
    assert is_by_key(starting.start_each)
    assert is_by_key(jobs.create_job)
    assert not is_by_key(reading.list_attempts)
