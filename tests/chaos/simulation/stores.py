"""The store of the simulation: the real statements on a real database, on the simulation's clock."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, ParamSpec, Protocol, TypeVar

import asyncpg

from tests.chaos.simulation.party import Party
from tests.chaos.simulation.timeline import SimulatedLoop, Timeline
from tests.stores.raw import TABLES, rows
from waterclock.domain.moment import Moment
from waterclock.stores.base import Database, Kind, Operation, Row, Topic, Tx, Values, dated
from waterclock.stores.sqlite.migrating import migrate
from waterclock.stores.sqlite.session import SqliteTx, drive

T = TypeVar("T")
P = ParamSpec("P")
Rows = Sequence[Mapping[str, Any]]


class Store(Protocol):
    async def do(self, work: Callable[[Tx], Awaitable[T]]) -> T:
        """In one transaction, whole or not at all."""
        ...

    async def peek(self, sql: str) -> Rows: ...

    async def close(self) -> None: ...


class TimedTx:
    """A transaction whose clock is the timeline."""

    def __init__(self, tx: Tx, timeline: Timeline) -> None:
        self._tx = tx
        self._timeline = timeline

    async def now(self) -> Moment:
        return self._timeline.now

    async def fetch(self, name: str, values: Values | None = None) -> Sequence[Row]:
        return await self._tx.fetch(name, values)

    async def fetch_one(self, name: str, values: Values | None = None) -> Row | None:
        return await self._tx.fetch_one(name, values)

    async def fetch_at(self, name: str, values: Values) -> tuple[Moment, Sequence[Row]]:
        return self._timeline.now, await self._tx.fetch(name, values)

    async def run(self, name: str, values: Values | None = None) -> int:
        return await self._tx.run(name, values)

    async def run_many(self, name: str, rows: Sequence[Values]) -> int:
        return await self._tx.run_many(name, rows)

    async def run_together(self, batches: Mapping[str, Sequence[Values]]) -> None:
        await self._tx.run_together(batches)

    async def stamped(self, name: str, rows: Sequence[Values]) -> Moment:
        """As a database does that is asked for the time."""
        await self._tx.run_many(name, [{**values, "now": self._timeline.now} for values in rows])
        return self._timeline.now

    async def insert_free(self, name: str, values: Values, then: Mapping[str, Values]) -> bool:
        now = self._timeline.now
        dates = {each: dated(row, now) for each, row in then.items()}
        return await self._tx.insert_free(name, dated(values, now), dates)

    async def numbers(self, kind: Kind, count: int) -> Iterable[int]:
        return await self._tx.numbers(kind, count)

    def wake(self, topic: Topic) -> None: ...


class SqliteStore:
    """In memory, in the calling thread: the same moves come in the same order every time."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._connection.deserialize(_migrated())

    async def do(self, work: Callable[[Tx], Awaitable[T]]) -> T:
        self._connection.execute("BEGIN")
        try:
            done = drive(work(TimedTx(SqliteTx(self._connection, 0), self._timeline)))
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return done

    async def peek(self, sql: str) -> Rows:
        return [dict(row) for row in self._connection.execute(sql)]

    async def close(self) -> None:
        self._connection.close()


class PostgresStore:
    """On a server; operations are let in one by one, so that only the simulation decides about their order."""

    def __init__(self, database: Database, url: str, timeline: Timeline, loop: SimulatedLoop) -> None:
        self._database = database
        self._url = url
        self._timeline = timeline
        self._loop = loop
        self._one = asyncio.Lock()
        self._eye: Any = None  # a connection beside the database's own

    async def open(self) -> None:
        await rows(self._url, *(f"DELETE FROM {table}" for table in TABLES), "UPDATE counters SET value = 0")
        await self._database.open()
        self._eye = await asyncpg.connect(self._url)

    async def do(self, work: Callable[[Tx], Awaitable[T]]) -> T:
        self._loop.in_flight += 1
        try:
            async with self._one:
                return await self._database.write(lambda tx: work(TimedTx(tx, self._timeline)))
        finally:
            self._loop.in_flight -= 1

    async def peek(self, sql: str) -> Rows:
        return [dict(row) for row in await self._eye.fetch(sql)]

    async def close(self) -> None:
        self._eye.terminate()
        await self._database.close()


class Reached:
    """Implements `Database`: the store as one party reaches it, with a failpoint at every call."""

    offset_us = 0
    partitions = None

    def __init__(self, store: Store, party: Party) -> None:
        self._store = store
        self._party = party

    def apart(self) -> None:
        return None

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def migrate(self) -> Sequence[str]:
        return ()

    async def write(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._party.through(lambda: self._store.do(lambda tx: operation(tx, *args, **kwargs)))

    async def read(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write(operation, *args, **kwargs)

    async def send(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write(operation, *args, **kwargs)

    async def look_up(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write(operation, *args, **kwargs)

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]:
        """Nobody is woken: the simulation says whose turn it is."""
        return lambda: None


@cache
def _migrated() -> bytes:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = sqlite3.Row
    drive(migrate(SqliteTx(connection, 0)))
    return connection.serialize()
