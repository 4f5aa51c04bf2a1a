"""What a schedulerDB holds, read whole in one snapshot that cannot write; failures are one line, no password in it.

The server may be older than any that our own store takes: only what MySQL 5.6 has is used.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

import asyncmy
from asyncmy.cursors import DictCursor

from waterclock.domain.errors import InvalidInput
from waterclock.faces.cli.failure import Failure, Refused
from waterclock.faces.cli.importing.schedulerdb.tables import (
    CHAINS,
    COUNTED,
    GATES,
    LEFT,
    READ,
    SELECTED,
    STEPS,
    Row,
    Tables,
)
from waterclock.stores.mysql.connecting import Place
from waterclock.stores.mysql.faults import DRIVER_ERRORS, code_of

SCHEMES: Final = ("mysql", "mariadb")
PASSWORD: Final = "MYSQL_PWD"  # as MySQL's own programs have it: a password in a command line is seen by all
CONNECT_SECONDS: Final = 10
READ_SECONDS: Final = 120
NOT_LET_IN: Final = frozenset({1044, 1045, 1142, 1698})
SNAPSHOT: Final = (
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
TABLE: Final = "BASE TABLE"
COLUMNS: Final = (
    "SELECT t.TABLE_NAME AS named, t.TABLE_TYPE AS kind, c.COLUMN_NAME AS holds, @@lower_case_table_names AS folded"
    " FROM information_schema.TABLES t"
    " JOIN information_schema.COLUMNS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME"
    " WHERE t.TABLE_SCHEMA = DATABASE()"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the old tables are; shown without its password."""

    place: Place

    @classmethod
    def from_url(cls, url: str) -> "Source":
        try:
            place = Place.from_url(url) if urlsplit(url).scheme in SCHEMES else None
        except InvalidInput as problem:
            raise Refused(str(problem)) from None
        except ValueError as problem:
            raise Refused(f"database URL: {problem}") from None
        if place is None:
            raise Refused("say where to read: mysql://user:password@host:3306/schedulerDB")
        return cls(place=replace(place, password=place.password or os.environ.get(PASSWORD, "")))

    def __str__(self) -> str:
        user = f"{self.place.user}@" if self.place.user else ""
        return f"mysql://{user}{self.place.host}:{self.place.port}/{self.place.database}"


def read(source: Source) -> Tables:
    try:
        return asyncio.run(_read(source))
    except DRIVER_ERRORS as problem:
        raise _failure(source, problem) from None


async def _read(source: Source) -> Tables:
    async with asyncio.timeout(READ_SECONDS), _connected(source.place) as connection:
        for statement in SNAPSHOT:
            await _rows(connection, statement)
        known = _known(await _rows(connection, COLUMNS))
        _check(known, source)
        found = {table: _spelled(table, await _rows(connection, SELECTED[table])) for table in READ}
        left = {table: await _counted(connection, COUNTED[table]) if table in known else None for table in LEFT}
    return Tables(chains=found[CHAINS], gates=found[GATES], steps=found[STEPS], left=left)


@asynccontextmanager
async def _connected(place: Place) -> AsyncIterator[Any]:
    async with asyncio.timeout(CONNECT_SECONDS):
        connection = await asyncmy.connect(
            host=place.host,
            port=place.port,
            user=place.user,
            password=place.password,
            database=place.database,
            unix_socket=place.unix_socket,
            charset="utf8mb4",
            cursor_cls=DictCursor,
            connect_timeout=CONNECT_SECONDS,
        )
    try:
        yield connection
    finally:
        connection.close()


async def _rows(connection: Any, statement: str) -> Sequence[Row]:
    async with connection.cursor() as cursor:
        await cursor.execute(statement)
        found: Sequence[Row] = await cursor.fetchall()
        return found


def _known(columns: Sequence[Row]) -> Mapping[str, Mapping[str, str]]:
    """Each table that can be asked for by its name, with the kind of it for each of its columns."""
    known: dict[str, dict[str, str]] = {}
    for row in columns:
        for table in (*READ, *LEFT):
            if row["named"] == table or (row["folded"] and row["named"].lower() == table.lower()):
                known.setdefault(table, {})[row["holds"].lower()] = row["kind"]
    return known


def _check(known: Mapping[str, Mapping[str, str]], source: Source) -> None:
    if any(kind != TABLE for kind in known.get(CHAINS, {}).values()):
        raise Refused(f"{CHAINS} at {source} is a view, such as Waterclock's own: name the old scheduler's database")
    missing = [f"table {table}" for table in READ if table not in known]
    for table, wanted in READ.items():
        missing += [f"column {table}.{name}" for name in wanted if table in known and name.lower() not in known[table]]
    if missing:
        raise Refused(f"{source} is no whole schedulerDB; it has, or shows to this user, no {', no '.join(missing)}")


def _spelled(table: str, rows: Sequence[Row]) -> Sequence[Row]:
    """With the names of columns as we have them: to the server BKP_flag and bkp_flag are the same."""
    folded = [{name.lower(): value for name, value in row.items()} for row in rows]
    return [{name: _text(row[name.lower()]) for name in READ[table]} for row in folded]


def _text(value: object) -> object:
    """Some keep UTF-8 in columns of bytes, so that no server changes it on its way."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value


async def _counted(connection: Any, statement: str) -> int:
    (row,) = await _rows(connection, statement)
    return int(row["found"])


def _failure(source: Source, problem: BaseException) -> Failure:
    code, said = code_of(problem), str(problem.args[-1]) if problem.args else ""
    if isinstance(problem, TimeoutError):
        return Failure(f"{source} does not answer in time: see that the address is right, or try again")
    if code in NOT_LET_IN:
        return Refused(f"{source} does not let us in: {said} (a password may stand in the URL, or in {PASSWORD})")
    if code == 1049:
        return Refused(f"there is no database {source.place.database!r} at {source.place.host}:{source.place.port}")
    if isinstance(problem, OSError) or 2000 <= code < 3000:
        return Failure(f"nothing answers at {source}: see that the address is right and that it serves ({said})")
    return Failure(f"cannot read {source}: {said or type(problem).__name__}")
