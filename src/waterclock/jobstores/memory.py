"""The default: jobs live in this process, and end with it."""

from __future__ import annotations

from datetime import datetime
from typing import ParamSpec, TypeVar

from waterclock.app.library_worker import StoreOptions
from waterclock.domain.library import NAMESPACE
from waterclock.domain.moment import to_datetime
from waterclock.faces.library.keeping import ObjectKeeper
from waterclock.job import Job
from waterclock.jobstores.base import BaseJobStore
from waterclock.stores.base import Operation
from waterclock.stores.memory import MemoryDatabase

T = TypeVar("T")
P = ParamSpec("P")


class MemoryJobStore(BaseJobStore):
    """Takes any callable with any arguments: nothing is written down. Plug-in name: `memory`."""

    def __init__(self) -> None:
        super().__init__()
        self._memory = MemoryDatabase()

    def _make_database(self) -> MemoryDatabase:
        """Another at every start: what was there ended with the scheduler, and may still be ending."""
        self._memory = MemoryDatabase()
        return self._memory

    def _make_keeper(self) -> ObjectKeeper:
        return ObjectKeeper()

    def _options(self) -> StoreOptions:
        return StoreOptions(namespace=NAMESPACE, shared=False)

    def _tell(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self._memory.do(operation, *args, **kwargs)

    _ask = _tell

    def next_run_time(self, job: Job) -> datetime | None:
        at = self._memory.next_fire_at(NAMESPACE, job.id)
        return None if at is None else to_datetime(at).astimezone(job.trigger_zone)
