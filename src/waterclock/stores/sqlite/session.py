"""A transaction on SQLite: named statements, run at once in the thread that has the connection."""

import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, Final, TypeVar, cast

import orjson

from waterclock import clock
from waterclock.domain.moment import Moment
from waterclock.stores.base import Kind, Row, StatementFailed, Topic, Values, dated
from waterclock.stores.dialect import (
    IN_LIST,
    MOST_KEPT,
    PARAMETER,
    SQLITE,
    list_parameters,
    parameters,
    statement,
    worded,
)
from waterclock.stores.duplicates import duplicate

T = TypeVar("T")

_DUPLICATE: Final = frozenset({sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY})


class SqliteTx:
    """Implements `Tx`; every call returns at once, the awaits are only for show."""

    def __init__(self, connection: sqlite3.Connection, offset_us: int) -> None:
        self._connection = connection
        self._offset_us = offset_us
        self.topics: set[Topic] = set()

    async def now(self) -> Moment:
        return clock.wall_us() + self._offset_us

    async def fetch(self, name: str, values: Values | None = None) -> Sequence[Row]:
        sql, lists = _compiled(name)
        return cast(Sequence[Row], self._connection.execute(sql, _bound(values, lists)).fetchall())

    async def fetch_one(self, name: str, values: Values | None = None) -> Row | None:
        sql, lists = _compiled(name)
        return cast(Row | None, self._connection.execute(sql, _bound(values, lists)).fetchone())

    async def fetch_at(self, name: str, values: Values) -> tuple[Moment, Sequence[Row]]:
        return await self.now(), await self.fetch(name, values)

    async def run(self, name: str, values: Values | None = None) -> int:
        sql, lists = _compiled(name)
        try:
            return self._connection.execute(sql, _bound(values, lists)).rowcount
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError) as problem:
            raise _meaning(problem, name, values) from problem

    async def run_many(self, name: str, rows: Sequence[Values]) -> int:
        if len(rows) == 1:  # also one that is given a list
            return await self.run(name, rows[0])
        sql, in_order = _positional(name)
        try:
            return self._connection.executemany(sql, map(in_order, rows)).rowcount
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError) as problem:
            raise _meaning(problem, name, rows[0]) from problem

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
        row = self._connection.execute(
            "UPDATE counters SET value = value + ? WHERE kind = ? RETURNING value", (count, kind)
        ).fetchone()
        return range(row[0] - count + 1, row[0] + 1)

    def wake(self, topic: Topic) -> None:
        self.topics.add(topic)

    def execute(self, sql: str) -> sqlite3.Cursor:
        """For migrations and views alone: text that is ours, with nothing to bind."""
        return self._connection.execute(sql)


def drive(operation: Awaitable[T]) -> T:
    """Run an operation that awaits nothing but its transaction: it never really waits."""
    try:
        cast(Coroutine[Any, Any, T], operation).send(None)
    except StopIteration as done:
        return cast(T, done.value)
    raise RuntimeError("an operation awaited something other than its transaction")


def _meaning(problem: sqlite3.Error, name: str, values: Values | None) -> Exception:
    if getattr(problem, "sqlite_errorcode", 0) in _DUPLICATE:
        return duplicate(name, values)
    return StatementFailed(name, problem)


@lru_cache(maxsize=MOST_KEPT)
def _compiled(name: str) -> tuple[str, frozenset[str]]:
    sql = worded(SQLITE, statement(SQLITE.name, name))
    lists = list_parameters(sql)
    sql = IN_LIST.sub(r"IN (SELECT value FROM json_each(:\1))", sql)
    return sql, lists


@cache
def _positional(name: str) -> tuple[str, Callable[[Values], tuple[object, ...]]]:
    """For many rows: a value found by its place is bound in half the time of one found by its name."""
    sql = worded(SQLITE, statement(SQLITE.name, name))
    return PARAMETER.sub("?", sql), itemgetter(*parameters(sql))


def _bound(values: Values | None, lists: frozenset[str]) -> dict[str, Any]:
    bound = dict(values or {})
    for name in lists:
        bound[name] = orjson.dumps(bound[name]).decode()
    return bound
