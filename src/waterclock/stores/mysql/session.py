"""One connection of MySQL in one transaction."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from waterclock import clock
from waterclock.domain.moment import Moment
from waterclock.stores.base import Kind, Row, Topic, Values, dated
from waterclock.stores.mysql.compiling import Bound, batched, bound
from waterclock.stores.mysql.connecting import Pool
from waterclock.stores.mysql.faults import DRIVER_ERRORS, meaning
from waterclock.stores.numbers import Numbers
from waterclock.stores.server import ANSWER_SECONDS

NOW: Final = Bound("SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) AS now", ())
MOST_ROWS: Final = 2_000  # in one statement, so that it stays far below max_allowed_packet


class MysqlSession:
    """Implements `Session` and `Tx`. The connection does not autocommit: the first statement begins."""

    def __init__(
        self,
        pool: Pool,
        connection: Any,
        *,
        collation: str,
        numbers: Numbers,
        ring: Callable[[set[Topic]], None],
        offset_us: int,
        asked_at: float,
    ) -> None:
        self._pool = pool
        self._connection = connection
        self._collation = collation
        self._numbers = numbers
        self._ring = ring
        self._offset_us = offset_us
        self._patience = ANSWER_SECONDS - (clock.monotonic() - asked_at)
        self._topics: set[Topic] = set()

    # Session

    async def begin(self, *, read_only: bool, by_key: bool = False) -> "MysqlSession":
        if read_only:  # for the next transaction alone
            await self._execute("begin", Bound("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", ()))
        return self

    async def commit(self) -> set[Topic]:
        await self._execute("commit", Bound("COMMIT", ()))
        if self._topics:
            self._ring(self._topics)
        return self._topics

    async def roll_back(self) -> None:
        try:
            async with asyncio.timeout(1):
                await self._connection.rollback()
        except DRIVER_ERRORS:
            self.drop()

    def drop(self) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            self._connection.close()

    async def give_back(self) -> None:
        self._pool.release(self._connection)

    # Tx

    async def now(self) -> Moment:
        rows, _ = await self._execute("now", NOW)
        return cast(int, rows[0]["now"]) + self._offset_us

    async def fetch(self, name: str, values: Values | None = None) -> Sequence[Row]:
        rows, _ = await self._execute(name, bound(name, values or {}), values)
        return rows

    async def fetch_at(self, name: str, values: Values) -> tuple[Moment, Sequence[Row]]:
        found = await self.fetch(name, values)
        return await self.now(), found

    async def fetch_one(self, name: str, values: Values | None = None) -> Row | None:
        rows, _ = await self._execute(name, bound(name, values or {}), values)
        return rows[0] if rows else None

    async def run(self, name: str, values: Values | None = None) -> int:
        _, count = await self._execute(name, bound(name, values or {}), values)
        return count

    async def run_many(self, name: str, rows: Sequence[Values]) -> int:
        if len(rows) == 1:
            return await self.run(name, rows[0])
        touched = 0
        for first in range(0, len(rows), MOST_ROWS):
            some = rows[first : first + MOST_ROWS]
            touched += (await self._execute(name, batched(name, some, self._collation), some[0]))[1]
        return touched

    async def run_together(self, batches: Mapping[str, Sequence[Values]]) -> None:
        for name, rows in batches.items():
            if rows:
                await self.run_many(name, rows)

    async def stamped(self, name: str, rows: Sequence[Values]) -> Moment:
        now = await self.now()
        await self.run_many(name, [{**values, "now": now} for values in rows])
        return now

    async def insert_free(self, name: str, values: Values, then: Mapping[str, Values]) -> bool:
        now = await self.now()
        if not await self.run(name, dated(values, now)):
            return False
        for each, row in then.items():
            await self.run(each, dated(row, now))
        return True

    async def numbers(self, kind: Kind, count: int) -> Iterable[int]:
        return await self._numbers.take(kind, count)

    def wake(self, topic: Topic) -> None:
        self._topics.add(topic)

    async def _execute(self, name: str, statement: Bound, values: Values | None = None) -> tuple[Sequence[Row], int]:
        try:
            # Not `with` a cursor: its exit would ask a dead connection for more, and hide a cancellation.
            cursor = self._connection.cursor()
            async with asyncio.timeout(self._patience):
                await cursor.execute(statement.sql, statement.values or None)
                return cast(Sequence[Row], await cursor.fetchall()), cursor.rowcount
        except DRIVER_ERRORS as problem:
            raise meaning(problem, name, values) from problem
