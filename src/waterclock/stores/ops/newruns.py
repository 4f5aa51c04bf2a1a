"""New rows for runs and their first attempts: many at once, in two statements."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.gate import Probing
from waterclock.domain.job import Job, JobSpec
from waterclock.domain.moment import Moment, seconds
from waterclock.domain.outcome import Lone
from waterclock.domain.placement import asked_mb
from waterclock.domain.run import ENDED, LIVE, Attempt, RunState, attempt_wire_id, run_wire_id
from waterclock.stores.base import Kind, Topic, Tx, Values
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.room import raised
from waterclock.stores.ops.rows import dumped

NOTHING_ELSE: Final[Mapping[str, Sequence[Values]]] = {}


@dataclass(slots=True, kw_only=True)
class NewRun:
    """A run as decided, before it has a number. Not frozen, as `Attempt` is not."""

    org_id: int
    namespace: str
    job: Job | None  # None: gone, or not a job
    job_name: str
    owner: str
    requested_by: str
    run_at: Moment
    state: RunState
    wait_reason: str | None = None
    message: str | None = None
    fire_id: int | None = None
    action_no: int = 0
    has_next: bool = False
    trigger_id: int | None = None
    trigger_name: str | None = None
    flow_run_id: int | None = None
    flow_node: str | None = None
    previous_wire_id: str | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    timeout_seconds: int | None = None
    notify_after_seconds: int | None = None
    role: str = ""
    probing: Probing | None = None  # of a gate: its own measure of retries
    probe_until: Moment | None = None
    wire_id: str = ""  # made when it is inserted, where the caller has not told it already
    due_at: Moment | None = None  # when it may begin, where that is not at once
    taker: Taker | None = None  # who runs it, where that is known already
    lone: bool = False  # nothing will wait for its end
    last: bool = False  # its job goes with the fire that starts it


@dataclass(slots=True, kw_only=True)
class Inserted:
    run_id: int
    attempt_id: int
    wire_id: str
    state: RunState
    claimed: Claimed | None = None


async def insert_runs(tx: Tx, new: Sequence[NewRun], now: Moment, moves: Moves) -> list[Inserted]:
    """A SKIPPED run has no attempt: it is a record of what was not run. Their moves are the caller's to write."""
    inserted, batches = await _numbered(tx, new, now, moves)
    await tx.run_together(batches)
    return inserted


async def insert_runs_with_moves(
    tx: Tx, new: Sequence[NewRun], now: Moment, besides: Mapping[str, Sequence[Values]] = NOTHING_ELSE
) -> list[Inserted]:
    """As `insert_runs`, where nothing else moves; and what else is to be inserted, in the same trip."""
    moves = Moves()
    inserted, batches = await _numbered(tx, new, now, moves)
    await tx.run_together({**besides, **batches, **moves.batch(now)})
    return inserted


async def _numbered(
    tx: Tx, new: Sequence[NewRun], now: Moment, moves: Moves
) -> tuple[list[Inserted], dict[str, list[Values]]]:
    """The runs and their rows."""
    if not new:
        return [], {}
    numbers = iter(await tx.numbers(Kind.RUN, 2 * len(new)))
    entropy = secrets.token_bytes(26 * len(new))
    inserted: list[Inserted] = []
    settled: dict[tuple[int, int], Values] = {}
    runs: list[Values] = []
    attempts: list[Values] = []
    for index, run in enumerate(new):
        run_id, attempt_id = next(numbers), next(numbers)
        wire_id = run.wire_id or run_wire_id(run.run_at, entropy[26 * index : 26 * index + 26])
        claimed = _claimed(run, run_id, attempt_id, wire_id, now) if run.taker else None
        inserted.append(
            Inserted(run_id=run_id, attempt_id=attempt_id, wire_id=wire_id, state=run.state, claimed=claimed)
        )
        spec = run.job.spec if run.job else None
        key = (id(spec), id(run.probing))  # both live as long as this call
        if key not in settled:
            settled[key] = _settled(spec, run.probing)
        runs.append(_run_row(run, run_id, wire_id, settled[key], now))
        if run.state is not RunState.SKIPPED:
            attempts.append(_attempt_row(run, runs[-1], attempt_id, now))
            moves.add(run.org_id, attempt_id, None, run.state, run.message)
    if any(run.state is RunState.STARTING and run.taker is None for run in new):
        tx.wake(Topic.ATTEMPTS)
    started = [run.job for run in new if run.job and run.state in LIVE]
    return inserted, {"insert_run": runs, "insert_attempt": attempts, **raised(started)}


def _run_row(run: NewRun, run_id: int, wire_id: str, settled: Values, now: Moment) -> dict[str, object]:
    return {
        **settled,
        "id": run_id,
        "run_at": run.run_at,
        "org_id": run.org_id,
        "namespace": run.namespace,
        "wire_id": wire_id,
        "job_id": run.job.id if run.job else None,
        "job_name": run.job_name,
        "job_version": run.job.version if run.job else None,
        "owner": run.owner,
        "requested_by": run.requested_by,
        "fire_id": run.fire_id,
        "action_no": run.action_no,
        "has_next": int(run.has_next),
        "trigger_id": run.trigger_id,
        "trigger_name": run.trigger_name,
        "flow_run_id": run.flow_run_id,
        "flow_node": run.flow_node,
        "previous_wire_id": run.previous_wire_id,
        "state": run.state,
        "wait_reason": run.wait_reason,
        "message": run.message,
        "role": run.role,
        "arguments": dumped(run.arguments) if run.arguments else "{}",
        "settings": dumped(run.settings) if run.settings else "{}",
        "attempts": 1,
        "timeout_seconds": run.timeout_seconds or settled["timeout_seconds"],
        "notify_after_seconds": run.notify_after_seconds or settled["notify_after_seconds"],
        "probe_until": run.probe_until,
        "created_at": now,
        "ended_at": now if run.state in ENDED else None,
        "updated_at": now,
    }


def _settled(spec: JobSpec | None, probing: Probing | None) -> dict[str, object]:
    """What is the same in all runs of a job."""
    if probing:
        tries = _tries(probing.tolerates, probing.every_seconds)
    elif spec:
        tries = _tries(spec.retries, spec.retry_delay_seconds, doubles=spec.retry_doubles)
    else:
        tries = _tries(0, 0)
    return {
        "kind": spec.kind if spec else "",
        "queue": spec.queue if spec else "default",
        "labels": ",".join(spec.labels) if spec else "",
        "timeout_seconds": spec.timeout_seconds if spec else None,
        "notify_after_seconds": spec.notify_after_seconds if spec else None,
        **tries,
    }


def _tries(retries: int, delay_seconds: float, *, doubles: bool = False) -> dict[str, object]:
    return {"retries": retries, "retry_delay_us": seconds(delay_seconds), "retry_doubles": int(doubles)}


def _attempt_row(run: NewRun, row: Mapping[str, object], attempt_id: int, now: Moment) -> dict[str, object]:
    return {
        "id": attempt_id,
        "run_at": run.run_at,
        "run_id": row["id"],
        "org_id": run.org_id,
        "namespace": run.namespace,
        "job_id": row["job_id"],
        "number": 0,
        "wire_id": attempt_wire_id(str(row["wire_id"]), 0),
        "state": run.state,
        **taken_by(run.taker, now),
        "due_at": run.run_at if run.due_at is None else run.due_at,
        "queue": row["queue"],
        "labels": row["labels"],
        "role": run.role,
        "memory_mb": asked_mb(run.job.spec.limits) if run.job else 0,
        "message": run.message,
        "created_at": now,
        "ended_at": row["ended_at"],
        "updated_at": now,
    }


def taken_by(taker: Taker | None, now: Moment) -> dict[str, object]:
    """Whose a new attempt is from the beginning: nobody's, in general."""
    if taker is None:
        return {"fence": 0, "node": None, "host": None, "lease_until": None}
    lease_until = now + seconds(taker.ttl_seconds)
    return {"fence": 1, "node": taker.node, "host": taker.host, "lease_until": lease_until}


def _claimed(run: NewRun, run_id: int, attempt_id: int, wire_id: str, now: Moment) -> Claimed:
    """As `claim` would give it to the one who takes it."""
    job, taker = run.job, run.taker
    assert job is not None
    assert taker is not None
    attempt = Attempt(
        id=attempt_id,
        run_id=run_id,
        run_at=run.run_at,
        org_id=run.org_id,
        namespace=run.namespace,
        number=0,
        wire_id=wire_id,
        state=run.state,
        fence=1,
        node=taker.node,
        host=taker.host,
        lease_until=now + seconds(taker.ttl_seconds),
        due_at=run.run_at,
        pid=None,
        exit_code=None,
        exit_signal=None,
        cpu_us=None,
        peak_rss_bytes=None,
        message=None,
        log_path=None,
        created_at=now,
        started_at=None,
        ended_at=None,
        updated_at=now,
        job_id=job.id,
        job_name=run.job_name,
        job_version=job.version,
        kind=job.spec.kind,
        owner=run.owner,
        requested_by=run.requested_by,
        trigger_id=run.trigger_id,
        trigger_name=run.trigger_name,
        previous_wire_id=None,
        wait_reason=None,
        phase=None,
        attempts=1,
        timeout_seconds=run.timeout_seconds or job.spec.timeout_seconds,
        role=run.role,
        arguments=run.arguments,
        settings=run.settings,
    )
    lone = Lone(run.org_id, run_id, run.run_at, job.id, None if run.last else job.version) if run.lone else None
    return Claimed(attempt=attempt, spec=job.spec, lone=lone)
