"""What a job store is: a database of the engine's, and how a program's jobs are kept in it."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from waterclock.app.library import StoreEngine
from waterclock.app.library_worker import StoreOptions
from waterclock.app.submitting import Begun
from waterclock.domain.errors import AlreadyExists, NotFound
from waterclock.domain.library import LibraryJob, PastRun, StoredJob, ToRun
from waterclock.domain.moment import Moment, from_datetime
from waterclock.events import EVENT_JOB_ADDED
from waterclock.faces.library.changing import Change, ChangedMeanwhile
from waterclock.faces.library.keeping import Declared, Keeper
from waterclock.faces.library.listeners import Listeners
from waterclock.faces.library.naming import Naming, by_name
from waterclock.faces.library.telling import Telling
from waterclock.faces.library.thread import EngineThread
from waterclock.job import Job
from waterclock.stores.base import Database, Operation
from waterclock.stores.ops import library as ops

if TYPE_CHECKING:
    from waterclock.executors.base import BaseExecutor

T = TypeVar("T")
P = ParamSpec("P")


class JobLookupError(KeyError):
    """The job store cannot find a job for update or removal."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"No job by the id of {job_id} was found")


class ConflictingIdError(KeyError):
    """The id of a job is taken."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"Job identifier ({job_id}) conflicts with an existing job")


class TransientJobError(ValueError):
    """A job without a reference to its callable was given to a store that keeps only references."""

    def __init__(self, job_id: str) -> None:
        super().__init__(
            f"Job ({job_id}) cannot be added to this job store because a reference to the callable "
            "could not be determined."
        )


class BaseJobStore(ABC):
    """A subclass says which database it is and how it keeps jobs; all else is the engine's, the same for every store.

    A store of somebody else implements the seam of our stores, `waterclock.stores.base.Database`, and is found by its
    entry point in the group `waterclock.jobstores`.
    """

    _scheduler: Any = None
    _alias: str | None = None

    @abstractmethod
    def _make_database(self) -> Database:
        """Not opened yet."""

    @abstractmethod
    def _make_keeper(self) -> Keeper: ...

    @abstractmethod
    def _options(self) -> StoreOptions: ...

    # Life: all of it is the scheduler's to call

    def start(self, scheduler: Any, alias: str) -> None:
        """Open the database, and make it ready; nothing is fired yet."""
        self._scheduler, self._alias = scheduler, alias
        self._logger = logging.getLogger(f"waterclock.jobstores.{alias}")
        self._thread: EngineThread = scheduler._thread
        self._listeners: Listeners = scheduler._listeners
        self._database, self._keeper = self._make_database(), self._make_keeper()
        self._namespace = self._options().namespace
        self._engine: StoreEngine | None = None
        self._thread.call(self._open(Telling(scheduler._listeners, alias, scheduler.timezone)))

    async def _open(self, telling: Telling) -> None:
        await self._database.open()
        try:
            await self._database.migrate()
        except BaseException:
            await self._database.close()
            raise
        self._engine = StoreEngine(self._database, self._keeper, telling, self._options())

    async def serve(self, executors: dict[str, BaseExecutor], *, paused: bool) -> None:
        """Begin to fire and to run."""
        for alias, executor in executors.items():
            await self.engine.serve(alias, executor)
        await self.engine.open(paused=paused)

    def shutdown(self) -> None:
        """Frees what is still bound to this job store."""
        if self._engine:
            self._thread.call(self._engine.close(wait=True))

    @property
    def engine(self) -> StoreEngine:
        assert self._engine is not None, "the job store has not been started"
        return self._engine

    # Jobs

    def lookup_job(self, job_id: str) -> Job | None:
        found = self._ask(ops.library_jobs, namespace=self._namespace, names=[job_id])
        return self._job(found[0]) if found else None

    def get_due_jobs(self, now: datetime) -> list[Job]:
        return [job for job in self.get_all_jobs() if job.next_run_time is not None and job.next_run_time <= now]

    def get_next_run_time(self) -> datetime | None:
        return next((job.next_run_time for job in self.get_all_jobs()), None)

    def get_all_jobs(self) -> list[Job]:
        """By their next run time; paused ones last."""
        return [self._job(stored) for stored in self._ask(ops.library_jobs, namespace=self._namespace)]

    def add_job(self, job: Job) -> None:
        self.add_jobs([job], replace=())

    def add_jobs(self, jobs: Sequence[Job], replace: Collection[str], naming: Naming = by_name) -> None:
        """All or none, at once; those in `replace` take the place of what has their id.

        They go on from its next run time, unless their trigger is another, or the program has given them one.
        """
        kept = self._each(self._keeper.kept, jobs, naming)
        stored = self._added(jobs, kept, replace)
        for job, given, now_stored in zip(jobs, kept, stored, strict=True):
            job._settle(self, (now_stored.id, now_stored.trigger_id))
            if now_stored.job.next_fire_at != given.next_fire_at:
                job._declared = self._keeper.declared(now_stored.job)

    def _added(self, jobs: Sequence[Job], kept: Sequence[LibraryJob], replace: Collection[str]) -> list[StoredJob]:
        """One job, as a rule with a name that is free, is a single trip to the database."""
        try:
            if len(kept) == 1 and (new := self._send(ops.add_free_job, namespace=self._namespace, job=kept[0])):
                return [new]
            return self._tell(
                ops.add_library_jobs,
                namespace=self._namespace,
                jobs=kept,
                replace=replace,
                keeping={job.id for job in jobs if not job._is_timed},
            )
        except AlreadyExists as taken:
            raise ConflictingIdError(str(taken.name)) from None

    def submit_jobs(self, jobs: Sequence[Job], added: Callable[[], None], naming: Naming = by_name) -> bool:
        """Run them at once, of one executor, and never again; `added` is called before any of them begins.

        False, and nothing was done, where they are to be added like others.
        """
        calls = self._each(self._keeper.to_run, jobs, naming)
        held = self._listeners.wants(EVENT_JOB_ADDED)
        begun = self._begun(calls, self._run_at(jobs), held=held)
        if begun is None:
            return False
        self._settle_all(jobs, begun.job_ids)
        added()
        if held:
            self._thread.soon(begun.go)
        return True

    def _begun(self, calls: Sequence[ToRun], run_at: Moment, *, held: bool) -> Begun | None:
        """One by one they go by a way of the caller's own: the engine's loop has enough to do with beginning them."""
        here = self.engine.submit_here(calls, run_at) if len(calls) == 1 and not held else None
        return here or self._thread.call(self.engine.submit(calls, run_at, held=held))

    def _run_at(self, jobs: Sequence[Job]) -> Moment:
        """When they were asked for, all of them at once."""
        at = jobs[0]._declared.next_run_time
        assert at is not None
        return from_datetime(at)

    def _settle_all(self, jobs: Sequence[Job], job_ids: Sequence[int]) -> None:
        """They never had a trigger."""
        for job, job_id in zip(jobs, job_ids, strict=True):
            job._settle(self, (job_id, 0))

    def update_job(self, job: Job) -> None:
        self.change_job(job.id, lambda _: job._declared)

    def change_job(self, job_id: str, revise: Callable[[Declared], Declared]) -> Job:
        """`revise` runs in the caller's thread, as it may run code of the user's; again, where another was quicker."""
        changed: Job | None = None
        while changed is None:
            changed = self._change_once(job_id, revise)
        return changed

    def _change_once(self, job_id: str, revise: Callable[[Declared], Declared]) -> Job | None:
        found = self._ask(ops.library_jobs, namespace=self._namespace, names=[job_id])
        if not found:
            raise JobLookupError(job_id)
        change = Change(found[0], self._keeper.kept(revise(self._keeper.declared(found[0].job)), self._namespace))
        try:
            stored = self._tell(ops.change_library_job, namespace=self._namespace, name=job_id, revise=change)
        except NotFound:
            raise JobLookupError(job_id) from None
        except ChangedMeanwhile:
            return None
        return self._job(stored)

    def remove_job(self, job_id: str) -> None:
        if not self._tell(ops.remove_library_jobs, namespace=self._namespace, names=[job_id]):
            raise JobLookupError(job_id)

    def remove_all_jobs(self) -> None:
        self._tell(ops.remove_library_jobs, namespace=self._namespace, names=None)

    def past_runs(self, numbers: tuple[int, int], limit: int) -> list[PastRun]:
        """`numbers`: of a job and its trigger."""
        job_id, trigger_id = numbers
        return self._ask(ops.past_runs, job_id=job_id, trigger_id=trigger_id, limit=limit)

    # How the program's threads reach the store; overridden where no thread is needed

    def _tell(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self._thread.call(self._database.write(operation, *args, **kwargs))

    def _send(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self._thread.call(self._database.send(operation, *args, **kwargs))

    def _ask(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self._thread.call(self._database.read(operation, *args, **kwargs))

    def next_run_time(self, job: Job) -> datetime | None:
        """As it was when the job was read: who wants to know it as it is asks the scheduler again."""
        return job._declared.next_run_time

    def _each(self, kept: Callable[[Declared, str], T], jobs: Sequence[Job], naming: Naming) -> list[T]:
        """What is kept of each. Of many, an error says which it is: `start` adds all that are pending."""
        found: list[T] = []
        for place, job in enumerate(jobs):
            try:
                found.append(kept(job._declared, self._namespace))
            except (TypeError, ValueError) as problem:
                if len(jobs) > 1:
                    raise naming(problem, place, job) from problem
                raise
        return found

    def _job(self, stored: StoredJob) -> Job:
        job = Job._of(self._scheduler, self._keeper.declared(stored.job))
        job._settle(self, (stored.id, stored.trigger_id))
        return job

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
