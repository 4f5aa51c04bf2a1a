"""Step 0008 of PostgreSQL: fires, runs and attempts become partitioned tables; what is there is their first partition.

Nothing is copied. A partition must be known to hold nothing later than its end, so that the rows are read once,
beforehand and while everybody goes on (`prepare`); what is left takes a moment (`partition`), in the transaction of the
migration. A crash before leaves a table that refuses rows of a far day, and the next start goes on from there.
"""

import asyncio
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any, Final

import asyncpg

from waterclock.domain.moment import Moment
from waterclock.stores.postgres import partition_tables as tables
from waterclock.stores.postgres.partitions import NOW, make_next

STEP: Final = "partitions"
DAYS: Final = 15  # of the first ones; later ones are as wide as the retention says
AHEAD_DAYS: Final = 30  # what is there goes on to be filled so long; no row is refused before it
PATIENCE_SECONDS: Final = 3_600.0
LOCK_MS: Final = 500
LOCK_TRIES: Final = 200
PAUSE_SECONDS: Final = 0.2

_THERE: Final = "SELECT EXISTS (SELECT 1 FROM pg_class WHERE oid = to_regclass('runs') AND relkind = 'r')"
_CHECK: Final = """SELECT convalidated, pg_get_constraintdef(oid) AS text FROM pg_constraint
WHERE conrelid = $1::text::regclass AND conname = $1::text || '_ends'"""
_INDEXES: Final = """SELECT c.relname AS name, pg_get_indexdef(c.oid) AS text, pg_get_constraintdef(k.oid) AS rule
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid LEFT JOIN pg_constraint k ON k.conindid = c.oid
WHERE i.indrelid = $1::text::regclass ORDER BY c.relname"""
_NUMBER: Final = re.compile(r"< '?(\d+)")


async def prepare(connection: Any) -> None:
    """Before the transaction: see to it, and know, that no row is later than the end of the first partition."""
    if not await connection.fetchval(_THERE):
        return
    for table, key in tables.KEYS.items():
        if await connection.fetchval(f"SELECT EXISTS (SELECT 1 FROM {table})"):  # noqa: S608 - our own names
            await _prepare(connection, table, key)


async def _prepare(connection: Any, table: str, key: str) -> None:
    now = await connection.fetchval(NOW)
    found = await connection.fetchrow(_CHECK, table)
    if found and _number(found["text"]) < now + AHEAD_DAYS * tables.DAY // 2:  # of a crash that is long past
        await _briefly(connection, f"ALTER TABLE {table} DROP CONSTRAINT {_check_of(table)}")
        found = None
    if not found:
        end = tables.begin_of_day(now) + AHEAD_DAYS * tables.DAY
        rule = f"ADD CONSTRAINT {_check_of(table)} CHECK ({key} < {end}) NOT VALID"
        await _briefly(connection, f"ALTER TABLE {table} {rule}")
    if not (found and found["convalidated"]):
        await connection.execute(
            f"ALTER TABLE {table} VALIDATE CONSTRAINT {_check_of(table)}", timeout=PATIENCE_SECONDS
        )


async def hold(connection: Any) -> None:
    """All three tables, for the rest of the transaction; nobody waits long for us to get them."""
    if await connection.fetchval(_THERE):
        await _briefly(connection, f"LOCK TABLE {', '.join(tables.KEYS)} IN ACCESS EXCLUSIVE MODE")


async def partition(connection: Any) -> None:
    """In the transaction of the migration."""
    now = await connection.fetchval(NOW)
    end = await _end(connection, now)
    for table, key in tables.KEYS.items():
        await _partition(connection, table, key)
        for statement in _first(table, end):
            await connection.execute(statement)
    while await make_next(connection, now, DAYS):
        pass
    await connection.execute(resources.files(__package__).joinpath("functions.sql").read_text(encoding="utf-8"))


async def _end(connection: Any, now: Moment) -> Moment | None:
    """Of the first partition, as the rows were checked; None: there are none."""
    checks = [await connection.fetchrow(_CHECK, table) for table in tables.KEYS]
    if any(checks):
        return min(_number(check["text"]) for check in checks if check)
    looks = [f"EXISTS (SELECT 1 FROM {table})" for table in tables.KEYS]  # noqa: S608 - our own names
    filled = await connection.fetchval(f"SELECT {' OR '.join(looks)}")
    return tables.begin_of_day(now) + AHEAD_DAYS * tables.DAY if filled else None


async def _partition(connection: Any, table: str, key: str) -> None:
    """A table of the same shape and name, with nothing in it yet; the one that was there has another name."""
    before = f"{table}_{tables.BEFORE}"
    indexes = await connection.fetch(_INDEXES, table)
    await connection.execute(f"ALTER TABLE {table} RENAME TO {before}")
    for index in indexes:
        await connection.execute(f"ALTER INDEX {index['name']} RENAME TO {index['name']}_{tables.BEFORE}")
    same = f"LIKE {before} INCLUDING DEFAULTS INCLUDING CONSTRAINTS"
    await connection.execute(f"CREATE TABLE {table} ({same}) PARTITION BY RANGE ({key})")
    await connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {_check_of(table)}")
    for index in indexes:
        rule = index["rule"] and f"ALTER TABLE {table} ADD CONSTRAINT {index['name']} {index['rule']}"
        await connection.execute(rule or index["text"])
    await connection.execute(f"CREATE TABLE {table}_{tables.REST} PARTITION OF {table} DEFAULT")


def _first(table: str, end: Moment | None) -> Iterator[str]:
    """What was there before, as the first partition."""
    before = f"{table}_{tables.BEFORE}"
    if end is None:
        yield f"DROP TABLE {before}"
        return
    yield f"ALTER TABLE {table} ATTACH PARTITION {before} FOR VALUES FROM (MINVALUE) TO ({end})"
    yield f"ALTER TABLE {before} DROP CONSTRAINT IF EXISTS {_check_of(table)}"


async def _briefly(connection: Any, statement: str) -> None:
    """Others wait behind whoever waits for a lock: we wait a moment, and let them pass before we ask again."""
    for left in reversed(range(LOCK_TRIES)):
        try:
            async with connection.transaction():
                await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_MS}ms'")
                await connection.execute(statement)
                await connection.execute("SET LOCAL lock_timeout = 0")  # the end of a savepoint would leave it
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            if not left:
                raise
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            return


def _check_of(table: str) -> str:
    return f"{table}_ends"


def _number(text: str) -> int:
    found = _NUMBER.search(text)
    assert found, text
    return int(found[1])
