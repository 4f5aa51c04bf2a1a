"""What listeners are told in place of an error of the job's own. A worker process imports this too."""


class RemoteError(Exception):
    """An error, or a result, that could not be brought over from the worker process; it says which and why."""


class WorkerDied(RuntimeError):
    """The process of a call ended without a word: how it ended is the text."""


class JobTimeout(Exception):
    """The job did not end within its time-out: it was killed or, where that cannot be, given up."""


class JobStopped(Exception):
    """The job was stopped before it ended by itself."""
