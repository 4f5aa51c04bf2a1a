"""API, scheduler and worker as processes of their own on one store."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.server import DEADLINE_SECONDS, Server, until


@contextmanager
def role(server: Server, name: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "waterclock", name]
    with subprocess.Popen(command, env=server.environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(DEADLINE_SECONDS)


@pytest.mark.parametrize("store", ["sqlite", "postgres", "mariadb"])
def test_each_role_in_its_own_process_makes_one_whole(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = "" if store == "sqlite" else str(request.getfixturevalue(f"{store}_url"))
    server = Server(tmp_path, url)
    script = tmp_path / "hello.py"
    script.write_text("print('hello')\n")
    with ExitStack() as processes:
        for name in ("scheduler", "scheduler", "worker"):
            processes.enter_context(role(server, name))
        api = processes.enter_context(role(server, "api"))
        assert api.stdout
        assert api.stdout.readline() == f"ready {server.address}\n"
        glue = server.glue()
        command = {"Name": "pythonshell", "ScriptLocation": f"file://{script}"}
        glue.create_job(Name="hello", Role="r", Command=command)
        actions = [{"JobName": "hello"}]
        glue.create_trigger(
            Name="ticks", Type="SCHEDULED", Schedule="* * * * * ?", StartOnCreation=True, Actions=actions
        )
        runs = until(lambda: (found := _succeeded(glue)) and len(found) >= 2 and found, "did not fire twice")
        assert server.cli("run", "logs", runs[0]["Id"]).stdout == "hello\n"
        glue.stop_trigger(Name="ticks")
        listed = json.loads(server.cli("trigger", "fires", "ticks", "--namespace", "glue", "--json").stdout)
        instants = [fire["fire_at"] for fire in listed]
        assert len(instants) >= 2
        assert len(set(instants)) == len(instants)
    server.kill_everything()


def test_a_second_worker_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    server = Server(tmp_path)
    with role(server, "worker"):
        until((server.data / "worker.lock").exists, "the worker never started")
        until(lambda: server.pids("supervisor"), "the worker never started its supervisor")
        said = server.cli("worker")
        assert said.returncode != 0
        assert "another worker runs in" in said.stderr
    server.kill_everything()


@pytest.mark.parametrize("name", ["api", "scheduler", "worker", "up"])
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_ends_every_role_in_order(name: str, sign: signal.Signals, tmp_path: Path) -> None:
    server = Server(tmp_path)
    with role(server, name) as process:
        ready = {"worker": "worker.lock", "scheduler": "host-id"}.get(name)
        if ready is None:
            assert process.stdout
            assert process.stdout.readline().startswith("ready ")
        else:
            until((server.data / ready).exists, f"the {name} never started")
        process.send_signal(sign)
        assert process.wait(DEADLINE_SECONDS) == 0
    server.kill_everything()


def _succeeded(glue: Any) -> list[dict[str, Any]]:
    return [each for each in glue.get_job_runs(JobName="hello")["JobRuns"] if each["JobRunState"] == "SUCCEEDED"]
