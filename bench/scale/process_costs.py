"""What a call of the API and a trivial program cost, and how many connections a process of each role holds."""

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import psutil

from bench.harness import ROOT, waterclock
from bench.peers.stored_window import tree_cpu_seconds
from bench.scale.store_costs import Seen, each_alone

CONNECTIONS = 8
CALLS = 2_000
RUNS = 200


def call_costs(url: str, postmaster: int, folder: Path) -> dict[str, Any]:
    """The API alone: nobody runs what it starts."""
    with waterclock("api", folder, url, auth="keys") as address:
        return {**_calls(address, folder, postmaster), "connections_of_api": connections(url)}


def program_costs(url: str, folder: Path) -> dict[str, Any]:
    """Connections are the engine's alone, and as many as it has opened by then."""
    with waterclock("engine", folder, url):
        with waterclock("api", folder, url) as address:
            program_us = _program_us(address, folder)
        return {"program_us": program_us, "connections_of_engine": connections(url)}


def connections(url: str) -> int:
    """Of everybody but the one who asks."""

    async def asked() -> int:
        connection = await asyncpg.connect(url)
        try:
            return int(
                await connection.fetchval(
                    "SELECT COUNT(*) FROM pg_stat_activity"
                    " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
                )
            )
        finally:
            await connection.close()

    return asyncio.run(asked())


def _pid_of(role: str) -> int:
    """The process that `waterclock` has just started."""
    children = psutil.Process().children()
    return next(each.pid for each in children if each.cmdline()[-2:] == ["waterclock.app.launch", role])


def _calls(address: str, folder: Path, postmaster: int) -> dict[str, Any]:
    lines = dict(line.split(" = ") for line in (folder / "credentials").read_text().splitlines() if " = " in line)
    host, _, port = address.removeprefix("http://").partition(":")
    key, secret = lines["aws_access_key_id"], lines["aws_secret_access_key"]
    order = {"host": host, "port": int(port), "key": key, "secret": secret, "seconds": 60.0, "first": 0}
    command = {"Name": "pythonshell", "ScriptLocation": "s3://bucket/script.py"}
    job = {"Name": "costs", "Role": "r", "Command": command, "ExecutionProperty": {"MaxConcurrentRuns": 99_999}}
    _made(order, "CreateJob", json.dumps(job), 1, 1)
    start = json.dumps({"JobName": "costs"})
    run_id = _made(order, "StartJobRun", start, 1, 1)["samples"][0]["JobRunId"]
    # Most that is asked for has ended; of one that waits the API also finds out why.
    _made(order, "BatchStopJobRun", json.dumps({"JobName": "costs", "JobRunIds": [run_id]}), 1, 1)
    bodies = {
        "start_call": ("StartJobRun", start),
        "read_call": ("GetJobRun", json.dumps({"JobName": "costs", "RunId": run_id})),
    }
    found, api = {}, _pid_of("api")
    for name, (action, body) in bodies.items():
        _made(order, action, body, 100, CONNECTIONS)
        before = tree_cpu_seconds(api), tree_cpu_seconds(postmaster)
        _made(order, action, body, CALLS, CONNECTIONS)
        seen = Seen(CALLS, CALLS, tree_cpu_seconds(api) - before[0], tree_cpu_seconds(postmaster) - before[1], 0.0, 0.0)
        found[name] = asdict(each_alone(seen))
    return found


def _made(order: dict[str, Any], action: str, body: str, calls: int, at_once: int) -> dict[str, Any]:
    asked = order | {"action": action, "bodies": [body], "calls": calls, "connections": at_once}
    client = subprocess.run(
        [sys.executable, "-m", "bench.glue.caller"],
        input=json.dumps(asked),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    figures: dict[str, Any] = json.loads(client.stdout)
    return figures


def _program_us(address: str, folder: Path) -> float:
    """All of the worker's processes, the programs included; what the database takes is counted by its operations."""
    script = folder / "trivial.py"
    script.write_text("print('hello')\n")
    token = (folder / "token").read_text().strip()
    with httpx.Client(base_url=f"{address}/api/v1", headers={"Authorization": f"Bearer {token}"}) as client:
        body = {"name": "trivial", "kind": "python", "script": f"file://{script}", "max_concurrent": 0}
        client.post("/jobs", json=body).raise_for_status()
        _run(client, 20)
        before = _around(folder)
        _run(client, RUNS)
        return (_around(folder) - before) / RUNS * 1e6


def _around(folder: Path) -> float:
    """The engine, and the supervisor that outlives it and is nobody's child; each with all that came from it."""
    roots = {each.pid for each in psutil.process_iter() if _is_of_worker(each, folder)}
    return sum(tree_cpu_seconds(pid) for pid in roots if not _is_below(pid, roots))


def _is_of_worker(process: psutil.Process, folder: Path) -> bool:
    try:
        words = process.cmdline()
        here = process.environ().get("WATERCLOCK_DATA_DIR") == str(folder)
    except psutil.Error:
        return False
    return here and "waterclock.app.launch" in words and words[-1] in ("engine", "supervisor")


def _is_below(pid: int, roots: set[int]) -> bool:
    try:
        return not roots.isdisjoint(each.pid for each in psutil.Process(pid).parents())
    except psutil.Error:
        return True


def _run(client: httpx.Client, count: int) -> None:
    client.post("/runs/batch", json={"runs": [{"job": "trivial"}] * count}, timeout=60).raise_for_status()
    deadline = time.monotonic() + 120
    while any(client.get("/status").json()["queues"].values()):
        if time.monotonic() > deadline:
            raise SystemExit(f"{count} trivial programs did not end within 120 s")
        time.sleep(0.1)
