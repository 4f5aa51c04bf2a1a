"""What a migration would do to a store; nothing is done."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from waterclock.stores.base import StatementFailed, Tx
from waterclock.stores.dialect import MYSQL, POSTGRES, SQLITE, Dialect
from waterclock.stores.migrations import is_newer, migrations
from waterclock.stores.opening import database_from_url

NOT_BEGUN: Final = -1  # a step may have no statements for a database

_DIALECTS: Final[Mapping[str, Dialect]] = {
    "postgresql": POSTGRES,
    "postgres": POSTGRES,
    "mysql": MYSQL,
    "mariadb": MYSQL,
}


async def pending_steps(url: str) -> Sequence[str]:
    """The names of the steps to be taken, in their order. A store that is too far ahead is refused, as at a start."""
    if _is_missing(url):
        return [step.name for step in migrations(SQLITE)]
    database = database_from_url(url)
    await database.open()
    try:
        taken = await database.read(_taken)
    except StatementFailed:  # no book: nothing was ever taken here
        taken = {}
    finally:
        await database.close()
    is_newer({version: name for version, (name, _) in taken.items()})
    steps = migrations(_DIALECTS.get(urlsplit(url).scheme, SQLITE))
    return [step.name for step in steps if taken.get(step.version, ("", NOT_BEGUN))[1] != len(step.statements)]


async def _taken(tx: Tx) -> Mapping[int, tuple[str, int]]:
    return {row["version"]: (row["name"], row["statements"]) for row in await tx.fetch("taken_steps")}


def _is_missing(url: str) -> bool:
    """To open an SQLite file is to make it."""
    return url.startswith("sqlite:///") and not Path(unquote(url.removeprefix("sqlite:///"))).exists()
