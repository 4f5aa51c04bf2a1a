"""Migrations of PostgreSQL: all or nothing, one process at a time."""

from collections.abc import Sequence
from typing import Any, Final

from waterclock.stores.dialect import POSTGRES
from waterclock.stores.migrations import BOOK, migrations
from waterclock.stores.views import PRESENT, refresh_views

LOCK: Final = 7_722_031_004_471_193  # any number that nobody else takes
PATIENCE_SECONDS: Final = 300.0


async def migrate(connection: Any) -> Sequence[str]:
    async with connection.transaction():
        for setting in ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"):
            await connection.execute(f"SET LOCAL {setting} = 0")
        await connection.execute(f"SELECT pg_advisory_xact_lock({LOCK})", timeout=PATIENCE_SECONDS)
        await connection.execute(BOOK)
        taken = {row["version"] for row in await connection.fetch("SELECT version FROM schema_migrations")}
        names = []
        for step in migrations(POSTGRES):
            if step.version not in taken:
                for statement in step.statements:
                    await connection.execute(statement, timeout=PATIENCE_SECONDS)
                values = (step.version, step.name, len(step.statements))
                await connection.execute("INSERT INTO schema_migrations VALUES ($1, $2, $3)", *values)
                names.append(step.name)
        present = None if names else await connection.fetchval(PRESENT)
        for statement in refresh_views(POSTGRES, present):
            await connection.execute(statement, timeout=PATIENCE_SECONDS)
    return names
