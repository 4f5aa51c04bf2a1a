"""Migrations of MySQL: every statement of DDL commits by itself, so a crash is resumed at the statement it left off."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from asyncmy.errors import MySQLError

from waterclock.domain.errors import Unavailable
from waterclock.stores.dialect import MYSQL
from waterclock.stores.migrations import BOOK, TAKEN, Migration, is_newer, migrations
from waterclock.stores.mysql.connecting import Flavour
from waterclock.stores.mysql.faults import code_of
from waterclock.stores.views import PRESENT, refresh_views, schedulerdb

PATIENCE_SECONDS: Final = 300
# Table, key, column or row is there; key or column is gone: the statement in doubt was done before the crash.
DONE_BEFORE: Final = frozenset({1050, 1061, 1060, 1062, 1091})


async def migrate(connection: Any, database: str, flavour: Flavour) -> Sequence[str]:
    """The connection autocommits, and is closed afterwards: the lock goes with it."""
    cursor = connection.cursor()
    await cursor.execute(f"SET SESSION lock_wait_timeout = {PATIENCE_SECONDS}")
    await cursor.execute(flavour.patient)
    await cursor.execute("SELECT GET_LOCK(%s, %s) AS got", (_lock(database), PATIENCE_SECONDS))
    if (await cursor.fetchone())["got"] != 1:
        raise Unavailable("another process is migrating this database")
    await cursor.execute("SHOW TABLES LIKE 'schema_migrations'")
    if await cursor.fetchone() is None:  # asked first: the driver prints a warning for a table that exists
        await cursor.execute(BOOK)
    await cursor.execute(TAKEN)
    taken = await cursor.fetchall()
    newer = is_newer({row["version"]: row["name"] for row in taken})
    done = {row["version"]: row["statements"] for row in taken}
    names = await _take_steps(cursor, done, flavour.collation)
    if not newer:
        await _make_views(cursor, database, anew=bool(names))
    return names


def _lock(database: str) -> str:
    """Locks belong to the server, not to one of its databases; a name has 64 characters at most."""
    return f"waterclock {database}"[:64]


async def _take_steps(cursor: Any, done: Mapping[int, int], collation: str) -> Sequence[str]:
    names = []
    for step in migrations(MYSQL):
        if done.get(step.version) != len(step.statements):
            await _take(cursor, step, done.get(step.version), collation)
            names.append(step.name)
    return names


async def _make_views(cursor: Any, database: str, *, anew: bool) -> None:
    await cursor.execute(PRESENT)
    present = await cursor.fetchone()
    statements = refresh_views(MYSQL, present["value"] if present and not anew else None)
    for statement in statements:
        await cursor.execute(statement)
    try:
        await _show_there(cursor, database, anew=bool(statements))
    except MySQLError as problem:
        schedulerdb.tell(problem, anew=bool(statements))


async def _show_there(cursor: Any, database: str, *, anew: bool) -> None:
    await cursor.execute(schedulerdb.EXISTS[MYSQL.name])
    exists = await cursor.fetchone() is not None
    await cursor.execute(schedulerdb.FOUND[MYSQL.name])
    found = [(row["name"], row["definition"]) for row in await cursor.fetchall()]
    neighbour = schedulerdb.seen(MYSQL, database, exists=exists, found=found)
    if neighbour is None:
        return
    schedulerdb.tell_of_others(neighbour, anew=anew)
    for statement in neighbour.makes(anew=anew):
        await cursor.execute(statement)


async def _take(cursor: Any, step: Migration, done: int | None, collation: str) -> None:
    if done is None:
        await cursor.execute("INSERT INTO schema_migrations VALUES (%s, %s, 0)", (step.version, step.name))
    for number, statement in enumerate(step.statements):
        if number >= (done or 0):
            await _do(cursor, _collated(statement, collation), in_doubt=number == done)
            await cursor.execute(
                "UPDATE schema_migrations SET statements = %s WHERE version = %s", (number + 1, step.version)
            )


async def _do(cursor: Any, statement: str, *, in_doubt: bool) -> None:
    try:
        await cursor.execute(statement)
    except MySQLError as problem:
        if not in_doubt or code_of(problem) not in DONE_BEFORE:
            raise


def _collated(statement: str, collation: str) -> str:
    """Names are told apart by every byte of them, whatever the server's default is."""
    if not statement.startswith("CREATE TABLE"):
        return statement
    return f"{statement} ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation}"
