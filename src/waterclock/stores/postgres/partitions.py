"""Partitions of PostgreSQL: made ahead, and dropped when all in them is old; nobody waits long for either.

Both take locks that everybody else's statements meet, so both give up after a moment and are tried again. Several nodes
may try at once: an advisory lock lets one of them.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import asyncpg

from waterclock.domain.moment import Moment
from waterclock.stores.base import LogPage, Partition
from waterclock.stores.postgres import partition_tables as tables
from waterclock.stores.postgres.faults import DRIVER_ERRORS, meaning

PATIENCE_MS: Final = 100  # in which others may have to wait for us
TRIES: Final = 20
PAUSE_SECONDS: Final = 0.2
MOST_KEPT: Final = 5_000  # runs that are moved while everybody waits: some tens of milliseconds
PAGE: Final = 1_000
NOW: Final = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

# Somebody was quicker, or in the way.
_IN_THE_WAY: Final = (
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.CheckViolationError,  # a row came to the rest, for which a partition was just to be made
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedObjectError,
    asyncpg.DuplicateTableError,
)


class PostgresPartitions:
    """Implements `Partitions`, each time on a connection of its own, which waits for no answer within seconds."""

    def __init__(self, connect: Callable[[], Awaitable[Any]], offset_us: Callable[[], int]) -> None:
        self._connect = connect
        self._offset_us = offset_us

    async def make(self, *, days: int) -> None:
        async with self._connection("make partitions") as connection:
            now = await connection.fetchval(NOW) + self._offset_us()
            while tables.next_partition(await tables.partitions(connection), now, days):
                if not await _in_turn(connection, lambda: make_next(connection, now, days)):
                    return

    async def old(self, *, before: Moment) -> tuple[Sequence[Partition], Moment]:
        async with self._connection("partitions") as connection:
            present = await tables.partitions(connection)
        old = [each for each in present if each.to_at <= before]
        # The first one is wider than what is kept: while it is not old as a whole, its rows are deleted as ever.
        young = [each.from_at for each in present if each.to_at > before and each.name != tables.BEFORE]
        return old, young[0] if young else before

    async def may_go(self, partition: Partition, *, before: Moment) -> bool:
        async with self._connection("what stays") as connection:
            try:
                return len(await _staying(connection, partition, before)) <= MOST_KEPT
            except asyncpg.UndefinedTableError:  # somebody else has dropped it
                return False

    async def logs(self, partition: Partition, *, before: Moment, after: int) -> LogPage:
        async with self._connection("logs of a partition") as connection:
            try:
                rows = await connection.fetch(tables.logs(partition), before, after, PAGE)
            except asyncpg.UndefinedTableError:
                rows = []
        return LogPage(paths=[row["log_path"] for row in rows], after=rows[-1]["id"] if rows else after)

    async def drop(self, partition: Partition, *, before: Moment) -> bool:
        async with self._connection("drop a partition") as connection:
            return await _in_turn(connection, lambda: _drop(connection, partition, before))

    @asynccontextmanager
    async def _connection(self, what: str) -> AsyncIterator[Any]:
        try:
            connection = await self._connect()
        except DRIVER_ERRORS as problem:
            raise meaning(problem, what) from problem
        try:
            await connection.execute("SET statement_timeout = 0")  # a look at millions of rows hinders nobody
            yield connection
        except DRIVER_ERRORS as problem:
            raise meaning(problem, what) from problem
        finally:
            connection.terminate()


async def make_next(connection: Any, now: Moment, days: int) -> bool:
    """In the caller's transaction. What is already in the rest stays there: the next one begins on the day after."""
    wanted = tables.next_partition(await tables.partitions(connection), now, days)
    if wanted is None:
        return False
    while (newest := await connection.fetchval(tables.newest_in_rest(wanted))) is not None:
        wanted = tables.partition_from(tables.begin_of_day(newest) + tables.DAY, days)
    for statement in tables.making(wanted):
        await connection.execute(statement)
    return True


async def _drop(connection: Any, partition: Partition, before: Moment) -> bool:
    held = ", ".join(f"ONLY {table}" for table in tables.KEYS)
    await connection.execute(f"LOCK TABLE {held} IN ACCESS EXCLUSIVE MODE")
    if partition not in await tables.partitions(connection):
        return False
    staying = await _staying(connection, partition, before)
    if len(staying) > MOST_KEPT:
        return False
    for statement in tables.detaching(partition):
        await connection.execute(statement)
    if staying:
        for statement in tables.keeping(partition):
            await connection.execute(statement, staying)
    await connection.execute(tables.dropping(partition))
    return True


async def _staying(connection: Any, partition: Partition, before: Moment) -> Sequence[int]:
    return [row["id"] for row in await connection.fetch(tables.staying(partition), before, MOST_KEPT + 1)]


async def _in_turn(connection: Any, work: Callable[[], Awaitable[bool]]) -> bool:
    """One transaction, tried again while somebody is in the way; False: nothing was done."""
    for _ in range(TRIES):
        try:
            async with connection.transaction():
                await connection.execute(f"SET LOCAL lock_timeout = '{PATIENCE_MS}ms'")
                if await connection.fetchval(f"SELECT pg_try_advisory_xact_lock({tables.LOCK})"):
                    return await work()
        except _IN_THE_WAY:
            pass
        await asyncio.sleep(PAUSE_SECONDS * random.uniform(0.5, 1.5))
    return False
