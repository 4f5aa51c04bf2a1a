"""A run as it was decided, and the rows that it and its first attempt have in the store."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.gate import Probing
from waterclock.domain.job import Job, JobSpec
from waterclock.domain.moment import Moment, seconds
from waterclock.domain.outcome import Lone
from waterclock.domain.placement import asked_mb
from waterclock.domain.run import ENDED, Attempt, RunState, attempt_wire_id
from waterclock.stores.base import Values
from waterclock.stores.ops.rows import dumped


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


def run_row(run: NewRun, run_id: int, wire_id: str, settled: Values, now: Moment) -> dict[str, object]:
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


def settled_row(spec: JobSpec | None, probing: Probing | None) -> dict[str, object]:
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


def attempt_row(run: NewRun, row: Mapping[str, object], attempt_id: int, now: Moment) -> dict[str, object]:
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


def claimed_run(run: NewRun, run_id: int, attempt_id: int, wire_id: str, now: Moment) -> Claimed:
    """As `claim` would give it to the one who takes it."""
    job = run.job
    assert job is not None
    attempt = first_attempt(run, run_id, attempt_id, wire_id, now)
    lone = Lone(run.org_id, run_id, run.run_at, job.id, None if run.last else job.version) if run.lone else None
    return Claimed(attempt=attempt, spec=job.spec, lone=lone)


def first_attempt(run: NewRun, run_id: int, attempt_id: int, wire_id: str, now: Moment) -> Attempt:
    """Of a run that somebody has taken as it was made."""
    job, taker = run.job, run.taker
    assert job is not None
    assert taker is not None
    return Attempt(
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
        created_at=now,
        updated_at=now,
        job_id=job.id,
        job_name=run.job_name,
        job_version=job.version,
        kind=job.spec.kind,
        owner=run.owner,
        requested_by=run.requested_by,
        trigger_id=run.trigger_id,
        trigger_name=run.trigger_name,
        attempts=1,
        timeout_seconds=run.timeout_seconds or job.spec.timeout_seconds,
        role=run.role,
        arguments=run.arguments,
        settings=run.settings,
    )
