"""How an attempt ended, as a value; what follows from it is decided here, written elsewhere."""

from dataclasses import dataclass
from typing import Final

from waterclock.domain.moment import Moment, seconds
from waterclock.domain.run import RunState

WORKER_LOST: Final = "worker lost: its lease ran out before it reported an end"
LONGEST_DELAY_SECONDS: Final = 3_600.0  # of delays that double


@dataclass(slots=True, kw_only=True)
class Beginning:
    """A process exists for this attempt. Not frozen, as `Attempt` is not."""

    attempt_id: int
    fence: int
    pid: int | None = None
    pid_started_at: int | None = None
    log_path: str | None = None
    run_at: Moment | None = None  # of its run, where that is known: the store finds it sooner


@dataclass(slots=True)
class Lone:
    """The run of an attempt whose success nothing can wait for: no action, no flow, no other run for its slot."""

    org_id: int
    run_id: int
    run_at: Moment
    job_id: int
    job_version: int | None  # None: the job went with this fire, and nobody starts it again


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The end of one attempt; `fence` is what entitles the writer to record it. Not frozen, as `Attempt` is not."""

    attempt_id: int
    fence: int
    state: RunState
    beginning: Beginning | None = None  # where it was not stored before: a short program begins and ends in one write
    exit_code: int | None = None
    exit_signal: int | None = None
    cpu_us: int | None = None
    peak_rss_bytes: int | None = None
    message: str | None = None
    verdict: str | None = None  # of a gate's probe
    output: str | None = None  # the end of what a chain's program printed
    bookmark: str | None = None  # what a program that ended well left for the next run of its job
    bookmark_refused: str | None = None  # why what it left cannot be saved
    progress: str | None = None  # the last that a program said of itself, as JSON
    final: bool = False  # no other attempt follows, whatever retries or probes are left
    job_id: int | None = None  # where the one who ran it knows it: then nobody has to look it up
    lone: Lone | None = None
    run_at: Moment | None = None  # as in its beginning


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """The attempt that follows a failed one."""

    number: int
    due_at: Moment


def plan_retry(
    *,
    was: RunState,
    ended: RunState,
    number: int,
    retries: int,
    delay_seconds: float,
    now: Moment,
    doubles: bool = False,
) -> Retry | None:
    """Only FAILED is tried again: a time-out would time out again, a stop was asked for."""
    if ended is not RunState.FAILED or was is RunState.STOPPING or number >= retries:
        return None
    delay = _doubled(delay_seconds, number) if doubles else delay_seconds
    return Retry(number=number + 1, due_at=now + seconds(delay))


def _doubled(delay_seconds: float, times: int) -> float:
    return min(delay_seconds * 2.0 ** min(times, 64), LONGEST_DELAY_SECONDS)
