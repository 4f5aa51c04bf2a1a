"""The programs of examples/library do what they say, each in processes of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from tests.services.server import free_port
from waterclock.domain.library import PastRun
from waterclock.domain.moment import SECOND, to_datetime
from waterclock.jobstores.sql import namespace_of
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.library import library_jobs, past_runs

EXAMPLES = Path(__file__).parents[2] / "examples" / "library"
PATIENCE_SECONDS = 60.0


@contextmanager
def example(
    name: str, *args: object, folder: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """All that it says comes in one stream; nothing of it is left behind."""
    with subprocess.Popen(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *map(str, args)],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line_with(process: subprocess.Popen[str], text: str) -> str:
    assert process.stdout
    return next(line for line in process.stdout if text in line)


def interrupted(process: subprocess.Popen[str]) -> str:
    """What it still says after Ctrl-C, until it has ended in peace."""
    process.send_signal(signal.SIGINT)
    assert process.stdout
    said = process.stdout.read()  # what was read ahead with the last line included, which communicate() passes over
    assert process.wait(PATIENCE_SECONDS) == 0, said
    return said


def test_the_process_pool_counts_primes_and_kills_what_never_ends(tmp_path: Path) -> None:
    with example("process_pool", folder=tmp_path) as process:
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    for line in (
        "primes below 10: SUCCEEDED, 4",
        "primes below 1000: SUCCEEDED, 168",
        "primes below 100000: SUCCEEDED, 9592",
        "endless: TIMEOUT, did not end within 1 s",
        "its process is gone: True",
    ):
        assert line in said.splitlines(), said
    assert process.returncode == 0


async def test_two_processes_on_one_postgresql_run_every_due_time_once(postgres_url: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        both = [stack.enter_context(example("shared_postgresql", postgres_url, folder=tmp_path)) for _ in range(2)]
        said = "".join(line_with(process, "in process") for process in both * 2)  # each runs something
        said += "".join(interrupted(process) for process in both)
    ran = re.findall(r"(\S+) (refresh \w+) in process (\d+)", said)
    assert {int(pid) for _, _, pid in ran} == {process.pid for process in both}
    history = await histories(postgres_url)
    assert sorted(ran) == sorted((f"{at:%H:%M:%S}", job, str(line.result)) for job, at, line in ended(history))
    for lines in history.values():
        seconds = (lines[0].scheduled_at - lines[-1].scheduled_at) / SECOND
        assert sum(line.count for line in lines) >= seconds + 1  # none is left out between the first and the last


async def histories(url: str) -> dict[str, list[PastRun]]:
    """Of every job, the newest first; read without a scheduler, which would run what the last one has left."""
    database, namespace = database_from_url(url), namespace_of("shared_postgresql")
    await database.open()
    try:
        jobs = await database.read(library_jobs, namespace=namespace)
        return {
            each.job.name: await database.read(past_runs, job_id=each.id, trigger_id=each.trigger_id, limit=1_000)
            for each in jobs
        }
    finally:
        await database.close()


def ended(history: Mapping[str, Sequence[PastRun]]) -> Iterator[tuple[str, datetime, PastRun]]:
    """The runs; those that are left had not begun when the last process went."""
    for job, lines in history.items():
        for line in lines:
            assert line.state in ("SUCCEEDED", "SKIPPED", "WAITING", "STARTING"), line
            if line.state == "SUCCEEDED":
                yield job, to_datetime(line.scheduled_at), line


def test_without_a_postgresql_the_example_says_how_to_get_one(tmp_path: Path) -> None:
    nowhere = f"postgresql://nobody@127.0.0.1:{free_port()}/nothing"
    for environment in ({"WATERCLOCK_URL": nowhere}, {}):
        with example("shared_postgresql", folder=tmp_path, environment=environment) as process:
            said, _ = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 1
        assert "docker run" in said
        assert "Traceback" not in said


def test_jobs_of_the_web_application_run_are_listed_and_outlive_the_server(tmp_path: Path) -> None:
    port = free_port()
    with example("web_app", port, folder=tmp_path) as server, client(server, port) as web:
        asked = {"task": "refresh", "seconds": 0.2, "arguments": {"table": "orders"}}
        added = web.post("/jobs", json=asked)
        assert (added.status_code, added.json()["task"]) == (201, "refresh")
        assert run_of(web, added.json()["id"])["result"] == "orders is fresh"
        plain = web.post("/jobs", json={"task": "count", "seconds": 0.2}).json()["id"]
        assert run_of(web, plain)["result"] == 499_500
        for wrong in (
            {"task": "rm -rf", "seconds": 1},
            {"task": "count", "seconds": "soon"},
            {**asked, "arguments": 1},
        ):
            assert web.post("/jobs", json=wrong).status_code == 400
        assert web.post("/jobs", content="{").status_code == 400
        assert "Traceback" not in interrupted(server)
    with example("web_app", port, folder=tmp_path) as server, client(server, port) as web:
        assert {plain, added.json()["id"], "every five minutes"} == {job["id"] for job in web.get("/jobs").json()}
        interrupted(server)


@contextmanager
def client(server: subprocess.Popen[str], port: int) -> Iterator[httpx.Client]:
    line_with(server, "Uvicorn running on")
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_SECONDS, trust_env=False) as web:
        yield web


def run_of(web: httpx.Client, job_id: str) -> dict[str, Any]:
    """The first of the job that has succeeded."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        runs = next(job["runs"] for job in web.get("/jobs").json() if job["id"] == job_id)
        if found := [run for run in runs if run["state"] == "SUCCEEDED"]:
            return dict(found[-1])
        time.sleep(0.05)
    raise AssertionError(f"{job_id} has not run")
