"""Migrations of SQLite: in the one transaction that the writer gives them."""

from collections.abc import Sequence

from waterclock.stores.dialect import SQLITE
from waterclock.stores.migrations import BOOK, TAKEN, is_newer, migrations
from waterclock.stores.sqlite.session import SqliteTx
from waterclock.stores.views import PRESENT, refresh_views


async def migrate(tx: SqliteTx) -> Sequence[str]:
    tx.execute(BOOK)
    taken = {row["version"]: row["name"] for row in tx.execute(TAKEN)}
    newer = is_newer(taken)
    names = []
    for step in migrations(SQLITE):
        if step.version in taken:
            continue
        for statement in step.statements:
            tx.execute(statement)
        row = f"{step.version}, '{step.name}', {len(step.statements)}"
        tx.execute(f"INSERT INTO schema_migrations VALUES ({row})")  # noqa: S608 - our text
        names.append(step.name)
    if newer:
        return names
    present = tx.execute(PRESENT).fetchone()
    for statement in refresh_views(SQLITE, present[0] if present and not names else None):
        tx.execute(statement)
    return names
