"""A MySQL or MariaDB server, or several behind one setting, as a `Database`."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from waterclock import clock
from waterclock.domain.errors import Unavailable
from waterclock.stores.base import Kind, Row, Topic
from waterclock.stores.mysql import migrating
from waterclock.stores.mysql.bell import Bell, Counts
from waterclock.stores.mysql.connecting import MARIADB, Flavour, Pool, takes_writes
from waterclock.stores.mysql.faults import DRIVER_ERRORS, meaning
from waterclock.stores.mysql.places import MysqlPlaces
from waterclock.stores.mysql.session import MysqlSession
from waterclock.stores.numbers import Numbers
from waterclock.stores.server import BORROW_SECONDS, ConnectionLost, ServerDatabase, words

CONNECTIONS: Final = 10
DRAW: Final = "UPDATE counters SET value = LAST_INSERT_ID(value + %s) WHERE kind = %s"
COUNTS: Final = "SELECT kind, value, @@global.read_only AS read_only FROM counters"
COUNT_UP: Final = "INSERT INTO counters (kind, value) VALUES (%s, 1) ON DUPLICATE KEY UPDATE value = value + 1"
_WAKE: Final = "wake:"


class MysqlDatabase(ServerDatabase):
    """Implements `Database`. One pool for operations; a connection beside it, which autocommits, for the rest."""

    def __init__(self, url: str, *, connections: int = CONNECTIONS) -> None:
        super().__init__("MySQL")
        self._places = MysqlPlaces(url, self._move)
        self._flavour: Flavour = MARIADB
        self._pool = Pool(self._new_connection, connections)
        self._beside = Pool(self._new_connection_beside, 2)
        self._numbers = Numbers(self._draw)
        self._bell = Bell(self._count_up, self._counts, self._listeners)
        self._open = False

    async def open(self) -> None:
        """Tells whether it answers, and what it is."""
        self._open = True
        session = await self._borrow()
        await session.give_back()
        await self._bell.open()

    async def close(self) -> None:
        await self._bell.close()
        self._open = False
        self._pool.clear()
        self._beside.clear()

    async def migrate(self) -> Sequence[str]:
        try:
            connection, flavour = await self._places.connect(autocommit=True)
        except DRIVER_ERRORS as problem:
            raise _unreachable(problem) from problem
        try:
            return await migrating.migrate(connection, self._places.database, flavour)
        finally:
            connection.close()

    async def _borrow(self) -> MysqlSession:
        asked_at = clock.monotonic()
        connection = await self._lent(self._pool)
        return MysqlSession(
            self._pool,
            connection,
            collation=self._flavour.collation,
            numbers=self._numbers,
            ring=self._bell.ring,
            offset_us=self.offset_us,
            asked_at=asked_at,
        )

    async def _suspect(self) -> None:
        self._pool.clear()
        self._beside.clear()

    async def _move(self) -> None:
        """To another server: it may not know of numbers that were drawn elsewhere."""
        self._numbers.forget()
        await self._suspect()

    async def _lent(self, pool: Pool) -> Any:
        if not self._open:
            raise Unavailable("the MySQL store is closed")
        try:
            return await pool.acquire()
        except DRIVER_ERRORS as problem:
            raise _unreachable(problem) from problem

    async def _new_connection(self) -> Any:
        connection, self._flavour = await self._places.connect(autocommit=False)
        return connection

    async def _new_connection_beside(self) -> Any:
        connection, self._flavour = await self._places.connect(autocommit=True)
        return connection

    # On a connection beside

    async def _draw(self, kind: Kind, count: int) -> int:
        _, last = await self._alone("numbers", DRAW, (count, kind))
        return last

    async def _count_up(self, topics: set[Topic]) -> None:
        for topic in sorted(topics):
            await self._alone("wake", COUNT_UP, (f"{_WAKE}{topic}",))

    async def _counts(self) -> Counts:
        """They are asked for so often that they tell, too, whether this server is still the one that takes writes."""
        rows, _ = await self._alone("wake", COUNTS, None)
        if self._places.several and not all(takes_writes(row["read_only"]) for row in rows):
            await self._suspect()  # whoever only reads would never notice, nor would a user who may write nevertheless
            raise ConnectionLost("the server has turned read-only")
        return {row["kind"].removeprefix(_WAKE): row["value"] for row in rows if row["kind"].startswith(_WAKE)}

    async def _alone(self, name: str, sql: str, values: tuple[object, ...] | None) -> tuple[Sequence[Row], int]:
        """One statement, committed at once: its rows, and LAST_INSERT_ID."""
        connection = await self._lent(self._beside)
        try:
            cursor = connection.cursor()
            async with asyncio.timeout(BORROW_SECONDS):
                await cursor.execute(sql, values)
                return await cursor.fetchall(), cursor.lastrowid
        except DRIVER_ERRORS as problem:
            connection.close()
            raise meaning(problem, name) from problem
        except BaseException:
            connection.close()
            raise
        finally:
            self._beside.release(connection)


def _unreachable(problem: BaseException) -> Unavailable:
    return Unavailable(f"cannot connect to MySQL: {words(problem)}")
