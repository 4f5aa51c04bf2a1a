"""Our jobs, triggers and attempts as Glue shows them: what was given, and what AWS adds."""

import re
from collections.abc import Mapping
from typing import Any, Final

from waterclock.domain.job import Job
from waterclock.domain.moment import SECOND, Moment
from waterclock.domain.run import UNBEGUN, Attempt, RunState, attempt_wire_id
from waterclock.domain.trigger import Trigger, TriggerState
from waterclock.faces.glue.job_spec import DEFAULT_MINUTES

Wire = dict[str, Any]

TRIGGER_STATES: Final[Mapping[TriggerState, str]] = {
    TriggerState.STANDBY: "CREATED",
    TriggerState.RUNNING: "ACTIVATED",
    TriggerState.STOPPED: "DEACTIVATED",
}
# SKIPPED has no attempt and never comes here.
RUN_STATES: Final[Mapping[RunState, str]] = {state: state.value for state in RunState if state is not RunState.SKIPPED}
LOG_GROUPS: Final = {"python": "/aws-glue/python-jobs"}
OTHER_LOG_GROUP: Final = "/aws-glue/jobs"

_WORKER: Final = re.compile(r"[GRZ]\.(025|[0-9]+)X", re.ASCII)  # the figure is its size in DPU
_DPU_OF_KIND: Final = {"python": 0.0625, "spark": 10.0}
_PYTHON_KINDS: Final = ("python", "spark")
_JOB_DEFAULTS: Final = {
    "JobMode": "SCRIPT",
    "JobRunQueuingEnabled": False,
    "ExecutionProperty": {"MaxConcurrentRuns": 1},
    "DefaultArguments": {},
    "MaxRetries": 0,
    "Timeout": DEFAULT_MINUTES,
}


def job_wire(job: Job) -> Wire:
    given: Mapping[str, Any] = job.definition
    python = {"PythonVersion": "3"} if job.spec.kind in _PYTHON_KINDS else {}
    return {
        **_JOB_DEFAULTS,
        **given,
        **_capacity(given, job.spec.kind),
        "Command": {**python, **given["Command"]},
        "Name": job.name,
        "CreatedOn": epoch(job.created_at),
        "LastModifiedOn": epoch(job.updated_at),
    }


def trigger_wire(trigger: Trigger) -> Wire:
    shown = {name: value for name, value in trigger.definition.items() if name != "StartOnCreation"}
    return {**shown, "Name": trigger.name, "Id": str(trigger.id), "State": TRIGGER_STATES[trigger.state]}


def run_wire(attempt: Attempt, *, now: Moment) -> Wire:
    """`settings` is what StartJobRun was given beside the arguments."""
    wire: Wire = {
        **attempt.settings,
        "Id": attempt.wire_id,
        "Attempt": attempt.number,
        "JobName": attempt.job_name,
        "StartedOn": epoch(attempt.started_at or attempt.created_at),
        "LastModifiedOn": epoch(attempt.updated_at),
        "JobRunState": RUN_STATES[attempt.state],
        "Arguments": attempt.arguments,
        "PredecessorRuns": [],
        "ExecutionTime": execution_seconds(attempt, now),
        "LogGroupName": log_group(attempt.kind),
    }
    if attempt.timeout_seconds is not None:
        wire["Timeout"] = -(-attempt.timeout_seconds // 60)
    if attempt.ended_at is not None:
        wire["CompletedOn"] = epoch(attempt.ended_at)
    optional = {
        "PreviousRunId": previous_id(attempt),
        "TriggerName": attempt.trigger_name,
        "ErrorMessage": attempt.message,
        "StateDetail": attempt.wait_reason if attempt.state in UNBEGUN else None,
    }
    wire.update((name, value) for name, value in optional.items() if value)
    return wire


def log_group(kind: str) -> str:
    """What its log is found under, with /output after it."""
    return LOG_GROUPS.get(kind, OTHER_LOG_GROUP)


def previous_id(attempt: Attempt) -> str | None:
    """A retry follows the attempt before it; a first attempt what its caller named."""
    if attempt.number == 0:
        return attempt.previous_wire_id
    run_id = attempt.wire_id.removesuffix(f"_attempt_{attempt.number}")
    return attempt_wire_id(run_id, attempt.number - 1)


def execution_seconds(attempt: Attempt, now: Moment) -> int:
    """Of real running, also while it runs; waiting is not running."""
    if attempt.started_at is None:
        return 0
    until = now if attempt.ended_at is None else attempt.ended_at
    return max(0, round((until - attempt.started_at) / SECOND))


def epoch(moment: Moment) -> float:
    """Epoch seconds with milliseconds."""
    return round(moment / SECOND, 3)


def _capacity(given: Mapping[str, Any], kind: str) -> Wire:
    units = _DPU_OF_KIND.get(kind)
    if "MaxCapacity" in given:
        units = given["MaxCapacity"]
    elif "NumberOfWorkers" in given and "WorkerType" in given:
        units = given["NumberOfWorkers"] * _worker_units(given["WorkerType"])
    elif "AllocatedCapacity" in given:
        units = given["AllocatedCapacity"]
    return {} if units is None else {"MaxCapacity": float(units), "AllocatedCapacity": int(units)}


def _worker_units(worker: str) -> float:
    size = _WORKER.fullmatch(worker)
    if size is None:
        return 1.0
    return 0.25 if size[1] == "025" else float(size[1])
