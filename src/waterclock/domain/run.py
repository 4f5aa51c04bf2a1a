"""A run and its attempts: their states, the moves allowed between them, and their ids."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from waterclock.domain.moment import Moment


class RunState(StrEnum):
    WAITING = "WAITING"  # a cap or an earlier action holds it back
    STARTING = "STARTING"  # durable, not yet a process
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"  # asked to stop; something of it may still live
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    STOPPED = "STOPPED"  # nothing of it lives
    ERROR = "ERROR"  # its job was gone when the trigger fired
    EXPIRED = "EXPIRED"  # it waited too long
    SKIPPED = "SKIPPED"  # a fire that policy did not run


_S = RunState
_WIRE_ID: Final = re.compile(r"jr_([0-9a-f]{12})[0-9a-f]{52}")

NEXT: Final[Mapping[RunState, frozenset[RunState]]] = {
    _S.WAITING: frozenset({_S.STARTING, _S.STOPPING, _S.EXPIRED, _S.ERROR, _S.SKIPPED}),
    _S.STARTING: frozenset({_S.RUNNING, _S.FAILED, _S.STOPPING, _S.EXPIRED, _S.ERROR}),
    _S.RUNNING: frozenset({_S.SUCCEEDED, _S.FAILED, _S.TIMEOUT, _S.STOPPING}),
    # A program may end by itself before the stop reaches it: then the record says how it ended.
    _S.STOPPING: frozenset({_S.STOPPED, _S.SUCCEEDED, _S.FAILED, _S.TIMEOUT}),
    _S.SUCCEEDED: frozenset(),
    _S.FAILED: frozenset(),
    _S.TIMEOUT: frozenset(),
    _S.STOPPED: frozenset(),
    _S.ERROR: frozenset(),
    _S.EXPIRED: frozenset(),
    _S.SKIPPED: frozenset(),
}

LIVE: Final = frozenset(state for state, following in NEXT.items() if following)
ENDED: Final = frozenset(NEXT) - LIVE
UNBEGUN: Final = frozenset({_S.WAITING, _S.STARTING})  # those that may have a reason to wait
ACTIVE: Final = LIVE - {_S.WAITING}  # those that take one of their job's slots


def may_move(was: RunState, to: RunState) -> bool:
    return to in NEXT[was]


class WaitReason(StrEnum):
    """Why a run is WAITING: stored, not guessed."""

    ACTION = "an earlier action of the same fire has not ended"
    SLOT = "the job has its number of concurrent runs"


class Phase(StrEnum):
    """What a RUNNING attempt is doing, where a face tells them apart."""

    PREPARING = "preparing"
    BUILDING = "building"
    EXECUTING = "executing"


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One try at a run: what the Glue face calls a job run.

    Nobody changes one; it is not frozen because that would cost five times as much as to make it.
    """

    id: int
    run_id: int
    run_at: Moment  # the fire's instant, or the moment of the call: part of every key, for partitions by time
    org_id: int
    namespace: str
    number: int  # from 0
    wire_id: str
    state: RunState
    fence: int
    node: str | None
    host: str | None
    lease_until: Moment | None
    due_at: Moment
    pid: int | None = None
    exit_code: int | None = None
    exit_signal: int | None = None
    cpu_us: int | None = None
    peak_rss_bytes: int | None = None
    message: str | None = None
    log_path: str | None = None
    created_at: Moment
    started_at: Moment | None = None
    ended_at: Moment | None = None
    updated_at: Moment
    # of its run
    job_id: int | None
    job_name: str
    job_version: int | None
    kind: str
    owner: str
    requested_by: str
    trigger_id: int | None
    trigger_name: str | None
    previous_wire_id: str | None = None
    wait_reason: str | None = None
    phase: str | None = None
    attempts: int  # how many the run has so far
    timeout_seconds: int | None
    # what it asks of its worker
    queue: str = "default"
    labels: str = ""  # joined
    role: str = ""  # main or bkp, where it matters which of them runs it
    memory_mb: int = 0
    probe_until: Moment | None = None  # of a gate: its attempts are probes, the last one due then
    verdict: str | None = None  # what a probe found
    output: str | None = None  # the end of what a chain's program printed
    arguments: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        return self.state in ENDED


def run_wire_id(at: Moment, entropy: bytes) -> str:
    """`jr_` and 64 hex digits that begin with the time, so that ids sort and partition by it."""
    return f"jr_{at // 1_000:012x}{entropy.hex()[:52]}"


def wire_time(wire_id: str) -> Moment | None:
    """When a run of this id was due, to the millisecond; None: it is none of our ids."""
    match = _WIRE_ID.match(wire_id)
    return int(match[1], 16) * 1_000 if match else None


def attempt_wire_id(run_id: str, number: int) -> str:
    return run_id if number == 0 else f"{run_id}_attempt_{number}"
