"""AWS's own sentences, for what scripts and test suites compare word by word; all else keeps our words.

`worded` says an error of the domain as this face says it. `Worded` is a refusal of the face itself: its message is one
of the sentences below, without the member's name before it.
"""

from typing import Final

from waterclock.domain.errors import ConcurrentRunsExceeded, InvalidInput, NotFound, WaterclockError

ALREADY_RUNNING: Final = "Job with name {name} already running"
NOT_FOUND: Final = {
    "job": "Job {name} not found.",
    "run": "Job run {name} not found.",
    "bookmark of job": "Continuation for job {name} not found",
    "trigger": "Trigger {name} not found.",
    "crawler": "Crawler {name} not found.",
    "workflow": "Entity not found",
    "workflow run": "Entity not found",
}

TWO_TARGETS: Final = "Both JobName and CrawlerName cannot be set together in an action"
NO_PREDICATE: Final = "Predicate cannot be null or empty"
NO_OPERATOR: Final = "Logical operator cannot be null or empty"
NOTHING_WATCHED: Final = "JobName or CrawlerName in condition cannot be null or empty"
NO_STATE: Final = "State cannot be null or empty, choose from one of the following {watched} state: [{states}]"
TWO_CAPACITIES: Final = "Please set only Allocated Capacity or Max Capacity"
CAPACITY_AND_WORKERS: Final = "Please do not set Max Capacity if using Worker Type and Number of Workers."


class Worded(InvalidInput):
    """`field` is for those who ask; the caller reads the sentence alone."""

    def __str__(self) -> str:
        return self.reason


def worded(error: WaterclockError) -> str:
    match error:
        case NotFound(kind=kind, name=name) if kind in NOT_FOUND:
            return NOT_FOUND[kind].format(name=name)
        case ConcurrentRunsExceeded(kind="job", name=name):
            return ALREADY_RUNNING.format(name=name)
    return str(error)
