"""Signed Glue calls over kept connections, by a client in a process of its own, to whoever answers them."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.contest.contestant import BenchProblem
from bench.harness import ROOT

JOBS = 100  # runs are started of each in turn
RUNS = 20  # and these are asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where calls go, and as whom."""

    host: str
    port: int
    key: str = "testing"
    secret: str = "testing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """What was seen of some calls."""

    seconds: float
    spans: Sequence[float]  # of each
    samples: Sequence[Any]  # the first answers


def prepare(address: Address) -> list[tuple[str, str]]:
    """The jobs that runs are started of, and the runs that are asked for: job and id."""
    call(address, "CreateJob", [_job("bench {n}")], calls=JOBS)
    names = [f"bench {number}" for number in range(RUNS)]
    started = call(address, "StartJobRun", [json.dumps({"JobName": name}) for name in names], calls=RUNS)
    return [(name, answer["JobRunId"]) for name, answer in zip(names, started.samples, strict=True)]


def bodies(action: str, runs: Sequence[tuple[str, str]]) -> list[str]:
    match action:
        case "CreateJob":
            return [_job("made {n}")]
        case "StartJobRun":
            return [json.dumps({"JobName": f"bench {number}"}) for number in range(JOBS)]
    return [json.dumps({"JobName": name, "RunId": run_id}) for name, run_id in runs]


def call(
    address: Address,
    action: str,
    texts: Sequence[str],
    *,
    calls: int = 10_000_000,
    connections: int = 1,
    seconds: float = 60.0,
    first: int = 0,
) -> Calls:
    """Each text in turn, until so many calls or seconds are over; `{n}` in one is the call's number."""
    order = {"host": address.host, "port": address.port, "key": address.key, "secret": address.secret, "first": first}
    order |= {"action": action, "bodies": texts, "calls": calls, "connections": connections, "seconds": seconds}
    caller = [sys.executable, "-m", "bench.glue.caller"]
    client = subprocess.run(caller, input=json.dumps(order), capture_output=True, text=True, cwd=ROOT, check=False)
    if client.returncode:
        raise BenchProblem(f"{action}: {client.stderr[-300:]}")
    seen = json.loads(client.stdout)
    return Calls(seconds=seen["seconds"], spans=seen["spans"], samples=seen["samples"])


def _job(name: str) -> str:
    command = {"Name": "pythonshell", "ScriptLocation": "s3://bucket/script.py"}
    return json.dumps({"Name": name, "Role": "r", "Command": command, "ExecutionProperty": {"MaxConcurrentRuns": 9999}})
