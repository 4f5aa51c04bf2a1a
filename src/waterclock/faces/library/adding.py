"""How jobs come to a scheduler: one or many, pending before it starts, in their stores from then on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from waterclock.domain.errors import Unavailable
from waterclock.events import EVENT_JOB_ADDED, JobEvent
from waterclock.faces.library.naming import Naming, by_name, by_place
from waterclock.faces.library.parts import NO_OPTIONS, STATE_RUNNING, Parts
from waterclock.job import Job
from waterclock.jobstores.base import BaseJobStore, JobLookupError
from waterclock.schedulers import SchedulerNotRunningError
from waterclock.triggers.base import BaseTrigger
from waterclock.triggers.dates import now_in
from waterclock.triggers.registry import create_trigger

Entry = Mapping[str, Any] | Callable[..., Any] | str
Called = tuple[Any, Any, Any, Any, str | None]  # func, trigger, args, kwargs, id
Pending = tuple[Job, str, bool]  # the job, its store's alias, whether it may take another's place
OPTIONS: Final = frozenset(
    {"backoff", "coalesce", "executor", "max_instances", "misfire_grace_time", "name", "next_run_time", "queue"}
    | {"retries", "timeout"}
)
CALLED: Final = ("func", "trigger", "args", "kwargs", "id")
CALL: Final = frozenset({"args", "kwargs"})  # what an entry may say and still be made like all others


class Undefined:
    """What is left to the scheduler's defaults."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "<undefined>"


undefined: Final[Any] = Undefined()


class Adding(Parts):
    def __init__(self, gconfig: Mapping[str, Any] = NO_OPTIONS, **options: Any) -> None:
        self._pending: list[Pending] = []
        super().__init__(gconfig, **options)

    def add_job(
        self,
        func: Callable[..., Any] | str,
        trigger: BaseTrigger | str | None = None,
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
        replace_existing: bool = False,
        *,
        queue: bool = undefined,
        timeout: Any = undefined,
        retries: int = undefined,
        backoff: Any = undefined,
        **trigger_args: Any,
    ) -> Job:
        """Schedule a callable: at once when the scheduler runs, else when it starts.

        `trigger` is a trigger, or a name with the trigger's own options as further keywords; none means at once.
        What is left out is as the scheduler's `job_defaults` say. `next_run_time=None` adds the job paused.
        Beyond APScheduler: `queue` (over `max_instances` wait, instead of being skipped), `timeout` (seconds),
        `retries`, and `backoff` (seconds before the first retry, doubled before each further one).
        """
        options = {
            "executor": executor,
            "name": name,
            "misfire_grace_time": misfire_grace_time,
            "coalesce": coalesce,
            "max_instances": max_instances,
            "next_run_time": next_run_time,
            "queue": queue,
            "timeout": timeout,
            "retries": retries,
            "backoff": backoff,
        }
        job = self._made((func, trigger, args, kwargs, id), options, trigger_args)
        self._take([(job, jobstore, replace_existing)])
        return job

    def add_jobs(self, entries: Iterable[Entry], jobstore: str = "default", **common: Any) -> list[Job]:
        """Schedule many callables at once: all of them, or none where something is wrong with one.

        Each entry says what `add_job` would be told, by the same names, or is just the callable; `common` is what all
        of them share, unless an entry says otherwise: `scheduler.add_jobs([{"args": [user]} for user in users],
        func=remind)`. An error names its entry. The jobs come back in the order of their entries.
        """
        if isinstance(entries, str):
            raise TypeError("entries are several jobs, not the name of one: that is for add_job")
        pending: list[Pending] = []
        pattern: Job | None = None  # one that differs from others in its arguments alone
        for place, entry in enumerate(entries):
            try:
                said = entry if isinstance(entry, Mapping) else {"func": entry}
                if pattern is not None and said.keys() <= CALL:
                    call = {**common, **said}
                    pending.append((pattern._like(call.get("args"), call.get("kwargs")), jobstore, False))
                    continue
                job, replaces = self._entered({**common, **said})
                pending.append((job, jobstore, replaces))
            except (AttributeError, LookupError, TypeError, ValueError) as problem:
                raise by_place(problem, place, None) from None
            if job._is_at_once and said.keys() <= CALL:
                pattern = job
        if pending:
            self._take(pending, by_place)
        return [job for job, _, _ in pending]

    def _entered(self, said: dict[str, Any]) -> tuple[Job, bool]:
        if "jobstore" in said or "func" not in said:
            raise TypeError("it needs a func" if "func" not in said else "the jobstore is that of all entries")
        func, trigger, args, kwargs, job_id = (said.pop(name, None) for name in CALLED)
        replaces = bool(said.pop("replace_existing", False))
        options = {name: said.pop(name) for name in OPTIONS & said.keys()}
        return self._made((func, trigger, args, kwargs, job_id), options, said), replaces

    def _made(self, called: Called, options: Mapping[str, Any], trigger_args: Mapping[str, Any]) -> Job:
        """`options` by their names; those that are undefined are left to the scheduler."""
        said = {name: value for name, value in options.items() if value is not undefined}
        said["func"], trigger, said["args"], said["kwargs"], id = called
        said["trigger"] = create_trigger(trigger, trigger_args, self.timezone)
        job = Job(self, id, **said)
        job._is_at_once = trigger is None and id is None and not trigger_args and "next_run_time" not in said
        return job

    def _take(self, pending: Sequence[Pending], naming: Naming = by_name) -> None:
        with self._lock:
            if not self.running:
                self._pending += pending
                self._logger.info("Adding job tentatively -- it will be properly scheduled when the scheduler starts")
                return
        self._add_all(pending, naming)

    def _store(self, alias: str) -> BaseJobStore:
        with self._lock:
            store = self._lookup_jobstore(alias)
            if self._thread is None:
                raise SchedulerNotRunningError
            return store

    def _add_all(self, pending: Sequence[Pending], naming: Naming = by_name) -> None:
        """Each store takes all of its jobs at once, or none; who listens is told when all have."""
        now = now_in(self.timezone)
        stores = {alias: self._store(alias) for alias in dict.fromkeys(alias for _, alias, _ in pending)}
        for job, _, _ in pending:
            job._fill_in(self._job_defaults, now)
        if self._run_at_once(pending, stores, naming):
            return
        for alias, store in stores.items():
            mine = [(job, may) for job, each, may in pending if each == alias]
            store.add_jobs([job for job, _ in mine], {job.id for job, may in mine if may}, naming)
        self._tell_added(pending)

    def _run_at_once(self, pending: Sequence[Pending], stores: Mapping[str, BaseJobStore], naming: Naming) -> bool:
        """Those that run and are gone need not be scheduled first: False where one of them is not like that."""
        first = pending[0][0] if pending else None
        if first is None or len(stores) > 1 or self.state != STATE_RUNNING or first.executor not in self._executors:
            return False
        jobs = [job for job, _, _ in pending]
        if not all(job._is_at_once and job._declared.runs_like(first._declared) for job in jobs):
            return False
        (store,) = stores.values()
        return store.submit_jobs(jobs, lambda: self._tell_added(pending), naming)

    def _tell_added(self, pending: Sequence[Pending]) -> None:
        is_told, is_logged = self._listeners.wants(EVENT_JOB_ADDED), self._logger.isEnabledFor(logging.INFO)
        for job, alias, _ in pending:
            if job.executor not in self._executors:
                self._logger.warning("Job %s waits for an executor %r: this scheduler has none", job, job.executor)
            if is_told:
                self._listeners.tell_now(JobEvent(EVENT_JOB_ADDED, job.id, alias))
            if is_logged:
                self._logger.info('Added job "%s" to job store "%s"', job.name, alias)

    def _take_back(self) -> None:
        """Of a start that failed: what some stores had taken is pending again."""
        for job, alias, replaces in self._pending:
            if not job.pending:
                with suppress(JobLookupError, Unavailable):
                    () if replaces else self._lookup_jobstore(alias).remove_job(job.id)
                job._unsettle()
