"""Connections of MySQL and MariaDB: how they are made, and a pool that forgets the dead ones."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

import asyncmy
from asyncmy.constants.CLIENT import FOUND_ROWS
from asyncmy.cursors import DictCursor

from waterclock import clock
from waterclock.domain.errors import InvalidInput
from waterclock.stores.places import ReadOnly
from waterclock.stores.server import ANSWER_SECONDS, BORROW_SECONDS, IDLE_SECONDS, LOCK_SECONDS

# Literals are like what JSON functions return, so that the two can meet; a column's own collation beats both.
NAMES: Final = "SET NAMES utf8mb4 COLLATE utf8mb4_bin"
MODE: Final = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
COMMON: Final = (
    f"SET SESSION sql_mode = '{MODE}', time_zone = '+00:00', innodb_lock_wait_timeout = {LOCK_SECONDS},"
    f" lock_wait_timeout = {LOCK_SECONDS}, group_concat_max_len = 1000000",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)
WHO: Final = "SELECT VERSION() AS version, @@global.read_only AS read_only"
_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavour:
    """In what MariaDB and MySQL differ for us."""

    name: str
    least: tuple[int, int, int]
    why: str
    collation: str  # binary, and trailing spaces count
    session: str
    patient: str  # for migrations


MARIADB: Final = Flavour(
    name="MariaDB",
    least=(10, 6, 0),
    why="SKIP LOCKED",
    collation="utf8mb4_nopad_bin",
    session=f"SET SESSION max_statement_time = {ANSWER_SECONDS}, idle_transaction_timeout = {IDLE_SECONDS},"
    " in_predicate_conversion_threshold = 0",
    patient="SET SESSION max_statement_time = 0, idle_transaction_timeout = 0",
)
MYSQL: Final = Flavour(
    name="MySQL",
    least=(8, 0, 16),
    why="SKIP LOCKED and CHECK",
    collation="utf8mb4_0900_bin",
    session=f"SET SESSION max_execution_time = {ANSWER_SECONDS * 1000:.0f}, wait_timeout = 30",
    patient="SET SESSION max_execution_time = 0, wait_timeout = 28800",
)


def flavour_of(version: str) -> Flavour:
    """InvalidInput where it is too old for us."""
    flavour = MARIADB if "mariadb" in version.lower() else MYSQL
    match = _VERSION.search(version)
    found = tuple(map(int, match.groups())) if match else (0, 0, 0)
    if found < flavour.least:
        least = ".".join(map(str, flavour.least))
        raise InvalidInput(
            f"{flavour.name} {version} is too old: {flavour.why} needs {least} or later", field="database"
        )
    return flavour


def takes_writes(read_only: object) -> bool:
    """New MariaDBs have words for its degrees, all others 0 and 1; MySQL's super_read_only sets this one, too."""
    return str(read_only).upper() in ("0", "OFF")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a URL says."""

    host: str
    port: int
    user: str
    password: str
    database: str
    unix_socket: str | None

    @classmethod
    def from_url(cls, url: str) -> "Place":
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query))
        if "," in parts.netloc.rpartition("@")[2]:
            raise InvalidInput(
                "each server has a URL of its own: mysql://…@db1/wc,mysql://…@db2/wc", field="database URL"
            )
        try:
            port = parts.port or 3306
        except ValueError:  # not repeated: a password with a slash in it makes a port of its beginning
            reason = "the port is no number: mysql://user:password@host:3306/name, in a password / is %2F"
            raise InvalidInput(reason, field="database URL") from None
        if not (database := unquote(parts.path.removeprefix("/"))):
            raise InvalidInput("names no database: mysql://user:password@host/name", field="database URL")
        return cls(
            host=parts.hostname or "127.0.0.1",
            port=port,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            database=database,
            unix_socket=options.get("unix_socket"),
        )

    @property
    def shown(self) -> str:
        return self.unix_socket or f"{self.host}:{self.port}"

    async def connect(self, *, autocommit: bool, writable: bool) -> tuple[Any, Flavour]:
        """A connection as we want it, within BORROW_SECONDS; ReadOnly where it must be writable and is not."""
        async with asyncio.timeout(BORROW_SECONDS):
            connection = await asyncmy.connect(
                host=self.host,
                port=self.port,
                user=self.user,
                password=self.password,
                database=self.database,
                unix_socket=self.unix_socket,
                charset="utf8mb4",
                autocommit=autocommit,
                client_flag=FOUND_ROWS,
                cursor_cls=DictCursor,
                connect_timeout=BORROW_SECONDS,
            )
            try:
                return connection, await _furnished(connection, writable=writable)
            except BaseException:
                connection.close()
                raise


async def _furnished(connection: Any, *, writable: bool) -> Flavour:
    cursor = connection.cursor()
    await cursor.execute(WHO)
    found = await cursor.fetchone()
    if writable and not takes_writes(found["read_only"]):
        raise ReadOnly
    flavour = flavour_of(found["version"])
    for statement in (*COMMON, flavour.session, NAMES):
        await cursor.execute(statement)
    return flavour


class Pool:
    """At most `size` connections; the one that came back last is lent first."""

    def __init__(self, connect: Callable[[], Awaitable[Any]], size: int) -> None:
        self._connect = connect
        self._free = asyncio.Semaphore(size)
        self._idle: list[tuple[Any, float]] = []
        self._lent: set[Any] = set()

    async def acquire(self) -> Any:
        async with asyncio.timeout(BORROW_SECONDS):
            await self._free.acquire()
        try:
            connection = self._idle_one() or await self._connect()
        except BaseException:
            self._free.release()
            raise
        self._lent.add(connection)
        return connection

    def release(self, connection: Any) -> None:
        self._free.release()
        if connection not in self._lent:
            _drop(connection)
            return
        self._lent.discard(connection)
        if connection.connected:
            self._idle.append((connection, clock.monotonic()))

    def clear(self) -> None:
        """Forget them all, for they may be dead; one that is lent is dropped when it comes back."""
        self._lent.clear()
        while self._idle:
            _drop(self._idle.pop()[0])

    def _idle_one(self) -> Any | None:
        """One that the server has not ended for being idle."""
        while self._idle:
            connection, since = self._idle.pop()
            if connection.connected and clock.monotonic() < since + STALE_SECONDS:
                return connection
            _drop(connection)
        return None


STALE_SECONDS: Final = 20.0


def _drop(connection: Any) -> None:
    with contextlib.suppress(OSError, RuntimeError):
        connection.close()
