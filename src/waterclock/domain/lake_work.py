"""What a worker of others says of a lake run, and what it is told: pure values over the words of the lake face."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.lake import LakeStatus, Status, in_words_of, status_of
from waterclock.domain.lake_sync import SyncStatus
from waterclock.domain.moment import Moment, seconds
from waterclock.domain.run import Attempt, Phase, RunState

QUEUE: Final = "lake"  # the one that such workers serve

PHASES: Final[Mapping[LakeStatus, Phase]] = {
    LakeStatus.COMPILING: Phase.BUILDING,
    LakeStatus.RUNNING: Phase.EXECUTING,
}
ENDS: Final[Mapping[LakeStatus, RunState]] = {
    LakeStatus.FINISHED: RunState.SUCCEEDED,
    LakeStatus.ERROR: RunState.FAILED,
    LakeStatus.KILLED: RunState.STOPPED,
}
STATUSES: Final = (LakeStatus.QUEUED, *PHASES, *ENDS)  # that can be reported
# Of a sync its own words are as good.
WORDS: Final[Mapping[str, LakeStatus]] = {
    **{str(status): status for status in STATUSES},
    SyncStatus.SYNCING: LakeStatus.RUNNING,
    SyncStatus.SYNCED: LakeStatus.FINISHED,
    SyncStatus.TERMINATED: LakeStatus.KILLED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """By a worker, of a run; `attempt` is None where it does not tell one try from another."""

    run_id: int
    status: LakeStatus
    job_id: int | None = None
    attempt: int | None = None
    message: str | None = None
    progress: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_end(self) -> bool:
        return self.status in ENDS

    def added_to(self, before: Mapping[str, object]) -> Mapping[str, object]:
        """How far the run has come with this. What it says meanwhile is part of it, its last words are its message."""
        counted = {**before, **self.progress, "message": None if self.is_end else self.message}
        return {name: value for name, value in counted.items() if value not in (None, "")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What became of it: `taken`, or it came late; what the run is, and whether its program has to die."""

    taken: bool
    status: Status
    kill: bool = False


def late(attempt: Attempt, told: Told, now: Moment) -> Heard:
    """Of a run that has ended: the same end again means that our answer was lost; anything else changes nothing."""
    status = status_of(attempt, now, attempt.kind)
    is_again = status is in_words_of(attempt.kind, told.status)
    return Heard(taken=is_again, status=status, kill=not told.is_end)


def is_over_time(attempt: Attempt, now: Moment) -> bool:
    if attempt.timeout_seconds is None or attempt.started_at is None:
        return False
    return now >= attempt.started_at + seconds(attempt.timeout_seconds)


def is_untaken(attempt: Attempt) -> bool:
    """It was offered, and nothing was said of it yet."""
    return attempt.started_at is None and attempt.phase is None and not attempt.ended
