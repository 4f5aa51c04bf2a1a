"""API and worker in one data directory, as on one host: the API reads the logs of the worker's programs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.chaos.cluster import Cluster, cluster
from tests.chaos.scenario import World
from waterclock.chaos.evidence import program


@contextmanager
def one_host(world: World, *, schedulers: int = 1, **settings: Any) -> Iterator[Cluster]:
    with cluster(world, schedulers=schedulers, workers=0, **settings) as made:
        worker = made.add("worker")
        worker.folder = made.apis[0].folder
        worker.settings["data_dir"] = worker.folder
        worker.start()
        yield made


def script(made: Cluster, work: str, body: str = "") -> Path:
    """One that leaves its marks."""
    path = made.world.folder / "scripts" / f"{work}.py"
    path.write_text(program(work, made.evidence, body))
    return path


def define_job(made: Cluster, api: httpx.Client, work: str, body: str = "", **job: Any) -> None:
    """Through /api/v1, which knows limits."""
    asked = {"name": work, "kind": "python", "script": f"file://{script(made, work, body)}", "max_concurrent": 0}
    api.post("/jobs", json={**asked, **job}).raise_for_status()


def start(api: httpx.Client, job: str) -> str:
    return str(api.post("/runs", json={"job": job}).raise_for_status().json()["id"])


def run_of(api: httpx.Client, run_id: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = api.get(f"/runs/{run_id}").raise_for_status().json()
    return found
