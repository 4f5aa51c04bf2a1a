"""The errors of the library that a program may want to catch, under one name."""

from waterclock.domain.errors import CommitUnknown, Unavailable, WaterclockError
from waterclock.executors.errors import JobStopped, JobTimeout, RemoteError, WorkerDied
from waterclock.faces.library.references import Unloadable
from waterclock.jobstores.base import ConflictingIdError, JobLookupError, TransientJobError
from waterclock.schedulers import SchedulerAlreadyRunningError, SchedulerNotRunningError

__all__ = [
    "CommitUnknown",
    "ConflictingIdError",
    "JobLookupError",
    "JobStopped",
    "JobTimeout",
    "RemoteError",
    "SchedulerAlreadyRunningError",
    "SchedulerNotRunningError",
    "TransientJobError",
    "Unavailable",
    "Unloadable",
    "WaterclockError",
    "WorkerDied",
]
