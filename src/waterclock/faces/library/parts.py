"""The parts of a scheduler: its job stores, its executors, and who listens."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import tzinfo
from types import MappingProxyType
from typing import Any, Final

from waterclock.app.library import StoreEngine
from waterclock.events import (
    EVENT_ALL,
    EVENT_EXECUTOR_ADDED,
    EVENT_EXECUTOR_REMOVED,
    EVENT_JOBSTORE_ADDED,
    EVENT_JOBSTORE_REMOVED,
    SchedulerEvent,
)
from waterclock.executors.base import BaseExecutor
from waterclock.executors.registry import create_executor
from waterclock.faces.library.configuring import Configuration, boolean, configuration_from, object_at, options_from
from waterclock.faces.library.listeners import Listeners
from waterclock.faces.library.thread import EngineThread
from waterclock.jobstores.base import BaseJobStore
from waterclock.jobstores.registry import create_jobstore
from waterclock.schedulers import SchedulerAlreadyRunningError

STATE_STOPPED: Final = 0
STATE_RUNNING: Final = 1
STATE_PAUSED: Final = 2
NO_OPTIONS: Final[Mapping[str, Any]] = MappingProxyType({})
OPTIONS: Final = frozenset(
    {"daemon", "executors", "job_defaults", "jobstore_retry_interval", "jobstores", "logger", "timezone"}
)


class Parts:
    """What a scheduler is made of; each part may come and go while it runs."""

    timezone: tzinfo

    def __init__(self, gconfig: Mapping[str, Any] = NO_OPTIONS, **options: Any) -> None:
        super().__init__()
        self.state = STATE_STOPPED
        self._executors: dict[str, BaseExecutor] = {}
        self._jobstores: dict[str, BaseJobStore] = {}
        self._listeners = Listeners()
        self._lock = threading.RLock()
        self._thread: EngineThread | None = None
        self.configure(gconfig, **options)

    @property
    def running(self) -> bool:
        """Whether it was started and not shut down: True for a paused one, too."""
        return self.state != STATE_STOPPED

    def configure(
        self, gconfig: Mapping[str, Any] = NO_OPTIONS, prefix: str | None = "apscheduler.", **options: Any
    ) -> None:
        """From a flat mapping whose keys begin with the prefix, and from keywords, which win."""
        if self.running:
            raise SchedulerAlreadyRunningError
        self._configure({**options_from(gconfig, prefix), **options})

    def _configure(self, config: dict[str, Any]) -> None:
        if unknown := sorted(set(config) - OPTIONS):
            raise TypeError(f"unknown option {', '.join(unknown)}; a scheduler has {', '.join(sorted(OPTIONS))}")
        made: Configuration = configuration_from(config)
        given = config.get("logger")
        self._logger = logging.getLogger(given) if isinstance(given, str) and ":" not in given else object_at(given)
        self._logger = self._logger or logging.getLogger("waterclock.scheduler")
        self._daemon = boolean(config.get("daemon", True))
        self.timezone = made.timezone
        self.jobstore_retry_interval = float(config.get("jobstore_retry_interval", 10))  # shown: the engine has its own
        self._job_defaults = made.job_defaults
        self._executors.clear()
        self._jobstores.clear()
        for alias, executor in made.executors.items():
            self.add_executor(executor, alias)
        for alias, jobstore in made.jobstores.items():
            self.add_jobstore(jobstore, alias)

    # Executors

    def add_executor(self, executor: BaseExecutor | str, alias: str = "default", **executor_opts: Any) -> None:
        """An executor, or a plug-in's name and its options. ValueError when the alias is taken."""
        with self._lock:
            if alias in self._executors:
                raise ValueError(f'This scheduler already has an executor by the alias of "{alias}"')
            made = create_executor(executor, executor_opts)
            if self._thread:
                made.start(self, alias)
                self._serve(self._thread, alias, made)
            self._executors[alias] = made
        self._listeners.tell_now(SchedulerEvent(EVENT_EXECUTOR_ADDED, alias))

    def remove_executor(self, alias: str, shutdown: bool = True) -> None:
        """Its jobs wait for another of the same alias, here or in another process.

        `shutdown`: return when it has ended what it was given; else what had not begun goes back to its store.
        """
        with self._lock:
            executor, thread, engines = self._lookup_executor(alias), self._thread, self._engines()
            del self._executors[alias]
        if thread:
            self._end(thread, engines, _leave(engines, alias, executor if shutdown else None), wait=shutdown)
        elif shutdown:
            executor.shutdown()
        self._listeners.tell_now(SchedulerEvent(EVENT_EXECUTOR_REMOVED, alias))

    def _serve(self, thread: EngineThread, alias: str, executor: BaseExecutor) -> None:
        engines = self._engines()
        try:
            for engine in engines:
                thread.call(engine.serve(alias, executor))
        except BaseException:
            thread.later(_leave(engines, alias, None))
            raise

    def _lookup_executor(self, alias: str) -> BaseExecutor:
        try:
            return self._executors[alias]
        except KeyError:
            raise KeyError(f"No such executor: {alias}") from None

    # Job stores

    def add_jobstore(self, jobstore: BaseJobStore | str, alias: str = "default", **jobstore_opts: Any) -> None:
        """A job store, or a plug-in's name and its options. ValueError when the alias is taken."""
        with self._lock:
            if alias in self._jobstores:
                raise ValueError(f'This scheduler already has a job store by the alias of "{alias}"')
            if isinstance(jobstore, str):
                jobstore = create_jobstore(jobstore, jobstore_opts)
            if not isinstance(jobstore, BaseJobStore):
                raise TypeError(f"Expected a job store instance or a string, got {type(jobstore).__name__} instead")
            if self._thread:
                self._open(self._thread, jobstore, alias)
            self._jobstores[alias] = jobstore
        self._listeners.tell_now(SchedulerEvent(EVENT_JOBSTORE_ADDED, alias))

    def remove_jobstore(self, alias: str, shutdown: bool = True) -> None:
        """Its jobs do not run here any more. `shutdown`: return when those that run have ended."""
        with self._lock:
            jobstore, thread = self._lookup_jobstore(alias), self._thread
            del self._jobstores[alias]
        if thread:
            self._end(thread, [jobstore.engine], jobstore.engine.close(wait=shutdown), wait=shutdown)
        self._listeners.tell_now(SchedulerEvent(EVENT_JOBSTORE_REMOVED, alias))

    def _open(self, thread: EngineThread, jobstore: BaseJobStore, alias: str) -> None:
        jobstore.start(self, alias)
        try:
            thread.call(jobstore.serve(self._executors, paused=self.state == STATE_PAUSED))
        except BaseException:
            thread.later(jobstore.engine.close(wait=False))
            raise

    def _lookup_jobstore(self, alias: str) -> BaseJobStore:
        try:
            return self._jobstores[alias]
        except KeyError:
            raise KeyError(f"No such job store: {alias}") from None

    # Engines: one for each job store, while the scheduler runs

    def _engines(self) -> list[StoreEngine]:
        return [jobstore.engine for jobstore in self._jobstores.values()] if self._thread else []

    def _end(
        self, thread: EngineThread, engines: Sequence[StoreEngine], ending: Coroutine[Any, Any, None], *, wait: bool
    ) -> None:
        """Without the lock: jobs that end may need it."""
        if wait and not self._is_job(engines):
            thread.call(ending)
        else:
            thread.later(ending)

    def _is_job(self, engines: Sequence[StoreEngine]) -> bool:
        """Whether a job of these makes this call: it cannot wait for itself."""
        return any(engine.is_calling() for engine in engines)

    # Listeners

    def add_listener(self, callback: Callable[[Any], object], mask: int = EVENT_ALL) -> None:
        """`callback(event)` for every event whose code is in the mask.

        What a call of the program itself brings about is told before that call returns; what jobs do is told in a
        thread of the listeners' own, in order.
        """
        self._listeners.add(callback, mask)

    def remove_listener(self, callback: Callable[[Any], object]) -> None:
        self._listeners.remove(callback)


async def _leave(engines: Sequence[StoreEngine], alias: str, executor: BaseExecutor | None) -> None:
    for engine in engines:
        await engine.leave(alias, wait=executor is not None)
    if executor:
        await asyncio.to_thread(executor.shutdown)
