"""Job stores by name: our own, and those that other packages register as entry points."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, Final

from waterclock.jobstores.base import BaseJobStore
from waterclock.jobstores.memory import MemoryJobStore
from waterclock.jobstores.mysql import MySQLJobStore
from waterclock.jobstores.postgresql import PostgreSQLJobStore
from waterclock.jobstores.sql import SQLJobStore
from waterclock.jobstores.sqlalchemy import SQLAlchemyJobStore
from waterclock.jobstores.sqlite import SQLiteJobStore

JOBSTORES: Final[Mapping[str, type[BaseJobStore]]] = {
    "memory": MemoryJobStore,
    "mysql": MySQLJobStore,
    "postgresql": PostgreSQLJobStore,
    "sql": SQLJobStore,
    "sqlalchemy": SQLAlchemyJobStore,
    "sqlite": SQLiteJobStore,
}
# The second group is where packages for APScheduler 3 register theirs; our own names are never looked up there.
GROUPS: Final = ("waterclock.jobstores", "apscheduler.jobstores")
NOT_HERE: Final = frozenset({"etcd", "mongodb", "redis", "rethinkdb", "zookeeper"})


def create_jobstore(alias: str, options: Mapping[str, Any]) -> BaseJobStore:
    """LookupError when nobody has registered the name."""
    made: BaseJobStore = jobstore_class(alias)(**options)
    return made


def jobstore_class(alias: str) -> type[Any]:
    if (own := JOBSTORES.get(alias)) is not None:
        return own
    for group in GROUPS[:1] if alias in NOT_HERE else GROUPS:  # in the second, those names are APScheduler's own stores
        for entry in entry_points(group=group, name=alias):
            return _checked(alias, entry.load())
    why = ""
    if alias in NOT_HERE:
        why = f": a store needs transactions, so that ours are memory and SQL ({', '.join(sorted(JOBSTORES))})"
    raise LookupError(f'No jobstore by the name "{alias}" was found{why}')


def _checked(alias: str, loaded: object) -> type[Any]:
    """APScheduler's own contract is another one: a class that only has its methods cannot be shared."""
    if isinstance(loaded, type) and issubclass(loaded, BaseJobStore):
        return loaded
    raise TypeError(
        f'The job store "{alias}" is registered as {loaded!r}, '
        "which is no subclass of waterclock.jobstores.base.BaseJobStore"
    )
