"""The default: jobs live in this process, and end with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import ParamSpec, TypeVar

from waterclock import clock
from waterclock.app.library_worker import StoreOptions
from waterclock.domain.library import NAMESPACE
from waterclock.domain.moment import to_datetime
from waterclock.faces.library.keeping import ObjectKeeper
from waterclock.faces.library.naming import Naming, by_name
from waterclock.job import Job
from waterclock.jobstores.base import BaseJobStore
from waterclock.stores.base import Operation
from waterclock.stores.memory import MemoryDatabase
from waterclock.stores.ops.submitting import submit_calls

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

    def _send(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self._tell(operation, *args, **kwargs)

    _ask = _tell

    def submit_jobs(self, jobs: Sequence[Job], added: Callable[[], None], naming: Naming = by_name) -> bool:
        """In the caller's own thread, which hands them to their executor itself where none of its calls wait for room,
        and nothing waits to be fired: what there was no room for a moment ago may be among that.

        Nothing here can fail once it is known that there is room.
        """
        calls = self._each(self._keeper.to_run, jobs, naming)
        worker = self.engine.worker(calls[0].spec.queue)
        if worker is None or self._memory.is_due():
            return False
        added()
        self.engine.gone([call.name for call in calls])
        run_at = self._run_at(jobs)
        with worker.turn:
            taker = worker.taker()
            done = self._send(submit_calls, namespace=NAMESPACE, calls=calls, run_at=run_at, taker=taker)
            self._settle_all(jobs, done.job_ids)
            worker.begin(done.claimed, clock.monotonic())
        return True

    def next_run_time(self, job: Job) -> datetime | None:
        at = self._memory.next_fire_at(NAMESPACE, job.id)
        return None if at is None else to_datetime(at).astimezone(job.trigger_zone)
