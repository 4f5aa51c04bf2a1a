"""Jobs, as a scheduler offers them: pending before it starts, in their stores from then on."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from os import PathLike
from typing import Any, TextIO, TypeVar

from waterclock.events import (
    EVENT_ALL_JOBS_REMOVED,
    EVENT_JOB_MODIFIED,
    EVENT_JOB_REMOVED,
    JobEvent,
    SchedulerEvent,
)
from waterclock.faces.library import carrying
from waterclock.faces.library.adding import Adding, Pending, undefined
from waterclock.faces.library.declaring import changed
from waterclock.faces.library.keeping import Declared
from waterclock.job import Job
from waterclock.jobstores.base import BaseJobStore, JobLookupError
from waterclock.schedulers import SchedulerNotRunningError
from waterclock.triggers.base import BaseTrigger
from waterclock.triggers.dates import now_in
from waterclock.triggers.registry import create_trigger

__all__ = ["JobMethods", "undefined"]

F = TypeVar("F", bound=Callable[..., Any])


class JobMethods(Adding):
    def scheduled_job(
        self,
        trigger: BaseTrigger | str,
        args: Any = None,
        kwargs: Any = None,
        id: str | None = None,
        name: str | None = None,
        misfire_grace_time: Any = undefined,
        coalesce: bool = undefined,
        max_instances: int = undefined,
        next_run_time: Any = undefined,
        jobstore: str = "default",
        executor: str = "default",
        *,
        queue: bool = undefined,
        timeout: Any = undefined,
        retries: int = undefined,
        backoff: Any = undefined,
        **trigger_args: Any,
    ) -> Callable[[F], F]:
        """`add_job` as a decorator, which replaces a job of the same id. In a database a job needs an `id`."""

        def decorate(func: F) -> F:
            self.add_job(
                func,
                trigger,
                args,
                kwargs,
                id,
                name,
                misfire_grace_time,
                coalesce,
                max_instances,
                next_run_time,
                jobstore,
                executor,
                True,
                queue=queue,
                timeout=timeout,
                retries=retries,
                backoff=backoff,
                **trigger_args,
            )
            return func

        return decorate

    def modify_job(self, job_id: str, jobstore: str | None = None, **changes: Any) -> Job:
        """Change what was declared of a job: all of it, or nothing where one change is wrong."""
        if pending := self._pending_job(job_id, jobstore):
            pending[0]._modify(**changes)
            job, alias = pending[0], None
        else:
            job, alias = self._change(job_id, jobstore, lambda was: changed(was, changes, self.timezone))
        self._listeners.tell_now(JobEvent(EVENT_JOB_MODIFIED, job_id, alias))
        return job

    def reschedule_job(
        self, job_id: str, jobstore: str | None = None, trigger: BaseTrigger | str | None = None, **trigger_args: Any
    ) -> Job:
        """Another trigger, and the next run time by it."""
        made = create_trigger(trigger, trigger_args, self.timezone)
        next_run_time = made.get_next_fire_time(None, now_in(self.timezone))
        return self.modify_job(job_id, jobstore, trigger=made, next_run_time=next_run_time)

    def pause_job(self, job_id: str, jobstore: str | None = None) -> Job:
        """It does not run until it is resumed."""
        return self.modify_job(job_id, jobstore, next_run_time=None)

    def resume_job(self, job_id: str, jobstore: str | None = None) -> Job | None:
        """From its trigger's next run time on; None, and the job is removed, where there is none.

        One that is not paused is left as it is: what is due of it stays due.
        """
        job, alias = self._lookup_job(job_id, jobstore)
        if not job.pending and job.next_run_time is not None:
            return job
        next_run_time = job.trigger.get_next_fire_time(None, now_in(self.timezone))
        if next_run_time is not None:
            return self.modify_job(job_id, alias, next_run_time=next_run_time)
        self.remove_job(job_id, alias)
        return None

    def get_jobs(self, jobstore: str | None = None, pending: bool | None = None) -> list[Job]:
        """By their next run time, paused ones last; before the start the pending ones. `pending` is of no use."""
        if pending is not None:
            text = 'The "pending" option is deprecated -- get_jobs() always returns scheduled jobs if the scheduler '
            warnings.warn(text + "has been started and pending jobs otherwise", DeprecationWarning, stacklevel=2)
        if not self.running:
            return [job for job, alias, _ in self._pending if jobstore in (None, alias)]
        return [job for _, store in self._stores(jobstore) for job in store.get_all_jobs()]

    def get_job(self, job_id: str, jobstore: str | None = None) -> Job | None:
        try:
            return self._lookup_job(job_id, jobstore)[0]
        except JobLookupError:
            return None

    def remove_job(self, job_id: str, jobstore: str | None = None) -> None:
        """It does not run any more; a run that has begun goes on. JobLookupError where there is none."""
        alias = self._remove_pending(job_id, jobstore) or self._remove(job_id, jobstore)
        self._listeners.tell_now(JobEvent(EVENT_JOB_REMOVED, job_id, alias))
        self._logger.info("Removed job %s", job_id)

    def remove_all_jobs(self, jobstore: str | None = None) -> None:
        with self._lock:
            if not self.running:
                self._pending = [each for each in self._pending if jobstore not in (None, each[1])]
        for _, store in self._stores(jobstore) if self.running else ():
            store.remove_all_jobs()
        self._listeners.tell_now(SchedulerEvent(EVENT_ALL_JOBS_REMOVED, jobstore))

    def print_jobs(self, jobstore: str | None = None, out: TextIO | None = None) -> None:
        out = out or sys.stdout
        if not self.running:
            print("Pending jobs:", file=out)
            _print([job for job, alias, _ in self._pending if jobstore in (None, alias)], "pending", out)
            return
        for alias, store in sorted(self._stores(jobstore)):
            print(f"Jobstore {alias}:", file=out)
            _print(store.get_all_jobs(), "scheduled", out)

    def export_jobs(self, outfile: TextIO | str | PathLike[str], jobstore: str | None = None) -> None:
        """All jobs as JSON, to a file or to a path. The scheduler must run."""
        if not self.running:
            raise RuntimeError("the scheduler must have been started for job export to work")
        carrying.write(self.get_jobs(jobstore), outfile)

    def import_jobs(self, infile: TextIO | str | PathLike[str], jobstore: str = "default") -> None:
        """What `export_jobs` wrote, into one store: all of it, or nothing where an id is taken."""
        if not self.running:
            raise RuntimeError("the scheduler must have been started for job import to work")
        store = self._store(jobstore)
        store.add_jobs([Job._of(self, declared) for declared in carrying.read(infile)], replace=())

    # Where a job is

    def _stores(self, alias: str | None) -> list[tuple[str, BaseJobStore]]:
        """Those that are open; another thread may have shut the scheduler down since it was looked at."""
        with self._lock:
            if self._thread is None:
                raise SchedulerNotRunningError
            return [(each, store) for each, store in self._jobstores.items() if alias in (None, each)]

    def _pending_job(self, job_id: str, jobstore: str | None) -> Pending | None:
        if self.running:
            return None
        for each in self._pending:
            if each[0].id == job_id and jobstore in (None, each[1]):
                return each
        raise JobLookupError(job_id)

    def _lookup_job(self, job_id: str, jobstore: str | None) -> tuple[Job, str | None]:
        if pending := self._pending_job(job_id, jobstore):
            return pending[0], None
        for alias, store in self._stores(jobstore):
            if job := store.lookup_job(job_id):
                return job, alias
        raise JobLookupError(job_id)

    def _change(
        self, job_id: str, jobstore: str | None, revise: Callable[[Declared], Declared]
    ) -> tuple[Job, str | None]:
        for alias, store in self._stores(jobstore):
            try:
                return store.change_job(job_id, revise), alias
            except JobLookupError:
                continue
        raise JobLookupError(job_id)

    def _remove_pending(self, job_id: str, jobstore: str | None) -> str | None:
        """The alias of its store; None where the scheduler runs, and nothing is pending."""
        with self._lock:
            pending = self._pending_job(job_id, jobstore)
            if pending is None:
                return None
            self._pending.remove(pending)
            return pending[1]

    def _remove(self, job_id: str, jobstore: str | None) -> str:
        for alias, store in self._stores(jobstore):
            try:
                store.remove_job(job_id)
            except JobLookupError:
                continue
            return alias
        raise JobLookupError(job_id)


def _print(jobs: list[Job], kind: str, out: TextIO) -> None:
    for job in jobs:
        print(f"    {job}", file=out)
    if not jobs:
        print(f"    No {kind} jobs", file=out)
