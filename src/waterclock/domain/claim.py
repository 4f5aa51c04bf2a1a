"""A claim: which node may run an attempt, until when, and what it needs to know to do so."""

from dataclasses import dataclass

from waterclock.domain.job import JobSpec
from waterclock.domain.lake import LakeTable
from waterclock.domain.lake_sync import LakeSource
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Lone
from waterclock.domain.placement import Others
from waterclock.domain.run import Attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimant:
    """The node that asks, and what it can run."""

    node: str  # a fresh UUID per boot
    host: str  # stays the same over restarts: what was started there can be adopted there
    queues: tuple[str, ...] = ("default",)
    labels: tuple[str, ...] = ()  # it takes what asks for some of them, or for none
    roles: tuple[str, ...] = ("",)
    org_id: int | None = None  # a worker over HTTP sees the runs of its organisation alone
    memory_mb: int = 0  # what it gives to runs; 0: it does not count
    free_mb: int = 0  # of it, at this moment
    others_room: int = 0  # slots that other workers had free when it last heard of them; 0: it takes all it can
    look_seconds: float = 0.0  # how fresh a sign of life must be to count as another worker; 0: it does not look


@dataclass(frozen=True, slots=True, kw_only=True)
class Taker:
    """A node that has room for so many runs of a queue: what it fires itself it may have at once, without a claim."""

    node: str
    host: str
    room: int
    ttl_seconds: float


@dataclass(slots=True, kw_only=True)
class Claimed:
    """An attempt that is ours until its lease ends, and the version of the job that it runs.

    Not frozen, as `Attempt` is not.
    """

    attempt: Attempt
    spec: JobSpec
    bookmark: str | None = None  # what the job's last run left for this one
    lone: Lone | None = None  # where it is known that nothing waits for its end
    tables: tuple[LakeTable, ...] = ()  # of a query: those of its organisation
    sources: tuple[LakeSource, ...] = ()  # of a sync and a probe: those that its task names
    program: object = None  # where it was made ready before it was claimed


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    claimed: tuple[Claimed, ...]
    next_due_at: Moment | None  # the next delayed attempt, where nothing was left behind
    now: Moment
    left: bool = False  # to the other workers: what this one could have taken
    others: Others | None = None  # where it looked
