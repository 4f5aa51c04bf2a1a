"""What the engine did, as the events that listeners know."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Final

from waterclock.domain.firing import Skipped, SkippedFor
from waterclock.domain.moment import Moment, to_datetime
from waterclock.domain.outcome import Outcome
from waterclock.domain.run import RunState
from waterclock.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_EXECUTED,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    EVENT_JOB_REMOVED,
    EVENT_JOB_SUBMITTED,
    JobEvent,
    JobExecutionEvent,
    JobSubmissionEvent,
)
from waterclock.executors.base import Done, How
from waterclock.executors.errors import JobStopped, JobTimeout
from waterclock.faces.library.listeners import Listeners
from waterclock.faces.library.programs import CallProgram
from waterclock.faces.library.references import Unloadable
from waterclock.stores.ops.firing import Fired

log: Final = logging.getLogger("waterclock.scheduler")


class Telling:
    """Of one job store. Nothing is built that nobody listens to."""

    def __init__(self, listeners: Listeners, alias: str, zone: tzinfo) -> None:
        self._listeners = listeners
        self._alias = alias
        self._zone = zone

    def fired(self, fired: Fired) -> None:
        for skipped in fired.skipped:
            self._skipped(skipped)
        self.gone(fired.exhausted)

    def gone(self, names: Sequence[str]) -> None:
        for name in names:
            log.debug("Removed job %s: its trigger has no other fire", name)
            if self._listeners.wants(EVENT_JOB_REMOVED):
                self._listeners.tell(JobEvent(EVENT_JOB_REMOVED, name, self._alias))

    def submitted(self, programs: Sequence[CallProgram]) -> None:
        if self._listeners.wants(EVENT_JOB_SUBMITTED):
            for program in programs:
                at = [self._time(program.run_at)]
                self._listeners.tell(JobSubmissionEvent(EVENT_JOB_SUBMITTED, program.job_id, self._alias, at))

    def ended(self, program: CallProgram, done: Done, outcome: Outcome) -> None:
        if done.how is How.RETURNED:
            if self._listeners.wants(EVENT_JOB_EXECUTED):
                at = self._time(program.run_at)
                event = JobExecutionEvent(EVENT_JOB_EXECUTED, program.job_id, self._alias, at, retval=done.value)
                self._listeners.tell(event)
            return
        error = done.error if done.how is not How.KILLED and done.error else _error(done, outcome)
        log.error("Job %s raised an exception", program.job_id, exc_info=error)
        self._failed(program.job_id, program.run_at, error, done.traceback)

    def quarantined(self, job_id: str, run_at: Moment, problem: Unloadable) -> None:
        log.error("Job %s is quarantined: %s. It is kept, and runs again after resume_job", job_id, problem)
        self._failed(job_id, run_at, problem, "")

    def _failed(self, job_id: str, run_at: Moment, error: BaseException, traceback: str) -> None:
        if self._listeners.wants(EVENT_JOB_ERROR):
            at = self._time(run_at)
            self._listeners.tell(
                JobExecutionEvent(
                    EVENT_JOB_ERROR, job_id, self._alias, at, exception=error, traceback=traceback or None
                )
            )

    def _skipped(self, skipped: Skipped) -> None:
        at = self._time(skipped.last_at)
        match skipped.why:
            case SkippedFor.COALESCED:
                log.debug("Job %s: %d run time(s) %s", skipped.name, skipped.count, skipped.reason)
            case SkippedFor.MISSED:
                log.warning("Run time of job %s was missed (%d in all): %s", skipped.name, skipped.count, at)
                for instant in skipped.instants if self._listeners.wants(EVENT_JOB_MISSED) else ():
                    missed = self._time(instant)
                    self._listeners.tell(JobExecutionEvent(EVENT_JOB_MISSED, skipped.name, self._alias, missed))
            case SkippedFor.OVER_CAP:
                log.warning("Execution of job %s skipped: %s", skipped.name, skipped.reason)
                if self._listeners.wants(EVENT_JOB_MAX_INSTANCES):
                    event = JobSubmissionEvent(EVENT_JOB_MAX_INSTANCES, skipped.name, self._alias, [at])
                    self._listeners.tell(event)

    def _time(self, at: Moment) -> datetime:
        return to_datetime(at).astimezone(self._zone)


def _error(done: Done, outcome: Outcome) -> Exception:
    if outcome.state is RunState.TIMEOUT:
        return JobTimeout(outcome.message)
    return JobStopped(outcome.message or done.how.value)
