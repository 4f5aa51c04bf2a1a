"""A job of the library face: a callable of the program itself, and when it runs. One job, one trigger, one name."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.job import JobSpec
from waterclock.domain.moment import Moment
from waterclock.domain.planning import Misfire
from waterclock.domain.schedule import Schedule
from waterclock.domain.trigger import FireRules

NAMESPACE: Final = "library"
ORGANISATION: Final = 1  # the first that `waterclock up` makes: a store may be shared with a server
OWNER: Final = "library"
LONGEST_EXECUTOR: Final = 40
LONGEST_ID: Final = 191

# A job that has fired for the last time is removed; one too many at once is skipped.
RULES: Final = FireRules(sequential=False, drop_exhausted=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryJob:
    """What is kept of it. Where the store is this process's own memory, `definition` and `trigger` hold objects."""

    name: str  # its id, as the program knows it
    spec: JobSpec
    definition: Mapping[str, object]  # what the face declared of the job
    trigger: Mapping[str, object]  # and of its trigger
    schedule: Schedule
    misfire: Misfire
    next_fire_at: Moment | None  # None: paused
    problem: str | None = None  # why it is quarantined: kept, paused and reported


@dataclass(slots=True)
class ToRun:
    """A call that is to be made at once, and then never again: what it is known by, and what is to be run."""

    name: str
    spec: JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredJob:
    """The same as the store has it now."""

    job: LibraryJob
    id: int
    version: int  # of what it runs: a run keeps the version that it was fired with
    trigger_id: int


class PastState(StrEnum):
    """What became of one due instant; a run's own states have the names of the engine."""

    MISSED = "MISSED"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """One line of a job's history: a run, or instants that were not run, with the reason."""

    scheduled_at: Moment
    state: str  # a RunState, or MISSED
    started_at: Moment | None = None
    ended_at: Moment | None = None
    attempts: int = 0
    result: str | None = None  # what it returned, as JSON
    message: str | None = None
    wire_id: str | None = None
    first_at: Moment | None = None  # of several instants in one line
    count: int = 1


def queue_of(namespace: str, executor: str) -> str:
    """Where the runs of an executor wait: only processes that have an executor of that name take them."""
    if not executor or len(executor) > LONGEST_EXECUTOR:
        raise InvalidInput(f"must have 1–{LONGEST_EXECUTOR} characters", field="executor", value=executor)
    return f"{namespace}/{executor}"
