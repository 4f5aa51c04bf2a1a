"""The writer: a thread that takes whatever has queued up, and makes it durable with one commit."""

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from waterclock.domain.errors import Unavailable, WaterclockError
from waterclock.stores.base import Topic
from waterclock.stores.sqlite.connecting import begin, connect, roll_back
from waterclock.stores.sqlite.session import SqliteTx, drive

GROUP: Final = 256  # operations in one commit at most


@dataclass(slots=True)
class Work:
    """An operation, and whoever waits for it."""

    operation: Callable[[SqliteTx], Awaitable[Any]]
    loop: asyncio.AbstractEventLoop
    result: object = None
    problem: BaseException | None = None
    done: asyncio.Future[object] = field(init=False)

    def __post_init__(self) -> None:
        self.done = self.loop.create_future()


class Writer:
    """Started once; `offset_us` is asked for at each commit, `wake` is told what the commit was about."""

    def __init__(self, path: str, offset_us: Callable[[], int], wake: Callable[[set[Topic]], None]) -> None:
        self._path = path
        self._offset_us = offset_us
        self._wake = wake
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def start(self) -> None:
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._thread = threading.Thread(target=self._write_all, args=(opened,), name="sqlite-write", daemon=True)
        self._thread.start()
        await opened

    async def stop(self) -> None:
        """After what has queued up."""
        if self._thread:
            self._work.put(None)
            await asyncio.to_thread(self._thread.join)

    async def write(self, operation: Callable[[SqliteTx], Awaitable[Any]]) -> object:
        if self._thread is None or not self._thread.is_alive():
            raise Unavailable("the SQLite store is closed")
        work = Work(operation=operation, loop=asyncio.get_running_loop())
        self._work.put(work)
        return await work.done

    def _write_all(self, opened: asyncio.Future[None]) -> None:
        loop = opened.get_loop()
        try:
            connection = connect(self._path)
        except sqlite3.Error as problem:
            loop.call_soon_threadsafe(opened.set_exception, Unavailable(f"cannot open {self._path}: {problem}"))
            return
        loop.call_soon_threadsafe(opened.set_result, None)
        with contextlib.closing(connection):
            while (first := self._work.get()) is not None:
                group, more = self._gather(first)
                self._commit(connection, group)
                if not more:
                    return

    def _gather(self, first: Work) -> tuple[list[Work], bool]:
        """Whatever has queued up behind the first, so that one commit serves all."""
        group = [first]
        with contextlib.suppress(queue.Empty):
            while len(group) < GROUP:
                work = self._work.get_nowait()
                if work is None:
                    return group, False
                group.append(work)
        return group, True

    def _commit(self, connection: sqlite3.Connection, group: list[Work]) -> None:
        topics: set[Topic] = set()
        try:
            begin(connection)
            for work in group:
                topics |= _attempt(connection, work, self._offset_us())
            connection.execute("COMMIT")
        except sqlite3.Error as problem:
            roll_back(connection)
            for work in group:
                work.result, work.problem = None, Unavailable(f"SQLite: {problem}")
            topics = set()
        with contextlib.suppress(OSError):  # a wake-up is a hint
            self._wake(topics)
        _answer(group)


def _attempt(connection: sqlite3.Connection, work: Work, offset_us: int) -> set[Topic]:
    """One operation inside its own savepoint: a refused one leaves nothing and harms no neighbour."""
    tx = SqliteTx(connection, offset_us)
    connection.execute("SAVEPOINT work")
    try:
        work.result = drive(work.operation(tx))
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


def _answer(group: list[Work]) -> None:
    for loop in {work.loop for work in group}:
        mine = [work for work in group if work.loop is loop]
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, mine)


def _settle(group: list[Work]) -> None:
    for work in group:
        if work.done.done():
            continue
        if work.problem is None:
            work.done.set_result(work.result)
        else:
            work.done.set_exception(work.problem)
