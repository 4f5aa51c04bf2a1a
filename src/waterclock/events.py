"""Events of the library's scheduler: what listeners are told, under APScheduler 3's names and numbers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

EVENT_SCHEDULER_STARTED: Final = 1 << 0
EVENT_SCHEDULER_START: Final = EVENT_SCHEDULER_STARTED  # its name in older programs
EVENT_SCHEDULER_SHUTDOWN: Final = 1 << 1
EVENT_SCHEDULER_PAUSED: Final = 1 << 2
EVENT_SCHEDULER_RESUMED: Final = 1 << 3
EVENT_EXECUTOR_ADDED: Final = 1 << 4
EVENT_EXECUTOR_REMOVED: Final = 1 << 5
EVENT_JOBSTORE_ADDED: Final = 1 << 6
EVENT_JOBSTORE_REMOVED: Final = 1 << 7
EVENT_ALL_JOBS_REMOVED: Final = 1 << 8
EVENT_JOB_ADDED: Final = 1 << 9
EVENT_JOB_REMOVED: Final = 1 << 10
EVENT_JOB_MODIFIED: Final = 1 << 11
EVENT_JOB_EXECUTED: Final = 1 << 12
EVENT_JOB_ERROR: Final = 1 << 13
EVENT_JOB_MISSED: Final = 1 << 14
EVENT_JOB_SUBMITTED: Final = 1 << 15
EVENT_JOB_MAX_INSTANCES: Final = 1 << 16
EVENT_ALL: Final = (1 << 17) - 1

__all__ = [
    "EVENT_ALL",
    "EVENT_ALL_JOBS_REMOVED",
    "EVENT_EXECUTOR_ADDED",
    "EVENT_EXECUTOR_REMOVED",
    "EVENT_JOBSTORE_ADDED",
    "EVENT_JOBSTORE_REMOVED",
    "EVENT_JOB_ADDED",
    "EVENT_JOB_ERROR",
    "EVENT_JOB_EXECUTED",
    "EVENT_JOB_MAX_INSTANCES",
    "EVENT_JOB_MISSED",
    "EVENT_JOB_MODIFIED",
    "EVENT_JOB_REMOVED",
    "EVENT_JOB_SUBMITTED",
    "EVENT_SCHEDULER_PAUSED",
    "EVENT_SCHEDULER_RESUMED",
    "EVENT_SCHEDULER_SHUTDOWN",
    "EVENT_SCHEDULER_STARTED",
    "JobEvent",
    "JobExecutionEvent",
    "JobSubmissionEvent",
    "SchedulerEvent",
]


class SchedulerEvent:
    """Something about the scheduler itself; `alias` names the job store or executor that came or went."""

    def __init__(self, code: int, alias: str | None = None) -> None:
        self.code = code
        self.alias = alias

    def __repr__(self) -> str:
        return f"<{type(self).__name__} (code={self.code})>"


class JobEvent(SchedulerEvent):
    """Something about a job; `jobstore` is the alias of the store that holds it."""

    def __init__(self, code: int, job_id: str, jobstore: str | None) -> None:
        super().__init__(code)
        self.job_id = job_id
        self.jobstore = jobstore


class JobSubmissionEvent(JobEvent):
    """A job was handed to its executor, or had too many instances already, for these moments."""

    def __init__(self, code: int, job_id: str, jobstore: str | None, scheduled_run_times: list[datetime]) -> None:
        super().__init__(code, job_id, jobstore)
        self.scheduled_run_times = scheduled_run_times


class JobExecutionEvent(JobEvent):
    """A run ended, or was missed: what it returned, or what it raised with the formatted traceback."""

    def __init__(
        self,
        code: int,
        job_id: str,
        jobstore: str,
        scheduled_run_time: datetime,
        retval: Any = None,
        exception: BaseException | None = None,
        traceback: str | None = None,
    ) -> None:
        super().__init__(code, job_id, jobstore)
        self.scheduled_run_time = scheduled_run_time
        self.retval = retval
        self.exception = exception
        self.traceback = traceback
