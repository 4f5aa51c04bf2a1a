"""Lake jobs: their kinds, what they are called while they run, and the tables that their queries name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from waterclock.domain.lake_sync import PROBE, SYNC_KINDS, SyncStatus
from waterclock.domain.moment import Moment
from waterclock.domain.run import Attempt, Phase, RunState

if TYPE_CHECKING:  # to read it takes longer than all else that the program of a lake job needs to begin
    from waterclock.domain.schedule import Schedule

NAMESPACE: Final = "lake"

T = TypeVar("T")


class LakeKind(StrEnum):
    """The `class_name` of a lake job, which is also its kind in the engine."""

    JAVA = "java_job"
    SQL = "sql_job"
    PYTHON = "python_job"


KINDS: Final[frozenset[str]] = frozenset(LakeKind) | SYNC_KINDS  # what a job's `class_name` can be
PROGRAMS: Final = KINDS | {PROBE}  # what runs as a program that is told by an order, and heard by its report


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


class SortField(StrEnum):
    """What a list of lake jobs can be sorted by."""

    JOB_ID = "job_id"
    DISPLAY_NAME = "display_name"
    JOB_TYPE = "job_type"
    CREATOR_ID = "creator_id"
    CREATED_TIME = "created_time"
    UPDATED_TIME = "updated_time"
    NEXT_RUN_TIME = "next_run_time"
    LAST_RUN_TIME = "last_run_time"


class RunSortField(StrEnum):
    """What the history can be sorted by."""

    RUN_ID = "run_id"
    JOB_ID = "job_id"
    START_TIME = "start_time"
    END_TIME = "end_time"
    UPDATED_TIME = "updated_time"


Field = TypeVar("Field", SortField, RunSortField)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort(Generic[Field]):
    field: Field
    descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Generic[T]):
    """A piece of a list, and how many there are in all."""

    items: Sequence[T]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeDraft:
    """What a caller decides about a lake job."""

    display_name: str
    class_name: str  # a LakeKind or a SyncKind, also where an alias was sent
    job_type: str
    definition: Mapping[str, object]  # in the seed's shape, whole, as it was given
    task: Mapping[
        str, object
    ]  # of it, what a worker needs to run it; the store adds the numbers of the sources it names
    schedule_time: Mapping[str, object]  # as it was given: one that is the same leaves the trigger as it is
    schedule: "Schedule | None"  # None: only by hand
    every_minutes: int | None = None  # between two runs, where the schedule has such a distance
    retries: int = 0
    timeout_seconds: int | None = None
    queue: str = "default"
    labels: tuple[str, ...] = ()
    source_id: int | None = None  # that it reads, once the store has found it


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
    last_run: Attempt | None  # the newest attempt of the run that lives, or else of the newest
    last_ended: Attempt | None  # the newest attempt of the newest run that has ended
    now: Moment  # of the store, when it was read
    progress: Mapping[str, object] = field(default_factory=dict)  # what its newest run has said of itself


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeRun:
    """A run of a lake job, shown by its newest attempt; the job may be gone, its name stays."""

    attempt: Attempt
    job_id: int
    display_name: str
    class_name: str
    job_type: str
    progress: Mapping[str, object]
    now: Moment


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


# What a sync calls the same.
_OF_SYNCS: Final[Mapping[LakeStatus, SyncStatus]] = {
    LakeStatus.INITIALIZED: SyncStatus.INIT,
    LakeStatus.QUEUED: SyncStatus.QUEUED,
    LakeStatus.COMPILING: SyncStatus.SYNCING,
    LakeStatus.RUNNING: SyncStatus.SYNCING,
    LakeStatus.FINISHED: SyncStatus.SYNCED,
    LakeStatus.ERROR: SyncStatus.ERROR,
    LakeStatus.KILLED: SyncStatus.TERMINATED,
    LakeStatus.UNKNOWN: SyncStatus.UNKNOWN,
}
Status = LakeStatus | SyncStatus


def status_of(attempt: Attempt | None, now: Moment, kind: str) -> Status:
    """What the lake face calls the state of a run, in the words of the job's kind; the views say the same in SQL."""
    return in_words_of(kind, _status_of(attempt, now))


def in_words_of(kind: str, status: LakeStatus) -> Status:
    return _OF_SYNCS[status] if kind in SYNC_KINDS else status


def _status_of(attempt: Attempt | None, now: Moment) -> LakeStatus:
    if attempt is None:
        return LakeStatus.INITIALIZED
    if not attempt.ended and attempt.lease_until is not None and attempt.lease_until < now:
        return LakeStatus.UNKNOWN
    if attempt.state is RunState.RUNNING and attempt.phase == Phase.BUILDING:
        return LakeStatus.COMPILING
    return _STATUSES[attempt.state]
