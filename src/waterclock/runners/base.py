"""The seam between the engine and whatever runs programs: start, events, stop with proof, adopt."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from waterclock.domain.outcome import Outcome


class End(StrEnum):
    """How a program ended, as its keeper saw it."""

    EXITED = "EXITED"  # by itself: see exit_code or signal
    STOPPED = "STOPPED"  # we were asked to stop it, and nothing of it is left
    TIMEOUT = "TIMEOUT"  # its deadline passed; nothing of it is left
    LEASE_LOST = "LEASE_LOST"  # its lease could not be renewed; nothing of it is left
    LOST = "LOST"  # its keeper or supervisor died; nothing of it is left, how it ended is unknown
    NOT_STARTED = "NOT_STARTED"  # it could not be executed: see message


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Per program; None means the host's own."""

    memory_bytes: int | None = None
    cpu_seconds: int | None = None
    processes: int | None = None
    open_files: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """All there is to know to run one attempt; nothing is looked up later."""

    attempt_id: int
    fence: int
    argv: tuple[str, ...]  # argv[0] is executed as it is (absolute), or the script when `warm`
    warm: bool  # a Python script, run in a fork of the warm interpreter
    env: Mapping[str, str]  # the whole environment
    cwd: str
    log_path: str
    log_cap_bytes: int = 64 * 1024 * 1024
    timeout_seconds: float | None = None
    grace_seconds: float = 10.0  # between TERM and KILL
    lease_until: float = 0.0  # by this host's clock: handed over later than that it never begins
    user: str | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The process exists; pid_started_at tells it from a later one with the same number."""

    attempt_id: int
    fence: int
    pid: int
    pid_started_at: int  # /proc/<pid>/stat field 22, clock ticks since boot


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Nothing of the program lives any more."""

    attempt_id: int
    fence: int
    end: End
    exit_code: int | None = None
    signal: int | None = None
    cpu_seconds: float = 0.0
    peak_rss_bytes: int = 0
    message: str | None = None


Event = Begun | Ended


class Runner(Protocol):
    """Starts what it is given at most once; every program yields one Begun at most and one Ended exactly.

    `Ended` is repeated (after a reconnect, a restart) until `forget` says that it is stored.
    """

    async def start(self, programs: Sequence[Program]) -> None: ...

    def events(self) -> AsyncIterator[Sequence[Event | Outcome]]:
        """Batches as they come: whatever is at hand, never one by one under load.

        A runner of callables, whose ends need no interpretation, may say itself how an attempt is to be recorded.
        """
        ...

    async def stop(self, attempt_ids: Sequence[int]) -> None:
        """TERM, grace, KILL to everything that each of them started; the proof is its Ended."""
        ...

    async def held(self) -> Sequence[Begun]:
        """What is alive or ended and not yet forgotten: the attempts to adopt after a restart."""
        ...

    async def forget(self, attempt_ids: Sequence[int]) -> None: ...


class Leases(Protocol):
    """How a supervisor renews what it holds; a number missing from the answer is no longer ours."""

    async def renew(self, held: Sequence[tuple[int, int]], ttl_seconds: float) -> frozenset[int]:
        """(attempt_id, fence) pairs in, the attempt ids that are still ours out."""
        ...
