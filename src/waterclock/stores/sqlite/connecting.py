"""Connections to the file, and the write lock that only one process has at a time."""

import contextlib
import sqlite3
import time
from typing import Final

from waterclock import clock

PATIENCE_SECONDS: Final = 4.0  # how long to wait for another process that writes: callers are answered within five

_PRAGMAS: Final = (
    *("journal_mode=WAL", "synchronous=FULL", "temp_store=MEMORY"),
    *("cache_size=-65536", "mmap_size=268435456"),
)


def connect(path: str, *, patience_seconds: float = PATIENCE_SECONDS) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=PATIENCE_SECONDS)
    connection.row_factory = sqlite3.Row
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    patience = 0 if path == ":memory:" else round(patience_seconds * 1000)
    connection.execute(f"PRAGMA busy_timeout={patience}")
    return connection


def connect_reader(path: str, *, patience_seconds: float = PATIENCE_SECONDS) -> sqlite3.Connection:
    connection = connect(path, patience_seconds=patience_seconds)
    connection.execute("PRAGMA query_only=ON")
    return connection


def begin(connection: sqlite3.Connection) -> None:
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


def roll_back(connection: sqlite3.Connection) -> None:
    with contextlib.suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
