"""Jobs in a SQL database: they outlive the process, and several programs may share them."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

from waterclock.app.library_worker import StoreOptions
from waterclock.domain.library import NAMESPACE
from waterclock.faces.library.keeping import TextKeeper
from waterclock.faces.library.serializers import PickleSerializer, Serializer, serializer_for
from waterclock.faces.library.telling import Telling
from waterclock.jobstores.base import BaseJobStore
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.library_reading import has_unread_jobs
from waterclock.triggers.base import as_value_errors

TABLE: Final = "apscheduler_jobs"  # the name of APScheduler's table, whose jobs are the default set
_DRIVER: Final = re.compile(r"^(\w+)\+\w+(?=:)")


class SQLJobStore(BaseJobStore):
    """SQLite, PostgreSQL, MySQL or MariaDB, by the URL. Plug-in names: `sql`, `sqlalchemy`.

    `tablename` is the name of a set of jobs: programs with the same URL and the same name share one set.
    A run whose process dies is decided once its lease of `lease_seconds` is over; history is kept for `keep_days`.
    """

    def __init__(
        self,
        url: str,
        tablename: str = TABLE,
        *,
        serializer: str | Serializer = "json",
        pickle_protocol: int = 5,
        lease_seconds: float = 30.0,
        keep_days: float = 30.0,
    ) -> None:
        super().__init__()
        if not url:
            raise ValueError('Need a database URL, such as "sqlite:///jobs.sqlite" or "postgresql://user@host/name"')
        self._url = without_driver(url)
        self._tablename = tablename
        self._serializer = serializer_for(serializer)
        if serializer == "pickle":
            self._serializer = PickleSerializer(pickle_protocol)
        self._served = StoreOptions(
            namespace=namespace_of(tablename),
            shared=True,
            lease_seconds=positive("lease_seconds", lease_seconds),
            keep_days=positive("keep_days", keep_days),
        )
        with as_value_errors():
            database_from_url(self._url)  # a wrong URL is told here, not when the scheduler starts

    def _make_database(self) -> Database:
        return database_from_url(self._url)

    async def _open(self, telling: Telling) -> None:
        await super()._open(telling)
        if await self._database.read(has_unread_jobs, namespace=self._namespace, table=self._tablename):
            self._logger.warning(
                "this database has a table %r of APScheduler, whose jobs are not read: "
                "`waterclock import apscheduler URL` brings them here",
                self._tablename,
            )

    def _make_keeper(self) -> TextKeeper:
        return TextKeeper(self._serializer)

    def _options(self) -> StoreOptions:
        return self._served

    def __repr__(self) -> str:
        return f"<{type(self).__name__} (tablename={self._tablename!r})>"


def without_driver(url: str) -> str:
    """`postgresql+psycopg2://…` names a driver of SQLAlchemy's; ours are our own."""
    return _DRIVER.sub(r"\1", url)


def namespace_of(tablename: str) -> str:
    if not tablename:
        raise ValueError('The "tablename" must not be empty')
    return NAMESPACE if tablename == TABLE else f"lib:{hashlib.sha256(tablename.encode()).hexdigest()[:12]}"


def positive(name: str, value: Any) -> float:
    number = float(value)
    if not number > 0:
        raise ValueError(f"{name} must be greater than 0, not {value!r}")
    return number
