"""kill -9: of the worker under stubborn programs, of the API, of everything while triggers fire."""

import asyncio
import os
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.server import Server, alive, running, until
from waterclock.domain.job import JobSpec
from waterclock.domain.moment import SECOND
from waterclock.domain.schedule import parse_schedule, to_json
from waterclock.domain.trigger import Action, Fire, Target, TriggerSpec, TriggerType
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.jobs import create_job
from waterclock.stores.ops.triggers import create_trigger, list_fires, list_triggers, stop_trigger

STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
here = {folder!r}
def note(name):
    with open(os.path.join(here, name), "w") as file:
        file.write(str(os.getpid()))
if os.fork() == 0:                      # a child in a session of its own
    os.setsid()
    if os.fork() == 0:                  # and its orphan, which never calls exec
        note("orphan")
        time.sleep(1000)
    note("setsid")
    time.sleep(1000)
subprocess.Popen([sys.executable, "-c", "import signal,time; signal.signal(15, signal.SIG_IGN); time.sleep(1000)"],
                 start_new_session=True)
note("main")
print("up", flush=True)
time.sleep(1000)
"""


def test_a_killed_workers_run_is_adopted_and_dies_whole_when_stopped(durable_url: str, tmp_path: Path) -> None:
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN.format(folder=str(tmp_path)))
    with running(tmp_path, durable_url, stop_grace_seconds=0.3) as server:
        glue = server.glue()
        glue.create_job(Name="stubborn", Role="r", Command=_python(script))
        run_id = glue.start_job_run(JobName="stubborn")["JobRunId"]
        pids = [_pid(tmp_path / name) for name in ("main", "setsid", "orphan")]
        until(lambda: _state(glue, "stubborn", run_id) == "RUNNING", "never RUNNING")
        server.kill("engine")
        until(lambda: server.pids("waterclock.app.launch\0engine\0"), "the engine was not started again")
        assert all(alive(pid) for pid in pids)
        glue.batch_stop_job_run(JobName="stubborn", JobRunIds=[run_id])
        until(lambda: _state(glue, "stubborn", run_id) == "STOPPED", "never STOPPED")
        assert not any(alive(pid) for pid in pids)
        until(lambda: not _holders(run_id), "something still carries the run's id")


def test_a_run_outlives_a_killed_worker_and_its_end_is_recorded(tmp_path: Path) -> None:
    script, gate = tmp_path / "patient.py", tmp_path / "gate"
    script.write_text(f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\nprint('through')\n")
    with running(tmp_path) as server:
        glue = server.glue()
        glue.create_job(Name="patient", Role="r", Command=_python(script))
        run_id = glue.start_job_run(JobName="patient")["JobRunId"]
        until(lambda: _state(glue, "patient", run_id) == "RUNNING", "never RUNNING")
        server.kill("engine")
        gate.touch()
        until(lambda: _state(glue, "patient", run_id) == "SUCCEEDED", "never SUCCEEDED")
        assert server.cli("run", "logs", run_id).stdout == "through\n"


def test_a_worker_that_never_comes_back_leaves_no_process_and_its_run_is_retried(tmp_path: Path) -> None:
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN.format(folder=str(tmp_path)))
    with running(tmp_path, lease_seconds=3, lease_margin_seconds=1, heartbeat_seconds=0.7) as server:
        glue = server.glue()
        glue.create_job(Name="stubborn", Role="r", MaxRetries=1, Command=_python(script))
        run_id = glue.start_job_run(JobName="stubborn")["JobRunId"]
        pids = [_pid(tmp_path / name) for name in ("main", "setsid", "orphan")]
        assert server.process
        server.process.kill()  # the parent: its children follow it, and nobody starts them again
        until(lambda: not any(alive(pid) for pid in pids), "an orphan lives after the lease")
        server.process.wait()
        for role in ("api", "engine"):
            until(lambda role=role: not server.pids(f"waterclock.app.launch\0{role}\0"), f"{role} outlived its parent")  # type: ignore[misc]
        server.start()
        until(lambda: _state(glue, "stubborn", run_id) == "FAILED", "the lost attempt was not decided")
        until(lambda: _state(glue, "stubborn", f"{run_id}_attempt_1") == "RUNNING", "no second attempt")


def test_the_api_comes_back_by_itself_and_runs_go_on(tmp_path: Path) -> None:
    script, gate = tmp_path / "patient.py", tmp_path / "gate"
    script.write_text(f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n")
    with running(tmp_path) as server:
        glue = server.glue(retries=10)
        glue.create_job(Name="patient", Role="r", Command=_python(script))
        run_id = glue.start_job_run(JobName="patient")["JobRunId"]
        until(lambda: _state(glue, "patient", run_id) == "RUNNING", "never RUNNING")
        server.kill("api")
        gate.touch()
        until(lambda: _state(glue, "patient", run_id) == "SUCCEEDED", "never SUCCEEDED")


@pytest.mark.chaos
def test_every_due_instant_is_in_the_ledger_once_after_everything_was_killed(durable_url: str, tmp_path: Path) -> None:
    """200 triggers, one fire a second each, for ten seconds with two kills -9 of all processes."""
    server = Server(tmp_path, durable_url, callables="bench.noop:noop")
    try:
        server.start()
        url = durable_url or f"sqlite:///{server.data}/waterclock.db"
        asyncio.run(_define(url, 200))
        for seconds in (3, 6):
            asyncio.run(_fired(url, at_least=200 * seconds))
            server.kill_everything()
            server.start()
        asyncio.run(_fired(url, at_least=200 * 10))
        for name, fires in asyncio.run(_stopped_ledgers(url)).items():
            _check(name, fires)
    finally:
        server.stop()
        server.kill_everything()


def _check(name: str, fires: list[Fire]) -> None:
    """Each second from the first to the last stands there once: fired, or covered by one skip."""
    covered: Counter[int] = Counter()
    for fire in fires:
        covered.update(range(fire.first_at // SECOND, fire.last_at // SECOND + 1))
    instants = sorted(covered)
    assert len(instants) >= 10, name
    assert set(covered.values()) == {1}, f"{name}: doubled {[i for i, n in covered.items() if n > 1]}"
    assert all(after - before == 1 for before, after in pairwise(instants)), f"{name}: a gap in {instants}"


async def _define(url: str, count: int) -> None:
    database = await _opened(url)
    spec = JobSpec(kind="callable", script="bench.noop:noop", max_concurrent=0, queue="callables")
    key = {"org_id": 1, "namespace": "api", "owner": "admin", "definition": {}, "tags": {}}
    await database.write(create_job, name="noop", spec=spec, **key)  # type: ignore[arg-type]
    trigger = TriggerSpec(
        type=TriggerType.SCHEDULED,
        actions=(Action(target=Target.JOB, name="noop"),),
        expression="* * * * * ?",
        schedule=to_json(parse_schedule("* * * * * ?")),
    )
    for number in range(count):
        await database.write(create_trigger, name=f"t{number:03}", spec=trigger, start=True, **key)  # type: ignore[arg-type]
    await database.close()


async def _fired(url: str, *, at_least: int) -> None:
    database = await _opened(url)
    async with asyncio.timeout(60):
        while len(await _ledger(database)) < at_least:
            await asyncio.sleep(0.1)
    await database.close()


async def _stopped_ledgers(url: str) -> dict[str, list[Fire]]:
    database = await _opened(url)
    triggers = await database.read(list_triggers, org_id=1, namespaces=["api"], job_name=None, after="", limit=1000)
    for trigger in triggers:
        await database.write(
            stop_trigger, org_id=1, namespace="api", name=trigger.name, allow=lambda _: None, stop_runs=False
        )
    ledgers: dict[str, list[Fire]] = {trigger.name: [] for trigger in triggers}
    for fire in await _ledger(database):
        ledgers[fire.trigger_name].append(fire)
    await database.close()
    return ledgers


async def _ledger(database: Database) -> list[Fire]:
    triggers = await database.read(list_triggers, org_id=1, namespaces=["api"], job_name=None, after="", limit=1000)
    found: list[Fire] = []
    for trigger in triggers:
        found += await database.read(list_fires, org_id=1, trigger_id=trigger.id, before=2**62, limit=10_000)
    return found


async def _opened(url: str) -> Database:
    database = database_from_url(url)
    await database.open()
    return database


def _python(script: Path) -> dict[str, str]:
    return {"Name": "pythonshell", "ScriptLocation": f"file://{script}"}


def _state(glue: Any, job: str, run_id: str) -> str:
    return str(glue.get_job_run(JobName=job, RunId=run_id)["JobRun"]["JobRunState"])


def _pid(path: Path) -> int:
    return int(until(lambda: path.exists() and path.read_text(), f"{path.name} never came up"))


def _holders(run_id: str) -> list[int]:
    """Processes that carry the run's id in their environment: none may be left."""
    token = f"WATERCLOCK_RUN_ID={run_id}\0".encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if alive(int(name)) and token in Path(f"/proc/{name}/environ").read_bytes():
                found.append(int(name))
        except OSError:
            continue
    return found
