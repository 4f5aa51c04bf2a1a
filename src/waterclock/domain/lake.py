"""Lake jobs: their kinds, what they are called while they run, and the tables that their queries name."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from waterclock.domain.moment import Moment
from waterclock.domain.run import Attempt, Phase, RunState

NAMESPACE: Final = "lake"


class LakeKind(StrEnum):
    """The `class_name` of a lake job, which is also its kind in the engine."""

    JAVA = "java_job"
    SQL = "sql_job"
    PYTHON = "python_job"


KINDS: Final = frozenset(LakeKind)


class LakeStatus(StrEnum):
    INITIALIZED = "Initialized"  # it has never run
    QUEUED = "Queued"
    COMPILING = "Compiling"
    RUNNING = "Running"
    FINISHED = "Finished"
    ERROR = "Error"
    KILLED = "Killed"
    UNKNOWN = "Unknown"  # its lease is over, and nobody has decided yet what became of it


class TableFormat(StrEnum):
    PARQUET = "parquet"
    CSV = "csv"
    JSON = "json"
    DELTA = "delta"


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeTable:
    """A name that queries know, and where its rows lie: a path, file://, hdfs:// or s3://."""

    name: str
    format: TableFormat
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeJob:
    """A job of the lake face, with what is known of its runs."""

    id: int
    org_id: int
    display_name: str
    class_name: str
    job_type: str
    creator: str
    definition: Mapping[str, object]  # in the seed's shape, as it was given
    created_at: Moment
    updated_at: Moment
    next_run_at: Moment | None
    last_run: Attempt | None  # the newest attempt of its newest run
    last_ended: Attempt | None  # the newest that has ended
    now: Moment  # of the store, when it was read


_STATUSES: Final[Mapping[RunState, LakeStatus]] = {
    RunState.WAITING: LakeStatus.QUEUED,
    RunState.STARTING: LakeStatus.QUEUED,
    RunState.RUNNING: LakeStatus.RUNNING,
    RunState.STOPPING: LakeStatus.RUNNING,
    RunState.SUCCEEDED: LakeStatus.FINISHED,
    RunState.FAILED: LakeStatus.ERROR,
    RunState.TIMEOUT: LakeStatus.ERROR,
    RunState.ERROR: LakeStatus.ERROR,
    RunState.EXPIRED: LakeStatus.ERROR,
    RunState.STOPPED: LakeStatus.KILLED,
}


def status_of(attempt: Attempt | None, now: Moment) -> LakeStatus:
    """What the lake face calls the state of a run; the views say the same in SQL."""
    if attempt is None:
        return LakeStatus.INITIALIZED
    if not attempt.ended and attempt.lease_until is not None and attempt.lease_until < now:
        return LakeStatus.UNKNOWN
    if attempt.state is RunState.RUNNING and attempt.phase == Phase.BUILDING:
        return LakeStatus.COMPILING
    return _STATUSES[attempt.state]
