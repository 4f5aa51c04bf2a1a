"""One connection of PostgreSQL in one transaction."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from waterclock import clock
from waterclock.domain.moment import Moment
from waterclock.stores.alike import Alike
from waterclock.stores.base import NOW, Kind, Row, Topic, Values
from waterclock.stores.numbers import Numbers
from waterclock.stores.postgres.compiling import (
    CLOCK,
    OFFSET,
    TIME,
    Compiled,
    Part,
    batched,
    compiled,
    free_insert,
    is_insert,
    stamped,
    timed,
    together,
    together_if,
    varying_names,
)
from waterclock.stores.postgres.faults import DRIVER_ERRORS, meaning
from waterclock.stores.postgres.planning import KEPT_PLANS, KEPT_SECONDS
from waterclock.stores.postgres.pool import drop
from waterclock.stores.server import ANSWER_SECONDS

T = TypeVar("T")

CHANNEL: Final = "waterclock"
READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
WRITE_BY_KEY: Final = "; ".join((WRITE, *(f"SET LOCAL {name} = {value}" for name, value in KEPT_PLANS.items())))
CLOCK_NOW: Final = Compiled(f"SELECT {CLOCK} AS now", ())

# The types of a statement's parameters are the schema's: the same on every connection.
_types: dict[str, tuple[str, ...]] = {}


class PostgresSession:
    """Implements `Session` and `Tx`."""

    def __init__(
        self,
        connection: Any,
        give_back: Callable[[Any], None],
        *,
        sender: str,
        numbers: Numbers,
        offset_us: int,
        asked_at: float,
    ) -> None:
        self._connection = connection
        self._give_back = give_back
        self._sender = sender
        self._numbers = numbers
        self.offset_us = offset_us
        self._patience = ANSWER_SECONDS - (clock.monotonic() - asked_at)
        self._topics: set[Topic] = set()

    # Session

    async def replan(self) -> None:
        """Before statements whose plans are kept: those of a while ago are forgotten."""
        now = clock.monotonic()
        if now - self._connection.planned_at > KEPT_SECONDS:
            self._connection.planned_at = now
            await self._execute("DISCARD PLANS")

    async def begin(self, *, read_only: bool, by_key: bool = False) -> "PostgresSession":
        if by_key:
            await self.replan()
        await self._execute(READ if read_only else WRITE_BY_KEY if by_key else WRITE)
        return self

    async def commit(self) -> set[Topic]:
        """The wake-up travels with the commit: whoever hears it sees what was written."""
        notify = f"NOTIFY {CHANNEL}, '{self.message()}'; " if self._topics else ""
        await self._execute(f"{notify}COMMIT")
        return self._topics

    @property
    def topics(self) -> set[Topic]:
        return self._topics

    def message(self) -> str:
        """What is told to other processes."""
        return f"{self._sender}:{','.join(sorted(self._topics))}"

    async def roll_back(self) -> None:
        try:
            await self._connection.execute("ROLLBACK", timeout=1)
        except DRIVER_ERRORS:
            self.drop()

    def drop(self) -> None:
        drop(self._connection)

    async def give_back(self) -> None:
        self._give_back(self._connection)

    # Tx

    async def now(self) -> Moment:
        return cast(int, (await self._rows("now", CLOCK_NOW, None))[0]["now"]) + self.offset_us

    async def fetch(self, name: str, values: Values | None = None) -> Sequence[Row]:
        return await self._rows(name, compiled(name), values)

    async def fetch_one(self, name: str, values: Values | None = None) -> Row | None:
        rows = await self._rows(name, compiled(name), values)
        return rows[0] if rows else None

    async def fetch_at(self, name: str, values: Values) -> tuple[Moment, Sequence[Row]]:
        rows = await self._rows(name, timed(name), values)
        return (rows[0][TIME] + self.offset_us if rows else await self.now()), rows

    async def run(self, name: str, values: Values | None = None) -> int:
        statement = compiled(name)
        given = [(values or {})[each] for each in statement.names]
        try:
            return _count(await self._connection.execute(statement.sql, *given, timeout=self._patience))
        except DRIVER_ERRORS as problem:
            raise meaning(problem, name, values) from problem

    async def run_many(self, name: str, rows: Sequence[Values]) -> int:
        if not rows:
            return 0
        try:
            statement, given = await self._batch(name, rows)
            return _count(await self._connection.execute(statement.sql, *given, timeout=self._patience))
        except DRIVER_ERRORS as problem:
            raise meaning(problem, name, rows[0]) from problem

    async def run_together(self, batches: Mapping[str, Sequence[Values]]) -> None:
        wanted = {name: rows for name, rows in batches.items() if rows}
        if not wanted:
            return
        try:
            parts = [await self._batch(name, rows) for name, rows in wanted.items()]
            sql = together(tuple(statement for statement, _ in parts))
            await self._connection.execute(
                sql, *(value for _, given in parts for value in given), timeout=self._patience
            )
        except DRIVER_ERRORS as problem:
            raise meaning(problem, " and ".join(wanted)) from problem

    async def stamped(self, name: str, rows: Sequence[Values]) -> Moment:
        """One trip: the statement itself looks at the clock, and says when it was."""
        if len(rows) == 1:
            found = await self._rows(name, stamped(name), {**rows[0], OFFSET: self.offset_us})
            return cast(int, found[0]["now"])
        dated = [{**values, "now": NOW} for values in rows]
        return cast(int, (await self.run_if("at_this_moment", {"offset_us": self.offset_us}, {name: dated}))["now"])

    async def insert_free(self, name: str, values: Values, then: Mapping[str, Values]) -> bool:
        """Who is to be woken hears of it with the statement itself, which may be all there is of a transaction."""
        rows = {name: values, **then}
        parts = [
            Part(each, await self._types(each), tuple(n for n in compiled(each).names if row[n] is not NOW))
            for each, row in rows.items()
        ]
        statement = free_insert(parts[0], tuple(parts[1:]))
        given = [rows[part.name][each] for part in parts for each in part.given]
        message = self.message() if self._topics else ""
        try:
            found = await self._connection.fetch(
                statement.sql, *given, self.offset_us, CHANNEL, message, timeout=self._patience
            )
        except DRIVER_ERRORS as problem:
            raise meaning(problem, name, values) from problem
        return bool(found)

    async def run_if(self, name: str, values: Values, batches: Mapping[str, Sequence[Values]]) -> Row:
        """What that statement finds; as `run_together` where its table `fit` says yes. A transaction of its own.

        NOW among the values that all rows share is the moment that `fit` tells.
        """
        head, wanted = compiled(name), {each: rows for each, rows in batches.items() if rows}
        try:
            parts = [await self._batch(each, rows, many=True) for each, rows in wanted.items()]
            sql = together_if(head, tuple(statement for statement, _ in parts))
            given = [values[each] for each in head.names] + [value for _, row in parts for value in row]
            return cast(Row, await self._connection.fetchrow(sql, *given, timeout=self._patience))
        except DRIVER_ERRORS as problem:
            raise meaning(problem, name) from problem

    async def numbers(self, kind: Kind, count: int) -> Iterable[int]:
        return await self._numbers.take(kind, count)

    def wake(self, topic: Topic) -> None:
        self._topics.add(topic)

    async def _rows(self, name: str, statement: Compiled, values: Values | None) -> Sequence[Row]:
        given = [(values or {})[each] for each in statement.names]
        try:
            return cast(Sequence[Row], await self._connection.fetch(statement.sql, *given, timeout=self._patience))
        except DRIVER_ERRORS as problem:
            raise meaning(problem, name, values) from problem

    async def _execute(self, sql: str) -> None:
        try:
            await self._connection.execute(sql, timeout=self._patience)
        except DRIVER_ERRORS as problem:
            raise meaning(problem, sql) from problem

    async def _batch(self, name: str, rows: Sequence[Values], *, many: bool = False) -> tuple[Compiled, list[object]]:
        """`many`: an insert is written as if there were more of them, for a condition can follow it then."""
        if len(rows) == 1 and not (many and is_insert(name)):
            statement = compiled(name)
            return statement, [rows[0][each] for each in statement.names]
        columns, shared = _columns(compiled(name).names, rows)
        varying = varying_names(name, columns)
        clocked = frozenset(each for each, value in shared.items() if value is NOW)
        statement = batched(name, await self._types(name), varying, clocked)
        return statement, [columns[each] if each in varying else shared[each] for each in statement.names]

    async def _types(self, name: str) -> tuple[str, ...]:
        if name not in _types:
            prepared = await self._connection.prepare(compiled(name).sql, timeout=self._patience)
            _types[name] = tuple(parameter.name for parameter in prepared.get_parameters())
        return _types[name]


def _columns(names: Sequence[str], rows: Sequence[Values]) -> tuple[Mapping[str, Sequence[object]], Values]:
    """What may vary, and what does not: of the rest, any row's."""
    if isinstance(rows, Alike):
        return rows.columns(), rows[0]
    return {each: [row[each] for row in rows] for each in names}, rows[0]


def _count(status: str) -> int:
    """`INSERT 0 8` touched eight rows."""
    return int(status.rpartition(" ")[2])
