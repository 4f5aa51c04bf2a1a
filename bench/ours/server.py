"""The server: its engine in one process and its API in another, as `waterclock up` has them; a peer's words.

`burst` and `submit` run a callable that is named in the settings, `scripts` a Python file. A submission is
`POST /runs/batch` over one kept connection; a job is done when no queue has any and none has failed.
"""

import asyncio
import contextlib
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping

import httpx

from bench.harness import data_dir, waterclock
from bench.ours.server_burst import fired
from bench.ours.server_scripts import latencies
from bench.peers import measures

NOOP = "bench.noop:noop"


def burst(given: Namespace) -> Mapping[str, float]:
    with data_dir() as folder, waterclock("engine", folder, given.url, callables=NOOP):
        return asyncio.run(fired(given.url, given.count, measures.LEAD_SECONDS))[1]


def scripts(given: Namespace) -> Mapping[str, float]:
    with data_dir() as folder:
        return measures.latency_figures(latencies(folder, given.url, given.count))


def submit(given: Namespace) -> Mapping[str, float]:
    with _client(given.url) as client:
        job = {"name": "noop", "kind": "callable", "script": NOOP, "queue": "callables", "max_concurrent": 0}
        client.post("/jobs", json=job).raise_for_status()
        client.post("/runs", json={"job": "noop"}).raise_for_status()
        measures.wait_for(lambda: not any(_queues(client)), True)
        began = time.perf_counter()
        for part in measures.batches(given.count, given.batch or given.count):
            client.post("/runs/batch", json={"runs": [{"job": "noop"}] * part}).raise_for_status()
        measures.wait_for(lambda: not any(_queues(client)), True, 0.02)
        seconds = time.perf_counter() - began
        if client.get("/runs", params={"state": "FAILED", "size": 1}).json()["items"]:
            raise measures.FellBehind("a run failed")
        return {"jobs_per_second": given.count / seconds}


def _queues(client: httpx.Client) -> list[int]:
    return list(client.get("/status").json()["queues"].values())


@contextlib.contextmanager
def _client(url: str) -> Iterator[httpx.Client]:
    with (
        data_dir() as folder,
        waterclock("engine", folder, url, callables=NOOP),
        waterclock("api", folder, url, callables=NOOP) as address,
    ):
        token = {"Authorization": f"Bearer {(folder / 'token').read_text().strip()}"}
        with httpx.Client(base_url=f"{address}/api/v1", headers=token, timeout=60) as client:
            yield client


if __name__ == "__main__":
    measures.main({"burst": burst, "scripts": scripts, "submit": submit})
