"""The database: operations go to the writer, or to readers that see what is committed."""

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, ParamSpec, TypeVar, cast

from waterclock.domain.errors import Unavailable
from waterclock.stores.base import Database, Operation, Partitions, Topic
from waterclock.stores.sqlite.connecting import connect_reader, roll_back
from waterclock.stores.sqlite.migrating import migrate
from waterclock.stores.sqlite.session import SqliteTx, drive
from waterclock.stores.sqlite.writer import Writer
from waterclock.stores.wakeups import LocalWakeups

T = TypeVar("T")
P = ParamSpec("P")

READERS: Final = 2
MEMORY: Final = ":memory:"


class SqliteDatabase:
    """Implements `Database` on one file; several processes of one host may share it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset_us = 0
        self._wakeups = LocalWakeups(None if path == MEMORY else Path(f"{path}-wake"))
        self._writer = Writer(path, lambda: self.offset_us, self._wakeups.send)
        self._readers: ThreadPoolExecutor | None = None
        self._reading = threading.local()
        self._at_hand: sqlite3.Connection | None = None

    @property
    def partitions(self) -> Partitions | None:
        return None

    def apart(self) -> Database | None:
        return None

    async def open(self) -> None:
        if self.path != MEMORY:
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="sqlite-read")
        await self._writer.start()
        self._wakeups.open()

    async def close(self) -> None:
        await self._writer.stop()
        if self._readers:
            await asyncio.to_thread(self._readers.shutdown)
        if self._at_hand:
            self._at_hand.close()
        self._wakeups.close()

    async def migrate(self) -> Sequence[str]:
        return cast(Sequence[str], await self._writer.write(migrate))

    async def write(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return cast(T, await self._writer.write(lambda tx: operation(tx, *args, **kwargs)))

    async def send(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write(operation, *args, **kwargs)

    async def read(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._readers is None:
            return await self.write(operation, *args, **kwargs)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, lambda tx: operation(tx, *args, **kwargs))

    async def look_up(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """In the event loop: pages that are in memory cost less than to wake another thread and to be woken by it."""
        if self._readers is None:
            return await self.write(operation, *args, **kwargs)
        try:
            if self._at_hand is None:
                self._at_hand = connect_reader(self.path, patience_seconds=0.0)
            return drive(operation(SqliteTx(self._at_hand, self.offset_us), *args, **kwargs))
        except sqlite3.OperationalError:  # somebody has the whole file for a moment: that is no wait for a loop
            return await self.read(operation, *args, **kwargs)

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]:
        return self._wakeups.listen(topic, heard)

    def _read(self, operation: Callable[[SqliteTx], Awaitable[T]]) -> T:
        """In a reader's thread, which keeps its connection."""
        connection = getattr(self._reading, "connection", None)
        try:
            if connection is None:
                connection = self._reading.connection = connect_reader(self.path)
            connection.execute("BEGIN")
            return drive(operation(SqliteTx(connection, self.offset_us)))
        except sqlite3.Error as problem:
            raise Unavailable(f"SQLite: {problem}") from problem
        finally:
            if connection is not None:
                roll_back(connection)
