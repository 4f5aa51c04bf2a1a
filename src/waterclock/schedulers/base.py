"""What every scheduler does: it starts the engine beside the program, and ends it so that nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final

from waterclock.app.library import StoreEngine
from waterclock.events import (
    EVENT_SCHEDULER_PAUSED,
    EVENT_SCHEDULER_RESUMED,
    EVENT_SCHEDULER_SHUTDOWN,
    EVENT_SCHEDULER_STARTED,
    SchedulerEvent,
)
from waterclock.executors.base import BaseExecutor
from waterclock.executors.pool import ThreadPoolExecutor
from waterclock.faces.library.job_methods import JobMethods, undefined
from waterclock.faces.library.parts import NO_OPTIONS, STATE_PAUSED, STATE_RUNNING, STATE_STOPPED
from waterclock.faces.library.thread import EngineThread
from waterclock.jobstores.base import BaseJobStore
from waterclock.jobstores.memory import MemoryJobStore
from waterclock.schedulers import SchedulerAlreadyRunningError, SchedulerNotRunningError

__all__ = ["STATE_PAUSED", "STATE_RUNNING", "STATE_STOPPED", "BaseScheduler", "undefined"]

log: Final = logging.getLogger("waterclock.scheduler")

FLUSH_SECONDS: Final = 5.0


class BaseScheduler(JobMethods, ABC):
    """Options: `jobstores` and `executors` (by alias: instances, or dicts with `type` or `class`), `job_defaults`,
    `timezone` (else the machine's), `logger`, and `daemon` (True) of the engine's thread.

    `state` is STATE_STOPPED, STATE_RUNNING or STATE_PAUSED. Every method may be called from any thread, from jobs and
    from listeners.
    """

    def __init__(self, gconfig: Mapping[str, Any] = NO_OPTIONS, **options: Any) -> None:
        super().__init__(gconfig, **options)
        self._lives = 0  # starts whose engines have not ended: several, where one did not wait for the last
        self._used: set[BaseExecutor] = set()  # by those that have ended

    def start(self, paused: bool = False) -> None:
        """Open the stores, add what is pending, and begin to fire, unless `paused`."""
        with self._lock:
            if self.running:
                raise SchedulerAlreadyRunningError
            _check_uwsgi()
            if "default" not in self._executors:
                self.add_executor(self._create_default_executor(), "default")
            if "default" not in self._jobstores:
                self.add_jobstore(self._create_default_jobstore(), "default")
            self._begin(paused=paused)
        self._logger.info("Scheduler started")
        self._listeners.tell_now(SchedulerEvent(EVENT_SCHEDULER_STARTED))

    def _begin(self, *, paused: bool) -> None:
        """All of it, or a scheduler that was not started: its pending jobs are pending still."""
        self._thread = thread = EngineThread(daemon=self._daemon, at_exit=self._leave)
        started: list[BaseJobStore] = []
        try:
            for alias, executor in self._executors.items():
                executor.start(self, alias)
            for alias, store in self._jobstores.items():
                store.start(self, alias)
                started.append(store)
            self._add_all(self._pending)
            self.state = STATE_PAUSED if paused else STATE_RUNNING
            for store in started:
                thread.call(store.serve(self._executors, paused=paused))
        except BaseException:
            self._thread, self.state = None, STATE_STOPPED
            self._take_back()
            thread.call(self._close(thread, [store.engine for store in started], [], wait=False))
            thread.join()
            raise
        self._lives += 1
        self._pending = []

    @abstractmethod
    def shutdown(self, wait: bool = True) -> None:
        """Fire nothing more, and end. `wait`: return when what was taken has run and is recorded; else at once.

        Jobs that run are never interrupted: without `wait` they end, and are recorded, after this has returned; what
        had not begun goes back to its store, or is run, too, where that is the memory of this process. A job that
        shuts its own scheduler down is not waited for. The end of the program waits for what is still under way.
        """
        with self._lock:
            if not self.running or self._thread is None:
                raise SchedulerNotRunningError
            engines, executors = self._engines(), list(self._executors.values())
            thread, self._thread, self.state = self._thread, None, STATE_STOPPED
        waits = wait and not self._is_job(engines)
        for engine in engines:
            engine.pause(True)
        closing = thread.later(self._close(thread, engines, executors, wait=waits))
        if waits:
            closing.result()
            thread.join()
            self._listeners.flush(FLUSH_SECONDS)
        else:
            closing.add_done_callback(lambda _: self._listeners.close())
        self._logger.info("Scheduler has been shut down")
        self._listeners.tell_now(SchedulerEvent(EVENT_SCHEDULER_SHUTDOWN))
        self._listeners.close()

    async def _close(
        self, thread: EngineThread, engines: Sequence[StoreEngine], executors: Sequence[BaseExecutor], *, wait: bool
    ) -> None:
        """A store that fails at its end keeps no other from closing."""
        ends = await asyncio.gather(*(engine.close(wait=wait) for engine in engines), return_exceptions=True)
        if executors:  # in a thread: whoever holds the lock may wait for the engine
            await asyncio.to_thread(self._release, executors)
        thread.stop()
        for problem in ends:
            if isinstance(problem, BaseException):
                log.error("a job store could not be closed in order: %s", problem)

    def _release(self, executors: Sequence[BaseExecutor]) -> None:
        """Once nothing of any life runs in them: a job that waits for the lock must not be waited for with it."""
        with self._lock:
            self._lives -= 1
            self._used |= set(executors)
            while self._used and not self._lives:
                self._used.pop().shutdown()

    def _leave(self) -> None:
        """At the end of the program: what is known is recorded, leases are given up, nobody has to wait for them."""
        with contextlib.suppress(SchedulerNotRunningError):
            self.shutdown()

    def pause(self) -> None:
        """Fire nothing until `resume`; what runs goes on."""
        self._switch(STATE_PAUSED, EVENT_SCHEDULER_PAUSED, "Paused scheduler job processing")

    def resume(self) -> None:
        self._switch(STATE_RUNNING, EVENT_SCHEDULER_RESUMED, "Resumed scheduler job processing")

    @abstractmethod
    def wakeup(self) -> None:
        """Look for due jobs now: never needed, since every change wakes the engine itself."""
        with self._lock:
            if self._thread is not None:
                for engine in self._engines():
                    self._thread.soon(engine.wake)

    def _switch(self, state: int, code: int, text: str) -> None:
        with self._lock:
            if self._thread is None:
                raise SchedulerNotRunningError
            if self.state == state:
                return
            self.state = state
            for engine in self._engines():
                engine.pause(state == STATE_PAUSED)
                self._thread.soon(engine.wake)
        self._logger.info(text)
        self._listeners.tell_now(SchedulerEvent(code))

    def _create_default_executor(self) -> BaseExecutor:
        return ThreadPoolExecutor()

    def _create_default_jobstore(self) -> BaseJobStore:
        return MemoryJobStore()


def _check_uwsgi() -> None:
    if not getattr(sys.modules.get("uwsgi"), "has_threads", True):
        raise RuntimeError(
            "The scheduler seems to be running under uWSGI, but threads have been disabled. You must run uWSGI with "
            "the --enable-threads option for the scheduler to work."
        )
