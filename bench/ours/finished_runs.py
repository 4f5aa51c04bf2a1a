"""Finished runs of a whole retention in a PostgreSQL store, made on the server, with all indexes."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import asyncpg

from waterclock.app.library_worker import StoreOptions
from waterclock.engine.retention import PARTS, width_days
from waterclock.stores.base import Partition
from waterclock.stores.postgres import partition_tables as tables

KEEP_DAYS: Final = StoreOptions(namespace="", shared=True).keep_days  # the library would drop whatever is older
JOBS: Final = 1_000
FIRST_JOB: Final = 1_000_000_000  # beyond those that anybody makes meanwhile
BETWEEN: Final = 3  # numbers that a run takes: its own, its fire's, its attempt's

FIRES: Final = """INSERT INTO {table} (id, org_id, trigger_id, trigger_name, generation, fire_at, outcome, first_at,
  last_at, instants, created_at)
SELECT {number}, 1, {first_job} + n % {jobs}, 'job-' || n % {jobs}, 1, {at}, 'FIRED', {at}, {at}, 1, {at} + 4000
FROM generate_series({first}::bigint, {last}::bigint) n"""
RUNS: Final = """INSERT INTO {table} (id, run_at, org_id, namespace, wire_id, job_id, job_name, job_version, kind,
  owner, requested_by, fire_id, action_no, has_next, trigger_id, trigger_name, state, queue, labels, role, arguments,
  settings, attempts, retries, retry_delay_us, retry_doubles, created_at, started_at, ended_at, updated_at)
SELECT {number} + 1, {at}, 1, 'history', {wire_id}, {first_job} + n % {jobs}, 'job-' || n % {jobs}, 1, 'callable',
  'history', 'history', {number}, 0, 0, {first_job} + n % {jobs}, 'job-' || n % {jobs},
  CASE WHEN n % 50 = 0 THEN 'FAILED' ELSE 'SUCCEEDED' END, 'history', '', '', '{{}}', '{{}}', 1, 0, 0, 0, {at} + 4000,
  {at} + 5000, {at} + 25000, {at} + 25000
FROM generate_series({first}::bigint, {last}::bigint) n"""
ATTEMPTS: Final = """INSERT INTO {table} (id, run_at, run_id, org_id, namespace, job_id, number, wire_id, state, fence,
  node, host, due_at, queue, labels, role, memory_mb, exit_code, created_at, started_at, ended_at, updated_at)
SELECT {number} + 2, {at}, {number} + 1, 1, 'history', {first_job} + n % {jobs}, 0, {wire_id},
  CASE WHEN n % 50 = 0 THEN 'FAILED' ELSE 'SUCCEEDED' END, 1, {node}, {node}, {at}, 'history', '', '', 0,
  CASE WHEN n % 50 = 0 THEN 1 ELSE 0 END, {at} + 4000, {at} + 5000, {at} + 25000, {at} + 25000
FROM generate_series({first}::bigint, {last}::bigint) n"""
ROWS: Final = {"fires": FIRES, "runs": RUNS, "attempts": ATTEMPTS}
STORED: Final = """SELECT COALESCE(SUM(c.reltuples), 0)::bigint FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'runs'::regclass AND c.reltuples > 0"""
WIRE_ID: Final = "'jr_' || lpad(to_hex({at} / 1000), 12, '0') || md5(n::text) || substr(md5((-n)::text), 1, 20)"


async def fill(url: str, runs: int) -> float:
    """In so many seconds. The store is migrated, and nobody has used it."""
    began = time.monotonic()
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("SET synchronous_commit = off; SET maintenance_work_mem = '512MB'")
        await connection.execute(f"UPDATE counters SET value = {BETWEEN * (runs + 1)} WHERE kind = 'run'")
        partitions = list(_partitions(await tables.partitions(connection)))
        for number, partition in enumerate(partitions):
            first, last = runs * number // len(partitions) + 1, runs * (number + 1) // len(partitions)
            await _fill(connection, partition, first, last)
        await connection.execute("VACUUM (ANALYZE, FREEZE)")
        await connection.execute("CHECKPOINT")
    finally:
        await connection.close()
    return time.monotonic() - began


async def stored(url: str) -> int:
    """How many finished runs there are, as PostgreSQL counted when it vacuumed: without a look at them."""
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval(STORED))
    finally:
        await connection.close()


def _partitions(present: Sequence[Partition]) -> Iterator[Partition]:
    """Those of the retention, up to the first that is there: today's."""
    days = width_days(KEEP_DAYS)
    for number in range(PARTS, 0, -1):
        yield tables.partition_from(present[0].from_at - number * days * tables.DAY, days)


async def _fill(connection: Any, partition: Partition, first: int, last: int) -> None:
    """Rows first, indexes when they are attached."""
    step = (partition.to_at - partition.from_at) // (last - first + 2)
    at = f"({partition.from_at} + (n - {first} + 1) * {step}::bigint)"
    words = {
        "number": f"{BETWEEN} * n",
        "at": at,
        "wire_id": WIRE_ID.format(at=at),
        "node": "'00000000-0000-4000-8000-000000000001'",
        "first_job": FIRST_JOB,
        "jobs": JOBS,
        "first": first,
        "last": last,
    }
    span = f"FROM ({partition.from_at}) TO ({partition.to_at})"
    for table, rows in ROWS.items():
        name = f"{table}_{partition.name}"
        await connection.execute(f"CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
        await connection.execute(rows.format(table=name, **words))
        await connection.execute(f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES {span}")
