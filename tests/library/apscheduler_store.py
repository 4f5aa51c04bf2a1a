"""A job store of APScheduler's as it lies in a database: the installed APScheduler makes each job and its state."""

import asyncio
import pickle
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import asyncmy
import asyncpg
from apscheduler.job import Job
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

TABLE = "apscheduler_jobs"
# What SQLAlchemy makes of APScheduler's three columns.
COLUMNS = {
    "sqlite": "id VARCHAR(191) NOT NULL PRIMARY KEY, next_run_time FLOAT, job_state BLOB NOT NULL",
    "postgresql": "id VARCHAR(191) NOT NULL PRIMARY KEY, next_run_time FLOAT(25), job_state BYTEA NOT NULL",
    "mysql": "id VARCHAR(191) NOT NULL PRIMARY KEY, next_run_time FLOAT(25), job_state BLOB NOT NULL",
}
NEVER_AGAIN = datetime(2099, 1, 1, 3, tzinfo=UTC)


def tick(*args: object, **kwargs: object) -> None:
    """What the jobs call."""


def nightly(**options: Any) -> CronTrigger:
    return CronTrigger(**{"hour": 3, "timezone": "UTC", **options})


def job_of(id: str, **options: Any) -> Job:
    given = {
        "func": tick,
        "trigger": nightly(),
        "executor": "default",
        "args": (),
        "kwargs": {},
        "misfire_grace_time": 1,
        "coalesce": True,
        "max_instances": 1,
        "next_run_time": NEVER_AGAIN,
        **options,
    }
    return Job(BackgroundScheduler(timezone=UTC), id=id, **given)


def state_of(id: str, **options: Any) -> bytes:
    """As its SQLAlchemyJobStore pickles it."""
    return pickle.dumps(job_of(id, **options).__getstate__(), pickle.HIGHEST_PROTOCOL)


class Hostile:
    """A pickle that calls something when it is read."""

    def __init__(self, function: Callable[..., object], *args: object) -> None:
        self._call = function, args

    def __reduce__(self) -> Any:
        return self._call


class OldStore:
    """One table in one database; `url` is as our own stores take it."""

    def __init__(self, url: str, table: str = TABLE) -> None:
        self.url, self.table = url, table
        self._kind = urlsplit(url).scheme
        self._run(f"CREATE TABLE {table} ({COLUMNS[self._kind]})")

    def add(self, id: str, *, next_run_time: datetime | None = NEVER_AGAIN, **options: Any) -> None:
        state = state_of(id, next_run_time=next_run_time, **options)
        self.put(id, None if next_run_time is None else next_run_time.timestamp(), state)

    def put(self, id: str, next_run_time: float | None, state: bytes) -> None:
        marks = {"sqlite": "?, ?, ?", "postgresql": "$1, $2, $3", "mysql": "%s, %s, %s"}[self._kind]
        self._run(f"INSERT INTO {self.table} VALUES ({marks})", id, next_run_time, state)

    def drop(self, id: str) -> None:
        marks = {"sqlite": "?", "postgresql": "$1", "mysql": "%s"}[self._kind]
        self._run(f"DELETE FROM {self.table} WHERE id = {marks}", id)

    def rows(self) -> list[tuple[Any, ...]]:
        return self._run(f"SELECT id, next_run_time, job_state FROM {self.table} ORDER BY id")

    def tables(self) -> set[str]:
        names = {
            "sqlite": "SELECT name FROM sqlite_master",
            "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
            "mysql": "SHOW TABLES",
        }
        return {str(row[0]) for row in self._run(names[self._kind])}

    def _run(self, statement: str, *given: object) -> list[tuple[Any, ...]]:
        if self._kind == "sqlite":
            connection = sqlite3.connect(self.url.removeprefix("sqlite:///"))
            with connection:
                found = connection.execute(statement, given).fetchall()
            connection.close()
            return found
        work = self._run_postgres if self._kind == "postgresql" else self._run_mysql
        with ThreadPoolExecutor(max_workers=1) as thread:  # the test may have a loop of its own
            return thread.submit(asyncio.run, work(statement, given)).result()

    async def _run_postgres(self, statement: str, given: Sequence[object]) -> list[tuple[Any, ...]]:
        connection = await asyncpg.connect(self.url)
        try:
            return [tuple(row) for row in await connection.fetch(statement, *given)]
        finally:
            await connection.close()

    async def _run_mysql(self, statement: str, given: Sequence[object]) -> list[tuple[Any, ...]]:
        parts = urlsplit(self.url)
        where = {"host": parts.hostname, "port": parts.port, "user": parts.username, "password": parts.password}
        connection = await asyncmy.connect(**where, db=parts.path[1:], charset="utf8mb4", autocommit=True)
        try:
            async with connection.cursor() as cursor:
                await cursor.execute(statement, given or None)
                return list(await cursor.fetchall())
        finally:
            await connection.ensure_closed()
