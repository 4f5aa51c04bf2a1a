"""500 trivial Python scripts with captured output and exit code, beside plain `subprocess` with 4 threads."""

import argparse
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from bench.harness import data_dir, report, store, waterclock


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)


def run(given: argparse.Namespace) -> None:
    ours, theirs = [], []
    with data_dir() as folder, store(given.store, folder) as url:
        script = folder / "trivial.py"
        script.write_text("print('hello')\n")
        with waterclock("engine", folder, url), waterclock("api", folder, url) as address:
            token = (folder / "token").read_text().strip()
            with httpx.Client(base_url=f"{address}/api/v1", headers={"Authorization": f"Bearer {token}"}) as client:
                _define(client, script)
                _submit(client, 20)
                for _ in range(given.rounds):
                    ours.append(given.count / _submit(client, given.count))
                    theirs.append(given.count / _baseline(script, given.count))
    report(
        "processes",
        store=given.store,
        count=given.count,
        runs_per_second=round(statistics.median(ours), 1),
        rounds=[round(rate, 1) for rate in ours],
        subprocess_4_threads=round(statistics.median(theirs), 1),
        subprocess_rounds=[round(rate, 1) for rate in theirs],
        ratio=round(statistics.median(ours) / statistics.median(theirs), 2),
    )


def _define(client: httpx.Client, script: Path) -> None:
    body = {"name": "trivial", "kind": "python", "script": f"file://{script}", "max_concurrent": 0}
    client.post("/jobs", json=body).raise_for_status()


def _submit(client: httpx.Client, count: int) -> float:
    """Seconds until all are SUCCEEDED in the store."""
    began = time.perf_counter()
    answer = client.post("/runs/batch", json={"runs": [{"job": "trivial"}] * count}, timeout=60)
    answer.raise_for_status()
    while any(client.get("/status").json()["queues"].values()):
        time.sleep(0.1)  # often enough: the one who looks must not be the one who works
    seconds = time.perf_counter() - began
    failed = client.get("/runs", params={"state": "FAILED", "size": 1}).json()["items"]
    if failed:
        raise SystemExit(f"a run failed: {failed[0]}")
    return seconds


def _baseline(script: Path, count: int) -> float:
    began = time.perf_counter()
    with ThreadPoolExecutor(4) as threads:
        for done in threads.map(lambda _: _one(script), range(count)):
            if done.returncode or done.stdout != b"hello\n":
                raise SystemExit(f"the baseline failed: {done}")
    return time.perf_counter() - began


def _one(script: Path) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([sys.executable, str(script)], capture_output=True, check=False)
