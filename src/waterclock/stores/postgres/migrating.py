"""Migrations of PostgreSQL: all or nothing, one process at a time."""

from collections.abc import Sequence
from typing import Any, Final

import asyncpg

from waterclock.stores.dialect import POSTGRES
from waterclock.stores.migrations import BOOK, TAKEN, is_newer, migrations
from waterclock.stores.postgres import instants, partitioning
from waterclock.stores.views import PRESENT, refresh_views, schedulerdb

LOCK: Final = 7_722_031_004_471_193  # any number that nobody else takes
PATIENCE_SECONDS: Final = 300.0
CODE: Final = {partitioning.STEP: partitioning.partition, instants.STEP: instants.keep}  # what is more than statements


async def migrate(connection: Any) -> Sequence[str]:
    """The connection is closed afterwards: the lock goes with it."""
    await connection.execute("SET lock_timeout = 0; SET statement_timeout = 0")
    await connection.execute(f"SELECT pg_advisory_lock({LOCK})", timeout=PATIENCE_SECONDS)
    await partitioning.prepare(connection)
    async with connection.transaction():
        for setting in ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"):
            await connection.execute(f"SET LOCAL {setting} = 0")
        await partitioning.hold(connection)
        neighbour = await _neighbour(connection)
        await connection.execute(BOOK)
        taken = {row["version"]: row["name"] for row in await connection.fetch(TAKEN)}
        newer = is_newer(taken)
        names = []
        for step in migrations(POSTGRES):
            if step.version not in taken:
                for statement in step.statements:
                    await connection.execute(statement, timeout=PATIENCE_SECONDS)
                if code := CODE.get(step.name):
                    await code(connection)
                values = (step.version, step.name, len(step.statements))
                await connection.execute("INSERT INTO schema_migrations VALUES ($1, $2, $3)", *values)
                names.append(step.name)
        if newer:
            return names
        statements = refresh_views(POSTGRES, None if names else await connection.fetchval(PRESENT))
        for statement in statements:
            await connection.execute(statement, timeout=PATIENCE_SECONDS)
        if neighbour:
            await _show_there(connection, neighbour, anew=bool(statements))
    return names


async def _show_there(connection: Any, neighbour: schedulerdb.Neighbour, *, anew: bool) -> None:
    schedulerdb.tell_of_others(neighbour, anew=anew)
    try:
        async with connection.transaction():  # a savepoint: what is refused here leaves the migration whole
            for statement in neighbour.makes(anew=anew):
                await connection.execute(statement, timeout=PATIENCE_SECONDS)
    except asyncpg.PostgresError as problem:
        schedulerdb.tell(problem, anew=anew)


async def _neighbour(connection: Any) -> schedulerdb.Neighbour | None:
    exists = bool(await connection.fetchval(schedulerdb.EXISTS[POSTGRES.name]))
    found = [tuple(row) for row in await connection.fetch(schedulerdb.FOUND[POSTGRES.name])]
    return schedulerdb.seen(POSTGRES, await connection.fetchval("SELECT current_schema()"), exists=exists, found=found)
