"""Plain SQL beside the stores, as an operator's own client would send it."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final
from urllib.parse import urlsplit

import asyncmy
import asyncpg
from asyncmy.cursors import DictCursor

Rows = Sequence[dict[str, Any]]

TABLES: Final = (
    *("organisations", "users", "access_keys", "tokens", "jobs", "job_versions", "triggers", "trigger_actions"),
    *("fires", "runs", "attempts", "transitions", "nodes", "messages", "user_groups", "group_members"),
    *("flows", "flow_runs", "flow_nodes", "trigger_conditions", "bookmarks", "idempotent_calls", "crawlers", "secrets"),
    *("audit", "audit_journals", "chains", "deleted_chains", "chain_gates", "chain_steps", "channels", "deliveries"),
    *("quotas", "lake_jobs", "lake_tables", "lake_sources", "lake_locks"),
)


async def rows(url: str, *statements: str) -> Rows:
    """The rows of the last; all are committed."""
    match urlsplit(url).scheme:
        case "sqlite":
            return _sqlite_rows(url, statements)
        case "postgresql":
            return await _postgres_rows(url, statements)
        case _:
            return await _mysql_rows(url, statements)


async def wipe(url: str) -> None:
    await rows(url, *(f"DELETE FROM {table}" for table in TABLES))


def _sqlite_rows(url: str, statements: Sequence[str]) -> Rows:
    with closing(sqlite3.connect(urlsplit(url).path[1:], timeout=10)) as connection:
        connection.row_factory = sqlite3.Row
        found: Rows = ()
        with connection:
            for statement in statements:
                found = [dict(row) for row in connection.execute(statement)]
        return found


async def _postgres_rows(url: str, statements: Sequence[str]) -> Rows:
    connection = await asyncpg.connect(url)
    try:
        if len(statements) > 1:
            await connection.execute(";".join(statements[:-1]))
        return [dict(row) for row in await connection.fetch(statements[-1])]
    finally:
        await connection.close()


async def _mysql_rows(url: str, statements: Sequence[str]) -> Rows:
    parts = urlsplit(url)
    where = {"host": parts.hostname, "port": parts.port, "user": parts.username, "password": parts.password}
    connection = await asyncmy.connect(**where, db=parts.path[1:], autocommit=True)
    try:
        async with connection.cursor(cursor=DictCursor) as cursor:
            for statement in statements:
                await cursor.execute(statement)
            return list(await cursor.fetchall())
    finally:
        await connection.ensure_closed()
