"""SQLite: one file, one writer thread that commits whatever has gathered in one go, and readers beside it."""

import asyncio
import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

import orjson

from waterclock import clock
from waterclock.domain.errors import Unavailable, WaterclockError
from waterclock.domain.moment import Moment
from waterclock.stores.base import Kind, Operation, Row, StatementFailed, Topic, Values
from waterclock.stores.dialect import PARAMETER, SQLITE, list_parameters, parameters, statements, worded
from waterclock.stores.duplicates import duplicate
from waterclock.stores.migrations import BOOK, migrations
from waterclock.stores.views import PRESENT, refresh_views
from waterclock.stores.wakeups import LocalWakeups

T = TypeVar("T")
P = ParamSpec("P")

GROUP: Final = 256  # operations in one commit at most
READERS: Final = 2
PATIENCE_SECONDS: Final = 4.0  # how long to wait for another process that writes: callers are answered within five

_PRAGMAS: Final = (
    *("journal_mode=WAL", "synchronous=FULL", "temp_store=MEMORY"),
    *("cache_size=-65536", "mmap_size=268435456"),
)
_DUPLICATE: Final = frozenset({sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY})


class SqliteDatabase:
    """Implements `Database` on one file; several processes of one host may share it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset_us = 0
        self._wakeups = LocalWakeups(None if path == ":memory:" else Path(path).parent / "wake")
        self._work: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        self._readers: ThreadPoolExecutor | None = None
        self._reading = threading.local()

    async def open(self) -> None:
        if self.path != ":memory:":
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="sqlite-read")
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writer = threading.Thread(target=self._write_all, args=(opened,), name="sqlite-write", daemon=True)
        self._writer.start()
        await opened
        self._wakeups.open()

    async def close(self) -> None:
        if self._writer:
            self._work.put(None)
            await asyncio.to_thread(self._writer.join)
        if self._readers:
            await asyncio.to_thread(self._readers.shutdown)
        self._wakeups.close()

    async def migrate(self) -> Sequence[str]:
        return await self.write(_migrate)

    async def write(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._writer is None or not self._writer.is_alive():
            raise Unavailable("the SQLite store is closed")
        work = _Work(operation=lambda tx: operation(tx, *args, **kwargs), loop=asyncio.get_running_loop())
        self._work.put(work)
        return cast(T, await work.done)

    async def read(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._readers is None:
            return await self.write(operation, *args, **kwargs)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, lambda tx: operation(tx, *args, **kwargs))

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]:
        return self._wakeups.listen(topic, heard)

    # In the reader threads

    def _read(self, operation: Callable[["SqliteTx"], Awaitable[T]]) -> T:
        connection = getattr(self._reading, "connection", None)
        if connection is None:
            connection = self._reading.connection = _connect(self.path)
            connection.execute("PRAGMA query_only=ON")
        connection.execute("BEGIN")
        try:
            return _drive(operation(SqliteTx(connection, self.offset_us)))
        except sqlite3.Error as problem:
            raise Unavailable(f"SQLite: {problem}") from problem
        finally:
            connection.execute("ROLLBACK")

    # In the writer thread

    def _write_all(self, opened: asyncio.Future[None]) -> None:
        loop = opened.get_loop()
        try:
            connection = _connect(self.path)
        except sqlite3.Error as problem:
            loop.call_soon_threadsafe(opened.set_exception, Unavailable(f"cannot open {self.path}: {problem}"))
            return
        loop.call_soon_threadsafe(opened.set_result, None)
        with contextlib.closing(connection):
            while (first := self._work.get()) is not None:
                group, more = self._gather(first)
                self._commit(connection, group)
                if not more:
                    return

    def _gather(self, first: "_Work") -> tuple[list["_Work"], bool]:
        """Whatever has queued up behind the first, so that one commit serves all."""
        group = [first]
        with contextlib.suppress(queue.Empty):
            while len(group) < GROUP:
                work = self._work.get_nowait()
                if work is None:
                    return group, False
                group.append(work)
        return group, True

    def _commit(self, connection: sqlite3.Connection, group: list["_Work"]) -> None:
        topics: set[Topic] = set()
        try:
            _begin(connection)
            for work in group:
                topics |= _attempt(connection, work, self.offset_us)
            connection.execute("COMMIT")
        except sqlite3.Error as problem:
            _roll_back(connection)
            for work in group:
                work.result, work.problem = None, Unavailable(f"SQLite: {problem}")
            topics = set()
        self._wakeups.send(topics)
        _answer(group)


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

    async def run(self, name: str, values: Values | None = None) -> int:
        sql, lists = _compiled(name)
        try:
            return self._connection.execute(sql, _bound(values, lists)).rowcount
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError) as problem:
            raise _meaning(problem, name, values) from problem

    async def run_many(self, name: str, rows: Sequence[Values]) -> None:
        sql, in_order = _positional(name)
        try:
            self._connection.executemany(sql, map(in_order, rows))
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError) as problem:
            raise _meaning(problem, name, rows[0]) from problem

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


@dataclass(slots=True)
class _Work:
    operation: Callable[["SqliteTx"], Awaitable[Any]]
    loop: asyncio.AbstractEventLoop
    result: object = None
    problem: BaseException | None = None
    done: asyncio.Future[object] = None  # type: ignore[assignment]  # made in the loop, below

    def __post_init__(self) -> None:
        self.done = self.loop.create_future()


def _attempt(connection: sqlite3.Connection, work: _Work, offset_us: int) -> set[Topic]:
    """One operation inside its own savepoint: a refused one leaves nothing and harms no neighbour."""
    tx = SqliteTx(connection, offset_us)
    connection.execute("SAVEPOINT work")
    try:
        work.result = _drive(work.operation(tx))
    except WaterclockError as refusal:
        work.problem = refusal
    except sqlite3.Error as problem:
        if isinstance(problem, sqlite3.OperationalError) and not connection.in_transaction:
            raise  # the whole transaction is gone (disk full, I/O): nobody's work is done
        work.problem = problem
    except BaseException as bug:
        work.problem = bug
    if work.problem is None:
        connection.execute("RELEASE work")
        return tx.topics
    connection.execute("ROLLBACK TO work")
    connection.execute("RELEASE work")
    return set()


def _answer(group: list[_Work]) -> None:
    for loop in {work.loop for work in group}:
        mine = [work for work in group if work.loop is loop]
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, mine)


def _settle(group: list[_Work]) -> None:
    for work in group:
        if work.done.done():
            continue
        if work.problem is None:
            work.done.set_result(work.result)
        else:
            work.done.set_exception(work.problem)


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=PATIENCE_SECONDS)
    connection.row_factory = sqlite3.Row
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    patience = 0 if path == ":memory:" else round(PATIENCE_SECONDS * 1000)
    connection.execute(f"PRAGMA busy_timeout={patience}")
    return connection


def _begin(connection: sqlite3.Connection) -> None:
    """Take the write lock; another process may hold it, so ask often: SQLite's own waits grow to 100 ms."""
    deadline = clock.monotonic() + PATIENCE_SECONDS
    pause = 0.0002
    connection.execute("PRAGMA busy_timeout=0")
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or clock.monotonic() > deadline:
                raise
            time.sleep(pause)
            pause = min(pause * 1.5, 0.005)
        else:
            return


def _roll_back(connection: sqlite3.Connection) -> None:
    with contextlib.suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _drive(operation: Awaitable[T]) -> T:
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


@cache
def _compiled(name: str) -> tuple[str, frozenset[str]]:
    sql = worded(SQLITE, statements(SQLITE.name)[name])
    lists = list_parameters(sql)
    for parameter in lists:
        sql = sql.replace(f"IN :{parameter}", f"IN (SELECT value FROM json_each(:{parameter}))")  # noqa: S608 - our text
    return sql, lists


@cache
def _positional(name: str) -> tuple[str, Callable[[Values], tuple[object, ...]]]:
    """For many rows: a value found by its place is bound in half the time of one found by its name."""
    sql = worded(SQLITE, statements(SQLITE.name)[name])
    return PARAMETER.sub("?", sql), itemgetter(*parameters(sql))


def _bound(values: Values | None, lists: frozenset[str]) -> dict[str, Any]:
    bound = dict(values or {})
    for name in lists:
        bound[name] = orjson.dumps(bound[name]).decode()
    return bound


async def _migrate(tx: Any) -> Sequence[str]:
    tx.execute(BOOK)
    taken = {row["version"] for row in tx.execute("SELECT version FROM schema_migrations")}
    names = []
    for step in migrations(SQLITE):
        if step.version in taken:
            continue
        for statement in step.statements:
            tx.execute(statement)
        row = f"{step.version}, '{step.name}', {len(step.statements)}"
        tx.execute(f"INSERT INTO schema_migrations VALUES ({row})")  # noqa: S608 - our text
        names.append(step.name)
    present = tx.execute(PRESENT).fetchone()
    for statement in refresh_views(SQLITE, present[0] if present and not names else None):
        tx.execute(statement)
    return names
