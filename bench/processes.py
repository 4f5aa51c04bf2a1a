"""W6: 500 trivial Python scripts with captured output and exit code, until all have ended and that is recorded."""

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial

import httpx

from bench.contest.contestant import PEER, US, BenchProblem, Contest, Contestant, Figure, Figures
from bench.contest.entrants import MEMORY, REDIS, entrant, limit
from bench.harness import data_dir, store, waterclock
from bench.peers import quartz, trivial
from bench.peers.venvs import interpreter

NAME = "processes"
COUNT, QUICK = 500, 50
WARMING = 20
GOAL = 1_000
PATIENCE_SECONDS = 120.0
STORES = ("sqlite", "postgres")
QUARTZ = quartz.Setting(name="quartz", batch=trivial.AT_ONCE, threads=trivial.AT_ONCE)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, help=f"default: {COUNT}")
    parser.add_argument("--stores", default=",".join(STORES), help="ours, the first for the goal; default: %(default)s")


def contests(given: argparse.Namespace) -> Sequence[Contest]:
    count = given.count or (QUICK if given.quick else COUNT)
    figure = Figure(key="runs_per_second", title="runs a second", unit="/s", more_is_better=True, goal=GOAL)
    title = f"W6: {count} trivial Python scripts, output captured, exit code recorded"
    stores = given.stores.split(",")
    ours = [Contestant(name=f"waterclock, {kind}", role=US, measure=partial(measure, kind, count)) for kind in stores]
    return [Contest(name="W6-processes", title=title, figures=[figure], contestants=[*ours, *_others(count)])]


def _others(count: int) -> list[Contestant]:
    order = ("--count", str(count))
    return [
        _peer("subprocess, 4 threads", "", "bench.peers.pools", "threads", *order),
        _peer("asyncio subprocess, 4 at once", "", "bench.peers.pools", "coroutines", *order),
        _peer("huey + redis, 4 threads", "huey", "bench.peers.huey_scripts", "scripts", *order, on=REDIS),
        _peer("celery + redis, 4 processes", "celery", "bench.peers.celery_scripts", "scripts", *order, on=REDIS),
        Contestant(name="quartz, PostgreSQL, 4 threads", role=PEER, measure=partial(_quartz, count)),
        limit("bare fork server", "bench.limits.scripts", "scripts", *order, on=MEMORY),
    ]


def _peer(name: str, venv: str, module: str, *order: str, on: str = MEMORY) -> Contestant:
    """By the interpreter of a peer's venv, or by ours where it needs the standard library alone."""

    def command() -> list[str]:
        return [str(interpreter(venv)) if venv else sys.executable, "-m", module]

    return entrant(name, PEER, command, *order, on=on)


def _quartz(count: int) -> Figures:
    with trivial.script() as script:
        return quartz.measure("W6", QUARTZ, {"count": count, "python": sys.executable, "script": str(script)})


def measure(kind: str, count: int) -> Figures:
    """One round of ours: engine and API, each in its process, and one client that submits all in one call."""
    with (
        data_dir() as folder,
        store(kind, folder) as url,
        trivial.script() as script,
        waterclock("engine", folder, url),
        waterclock("api", folder, url) as address,
    ):
        token = {"Authorization": f"Bearer {(folder / 'token').read_text().strip()}"}
        with httpx.Client(base_url=f"{address}/api/v1", headers=token, timeout=60) as client:
            body = {"name": "trivial", "kind": "python", "script": f"file://{script}", "max_concurrent": 0}
            client.post("/jobs", json=body).raise_for_status()
            _submit(client, WARMING)
            return {"runs_per_second": count / _submit(client, count)}


def _submit(client: httpx.Client, count: int) -> float:
    """Seconds until all are recorded as ended."""
    began = time.perf_counter()
    answer = client.post("/runs/batch", json={"runs": [{"job": "trivial"}] * count})
    answer.raise_for_status()
    _await_all(client, count, began)
    seconds = time.perf_counter() - began
    _check(client, [each["id"] for each in answer.json()["runs"]])
    return seconds


def _await_all(client: httpx.Client, count: int, began: float) -> None:
    """Looks more often the fewer are left: the one who looks must not be the one who works."""
    while left := sum(client.get("/status").json()["queues"].values()):
        so_far = time.perf_counter() - began
        if so_far > PATIENCE_SECONDS:
            raise BenchProblem(f"{left} of {count} had not ended after {PATIENCE_SECONDS:g} s")
        each = so_far / max(count - left, 1)
        time.sleep(min(max(left * each / 2, 0.005), 0.1))


def _check(client: httpx.Client, ids: Sequence[str]) -> None:
    """None has failed, and what was captured of the last ones is what they wrote."""
    if failed := client.get("/runs", params={"state": "FAILED", "size": 1}).json()["items"]:
        raise BenchProblem(f"a run failed: {failed[0]}")
    ended = []
    for run_id in ids[-5:]:
        code = client.get(f"/runs/{run_id}").json()["exit_code"]
        ended.append([code, client.get(f"/runs/{run_id}/log").json()["text"]])
    trivial.check(ended, len(ended))
