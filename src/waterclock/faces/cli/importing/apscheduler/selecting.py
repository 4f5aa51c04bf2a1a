"""The rows of one statement, from a database that is only read; failures are one line, no password in it."""

import asyncio
import sqlite3
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from waterclock.domain.errors import InvalidInput
from waterclock.faces.cli.failure import Failure, Refused
from waterclock.faces.cli.importing.apscheduler.place import Place

CONNECT_SECONDS: Final = 10
READ_SECONDS: Final = 120

Rows = Sequence[Sequence[Any]]


class NoTable(Exception):
    """It, or a column of it, is not there."""


def select(place: Place, statement: str) -> Rows:
    """In a transaction that cannot write. NoTable where something that it names is not there."""
    match place.kind:
        case "sqlite":
            return _of_sqlite(place, statement)
        case "postgresql":
            return asyncio.run(_of_postgres(place, statement))
    return asyncio.run(_of_mysql(place, statement))


def _of_sqlite(place: Place, statement: str) -> Rows:
    if not place.path.is_file():
        raise Refused(f"there is no file {place.path}")
    address = f"file:{quote(str(place.path.absolute()))}?mode=ro"
    try:
        connection = sqlite3.connect(address, uri=True, timeout=CONNECT_SECONDS)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()
    except sqlite3.Error as problem:
        if str(problem).startswith(("no such table", "no such column", "unknown database")):
            raise NoTable(str(problem)) from None
        raise Failure(f"cannot read {place}: {problem}") from None


async def _of_postgres(place: Place, statement: str) -> Rows:
    import asyncpg

    from waterclock.stores.postgres.faults import DRIVER_ERRORS

    try:
        async with asyncio.timeout(READ_SECONDS):
            connection = await asyncpg.connect(place.url, timeout=CONNECT_SECONDS, statement_cache_size=0)
            try:
                async with connection.transaction(readonly=True):
                    return [tuple(row) for row in await connection.fetch(statement)]
            finally:
                connection.terminate()
    except (asyncpg.UndefinedTableError, asyncpg.UndefinedColumnError, asyncpg.InvalidSchemaNameError) as problem:
        raise NoTable(str(problem)) from None
    except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InsufficientPrivilegeError) as problem:
        raise Refused(f"{place} does not let us in: {problem} (a password may stand in PGPASSWORD)") from None
    except asyncpg.InvalidCatalogNameError as problem:
        raise Refused(f"{place}: {problem}") from None
    except (asyncpg.ClientConfigurationError, ValueError) as problem:
        raise Refused(f"database URL: {problem}") from None
    except DRIVER_ERRORS as problem:
        raise _unreachable(place, problem) from None


async def _of_mysql(place: Place, statement: str) -> Rows:
    import asyncmy

    from waterclock.stores.mysql.connecting import Place as Server
    from waterclock.stores.mysql.faults import DRIVER_ERRORS, code_of

    try:
        server = Server.from_url(place.url)
    except InvalidInput as problem:
        raise Refused(str(problem)) from None
    try:
        async with asyncio.timeout(READ_SECONDS):
            connection = await asyncmy.connect(
                host=server.host,
                port=server.port,
                user=server.user,
                password=server.password,
                database=server.database,
                unix_socket=server.unix_socket,
                charset="utf8mb4",
                connect_timeout=CONNECT_SECONDS,
            )
            try:
                async with connection.cursor() as cursor:
                    await cursor.execute("START TRANSACTION READ ONLY")
                    await cursor.execute(statement)
                    found: Rows = await cursor.fetchall()
                    return found
            finally:
                connection.close()
    except DRIVER_ERRORS as problem:
        said = str(problem.args[-1]) if problem.args else ""
        match code_of(problem):
            case 1146 | 1054:
                raise NoTable(said) from None
            case 1044 | 1045 | 1142 | 1698:
                raise Refused(f"{place} does not let us in: {said} (a password may stand in MYSQL_PWD)") from None
            case 1049:
                raise Refused(f"{place}: {said}") from None
        raise _unreachable(place, problem) from None


def _unreachable(place: Place, problem: BaseException) -> Failure:
    if isinstance(problem, TimeoutError):
        return Failure(f"{place} does not answer in time: see that the address is right, or try again")
    said = str(problem.args[-1]) if problem.args else type(problem).__name__
    if isinstance(problem, OSError):
        return Failure(f"nothing answers at {place}: see that the address is right and that it serves ({said})")
    return Failure(f"cannot read {place}: {said}")
