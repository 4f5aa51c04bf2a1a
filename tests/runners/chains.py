"""Gates and steps as a worker claims them, without a chain, a store and a scheduler around them."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from waterclock.domain.chain import Folder
from waterclock.domain.claim import Claimed
from waterclock.domain.job import JobSpec
from waterclock.domain.moment import SECOND
from waterclock.domain.run import Attempt, RunState

AT: Final = 1_794_787_200 * SECOND  # 2026-11-16T00:00:00Z

_ATTEMPT: Final = Attempt(
    id=1,
    run_id=1,
    run_at=AT + SECOND,
    org_id=1,
    namespace="chains",
    number=0,
    wire_id="jr_1",
    state=RunState.STARTING,
    fence=1,
    node="node",
    host="host",
    lease_until=AT,
    due_at=AT,
    pid=None,
    exit_code=None,
    exit_signal=None,
    cpu_us=None,
    peak_rss_bytes=None,
    message=None,
    log_path=None,
    created_at=AT,
    started_at=None,
    ended_at=None,
    updated_at=AT,
    job_id=1,
    job_name="chain-3",
    job_version=1,
    kind="chain",
    owner="ann",
    requested_by="ann",
    trigger_id=1,
    trigger_name="level 1",
    previous_wire_id=None,
    wait_reason=None,
    phase=None,
    attempts=1,
    timeout_seconds=20,
    role="main",
    settings={"fire_at": AT, "flow_run_id": 12},
)


def step_of(command: str, env: str = "/usr/bin/python3", folder: Folder = Folder.JOB, **more: Any) -> Claimed:
    arguments = {"env": env, "command": command, "folder": str(folder)}
    attempt = replace(_ATTEMPT, **{"arguments": arguments, **more})
    return Claimed(attempt=attempt, spec=JobSpec(kind="chain", max_concurrent=0))


def probe_of(command: str, env: str = "/usr/bin/python3", **more: Any) -> Claimed:
    return step_of(command, env, Folder.DEP, **{"probe_until": AT + 3600 * SECOND, **more})


def put(folder: Path, script: str, source: str) -> Path:
    path = folder / script
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return path
