"""Step 0009 of PostgreSQL: what is due next lies in a table of its own, which the database keeps (instants.sql)."""

from importlib import resources
from typing import Any, Final

STEP: Final = "instants"
PATIENCE_SECONDS: Final = 3_600.0


async def keep(connection: Any) -> None:
    """In the transaction of the migration: nobody writes a trigger between the look and the first note."""
    text = resources.files(__package__).joinpath("instants.sql").read_text(encoding="utf-8")
    await connection.execute(text, timeout=PATIENCE_SECONDS)
