"""A claim: which node may run an attempt, until when, and what it needs to know to do so."""

from dataclasses import dataclass

from waterclock.domain.job import JobSpec
from waterclock.domain.moment import Moment
from waterclock.domain.run import Attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimant:
    """The node that asks, and what it can run."""

    node: str  # a fresh UUID per boot
    host: str  # stays the same over restarts: what was started there can be adopted there
    queues: tuple[str, ...] = ("default",)
    labels: tuple[str, ...] = ("",)
    roles: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taker:
    """A node that has room for so many runs of a queue: what it fires itself it may have at once, without a claim."""

    node: str
    host: str
    room: int
    ttl_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """An attempt that is ours until its lease ends, and the version of the job that it runs."""

    attempt: Attempt
    spec: JobSpec
    bookmark: str | None = None  # what the job's last run left for this one


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    claimed: tuple[Claimed, ...]
    next_due_at: Moment | None  # the next delayed attempt, where nothing was left behind
    now: Moment
