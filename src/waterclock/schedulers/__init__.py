"""Schedulers: in the background, in the foreground, or beside an asyncio event loop."""


class SchedulerAlreadyRunningError(Exception):
    """The scheduler runs already: it can be neither started nor configured."""

    def __str__(self) -> str:
        return "Scheduler is already running"


class SchedulerNotRunningError(Exception):
    """The scheduler does not run."""

    def __str__(self) -> str:
        return "Scheduler is not running"
