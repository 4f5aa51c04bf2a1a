"""A small SQL query, warm: from the call that runs a lake job to Finished, on Sail and on Spark, turn by turn."""

import argparse
import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from bench.harness import ROOT, data_dir, report, spread, store

TABLE = """
import sys, pyarrow as pa, pyarrow.parquet as pq
rows = pa.table({"id": list(range(1000)), "name": [f"name {number}" for number in range(1000)]})
pq.write_table(rows, sys.argv[1])
"""
ENGINES = {"sail": "", "spark": "local[2]"}
ENDED = ("Finished", "Error", "Killed")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--warm-up", type=int, default=10)
    parser.add_argument("--engine", action="append", choices=list(ENGINES), help="default: both")
    parser.add_argument("--python", type=Path, default=ROOT / ".cache/lake/venv/bin/python", help="has the engines")


def run(given: argparse.Namespace) -> None:
    if not given.python.exists():
        raise SystemExit(f"{given.python} is not there: tools/lake-venv makes it")
    engines = given.engine or list(ENGINES)
    with contextlib.ExitStack() as stack:
        jobs = {name: stack.enter_context(_job(given, name)) for name in engines}
        for job in jobs.values():
            job.first = job.measure()["finished"]
            for _ in range(given.warm_up):
                job.measure()
        samples: dict[str, list[dict[str, float]]] = {name: [] for name in engines}
        for _ in range(given.count):
            for name, job in jobs.items():
                samples[name].append(job.measure())
    for name in engines:
        parts = {part: spread([each[part] for each in samples[name]]) for part in samples[name][0]}
        first = round(jobs[name].first, 3)
        report("lake", store=given.store, engine=name, count=given.count, first=first, seconds=parts)


class Job:
    """One SQL job on a server of its own: select over a table of 1,000 rows, to a file."""

    def __init__(self, server: Any, folder: Path) -> None:
        self._data: Path = server.data
        self._http = httpx.Client(base_url=server.address, timeout=60)
        self.first = 0.0
        table = {"name": "abc", "format": "parquet", "path": str(folder / "abc.parquet")}
        self._http.post("/lake/table/create", json=table).raise_for_status()
        config = {"class_name": "hadoop_config", "hdfs_uri": "file:///", "result_path": str(folder / "out")}
        info = {"query": "select * from abc", "outputs": [{"type": "text_file", "config": config}]}
        job = {
            "class_name": "sql_job",
            "display_name": "bench",
            "job_type": "Sql",
            "schedule_time": {"class_name": "none_schedule"},
            "query_info": info,
        }
        answer = self._http.post("/lake/job/create", json={"job": job}).raise_for_status()
        self._id = answer.json()["job"]["job_id"]

    def measure(self) -> dict[str, float]:
        """Seconds until Finished was seen, the call answered, the run began; and of the run and its query."""
        called_at, began = time.time(), time.perf_counter()
        self._http.put(f"/lake/schedule/job/{self._id}/now", json={}).raise_for_status()
        answered = time.perf_counter() - began
        while (status := self._http.get(f"/lake/job/{self._id}/status").json())["current_sync_status"] not in ENDED:
            time.sleep(0.002)
        finished = time.perf_counter() - began
        ran = self._http.post("/lake/history/list", json={"from": 0, "size": 1}).json()["data"][0]
        if status["current_sync_status"] != "Finished":
            raise SystemExit(f"the query failed: {ran['message']}")
        time.sleep(0.05)  # an idle server, as for a query by hand
        return {
            "finished": finished,
            "answered": answered,
            "began": ran["start_time"] / 1000 - called_at,
            "ran": (ran["end_time"] - ran["start_time"]) / 1000,
            "query": self._query_seconds(),
        }

    def _query_seconds(self) -> float:
        """By the log of its newest run."""
        logs = [path for path in (self._data / "logs").rglob("*") if path.is_file()]
        text = max(logs, key=lambda path: path.stat().st_mtime_ns).read_text()
        found = re.search(r"rows in ([\d.]+) s", text)
        return float(found.group(1)) if found else 0.0


@contextlib.contextmanager
def _job(given: argparse.Namespace, engine: str) -> Iterator[Job]:
    sys.path.insert(0, str(ROOT))
    from tests.acceptance.server import running

    with data_dir() as folder, store(given.store, folder) as url:
        subprocess.run([given.python, "-c", TABLE, folder / "abc.parquet"], check=True)
        settings = {"sql_engine": engine, "sql_remote": ENGINES[engine], "sql_python": given.python}
        with running(folder, url, **settings, auth="none", lake_roots=folder) as server:
            yield Job(server, folder)
