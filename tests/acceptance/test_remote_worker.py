"""A worker over HTTP, in a process of its own that has a token and no database."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.acceptance.server import DEADLINE_SECONDS, Server, running, until

SETTINGS = {"lease_seconds": "30", "heartbeat_seconds": "0.5", "stop_grace_seconds": "1"}


class Remote(Server):
    """`waterclock worker --server`, killed and started again on its own data directory."""

    def __init__(self, folder: Path, server: str, token_file: Path) -> None:
        super().__init__(folder)
        self.data = folder / "remote"
        self.log = folder / "remote.log"
        self.command = [sys.executable, "-m", "waterclock", "worker", "--server", server]
        self.command += ["--token-file", str(token_file), "--data-dir", str(self.data)]

    @property
    def environment(self) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items() if not name.startswith("WATERCLOCK_")}
        return {**ours, **{f"WATERCLOCK_{name.upper()}": value for name, value in SETTINGS.items()}}

    def start(self) -> None:
        with self.log.open("ab") as errors:
            self.process = subprocess.Popen(self.command, env=self.environment, stderr=errors, text=True)

    def kill_worker(self) -> None:
        """-9, but not to its supervisor."""
        assert self.process
        self.process.kill()
        self.process.wait(DEADLINE_SECONDS)

    def said(self) -> str:
        return self.log.read_text()


@contextmanager
def remote_worker(folder: Path, server: Server, token: str) -> Iterator[Remote]:
    file = folder / "worker.token"
    file.write_text(f"{token}\n")
    remote = Remote(folder, f"http://127.0.0.1:1,{server.address}", file)  # at the first address nobody answers
    remote.start()
    try:
        yield remote
    finally:
        if remote.process and remote.process.poll() is None:
            remote.kill_worker()
        remote.kill_everything()


def test_a_worker_without_a_database_does_all_that_one_with_it_does(tmp_path: Path) -> None:
    """One long walk, because each start of a server is a second."""
    go = tmp_path / "go"
    # The server's own worker serves another queue: what is in the usual one is left to the remote worker.
    with running(tmp_path, worker_queues="elsewhere", **SETTINGS) as server, _api(server) as api:
        token = _worker_token(api)
        _make(api, tmp_path, "tells", "import os; print('it is', os.environ['PASS']); raise SystemExit(3)")
        _make(api, tmp_path, "stays", "import time; time.sleep(600)")
        _make(api, tmp_path, "waits", f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.02)")
        _refuses_a_wrong_token(tmp_path, server)
        with remote_worker(tmp_path, server, token) as remote:
            told = _start(api, "tells", {"--secret-env": "PASS=pass"})
            run = until(lambda: _ended(api, told), "it was not run")
            assert (run["state"], run["message"]) == ("FAILED", "exit code 3: it is ***")
            log = until(lambda: (found := api.get(f"/runs/{told}/log").json())["ended"] and found, "no log")
            assert log["text"] == "it is ***\n"

            lake = _lake_run(api, server.address)
            assert (lake["job_status"], lake["message"]) == ("Error", "exit code 3: it is ***")
            assert lake["stats"]["rows_written"] == 7

            stopped = _start(api, "stays")
            until(lambda: _run(api, stopped)["state"] == "RUNNING", "it never ran")
            api.post(f"/runs/{stopped}/stop")
            assert until(lambda: _ended(api, stopped), "not stopped")["state"] == "STOPPED"

            adopted = _start(api, "waits")
            until(lambda: _run(api, adopted)["state"] == "RUNNING", "it never ran")
            remote.kill_worker()
            server.stop()
            remote.start()
            until(lambda: "trying again until a server answers" in remote.said(), "says nothing of the outage")
            server.start()
            until(lambda: "adopted 1 attempt(s)" in remote.said(), "it was not adopted")
            go.touch()
            assert until(lambda: _ended(api, adopted), "it was lost")["state"] == "SUCCEEDED"
            remote.stop()
            assert remote.process is not None
            assert remote.process.returncode == 0


def _refuses_a_wrong_token(folder: Path, server: Server) -> None:
    file = folder / "wrong.token"
    file.write_text("wct_wrong")
    remote = Remote(folder, server.address, file)
    said = subprocess.run(
        remote.command, env=remote.environment, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False
    )
    assert said.returncode == 1
    assert "the token is unknown, revoked or expired" in said.stderr


@contextmanager
def _api(server: Server) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {(server.data / 'token').read_text().strip()}"}
    with httpx.Client(base_url=f"{server.address}/api/v1", headers=headers, timeout=20) as client:
        yield client


def _worker_token(api: httpx.Client) -> str:
    api.put("/secrets/pass", json={"value": "hunter22"}).raise_for_status()
    api.post("/users", json={"name": "rack", "role": "worker"}).raise_for_status()
    return str(api.post("/users/rack/tokens", json={"name": "rack"}).json()["token"])


def _make(api: httpx.Client, folder: Path, name: str, text: str) -> None:
    script = folder / f"{name}.py"
    script.write_text(text)
    api.post("/jobs", json={"name": name, "kind": "python", "script": f"file://{script}"}).raise_for_status()


def _lake_run(api: httpx.Client, address: str) -> dict[str, Any]:
    """Of a Python job that is given a secret, and says how far it has come."""
    report = "json.dump({'progress': {'rows_written': 7}}, open('report.json', 'w'))"
    job = {
        "class_name": "python_job",
        "display_name": "far",
        "job_type": "Python",
        "code": f"import json, sys\n{report}\nprint('it is', sys.argv[1]); raise SystemExit(3)",
        "args": ["{{secret:pass}}"],
        "schedule_time": {"class_name": "none_schedule"},
    }
    made = api.post(f"{address}/lake/job/create", json={"job": job}).raise_for_status()
    api.put(f"{address}/lake/schedule/job/{made.json()['job']['job_id']}/now", json={}).raise_for_status()

    def ended() -> dict[str, Any] | None:
        (run,) = api.post(f"{address}/lake/history/list", json={"from": 0, "size": 1}).json()["data"]
        return run if run["job_status"] == "Error" else None

    return dict(until(ended, "it was not run"))


def _start(api: httpx.Client, job: str, arguments: dict[str, str] | None = None) -> str:
    return str(api.post("/runs", json={"job": job, "arguments": arguments or {}}).json()["id"])


def _run(api: httpx.Client, run_id: str) -> dict[str, Any]:
    return dict(api.get(f"/runs/{run_id}").raise_for_status().json())


def _ended(api: httpx.Client, run_id: str) -> dict[str, Any] | None:
    run = _run(api, run_id)
    return run if run["ended_at"] else None
