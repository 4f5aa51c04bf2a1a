"""What is kept for jobs from run to run: bookmarks that move on, secrets that nobody sees. All of it is real."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.server import REPO, Server, running, until

SECRET = "correct-horse-battery-staple"
HALF = len(SECRET) // 2


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("server"), stop_grace_seconds=0.5) as server:
        yield server


def make(server: Server, name: str, script: Path, source: str, **arguments: str) -> str:
    script.write_text(source)
    server.glue().create_job(
        Name=name,
        Role="r",
        Command={"Name": "pythonshell", "ScriptLocation": script.as_uri()},
        DefaultArguments={f"--{key.replace('_', '-')}": value for key, value in arguments.items()},
        ExecutionProperty={"MaxConcurrentRuns": 10},
    )
    return name


def start(server: Server, job: str, **arguments: str) -> str:
    given = {f"--{key.replace('_', '-')}": value for key, value in arguments.items()}
    return str(server.glue().start_job_run(JobName=job, Arguments=given)["JobRunId"])


def ended(server: Server, job: str, run_id: str) -> dict[str, Any]:
    glue = server.glue()

    def is_over() -> dict[str, Any] | None:
        run: dict[str, Any] = glue.get_job_run(JobName=job, RunId=run_id)["JobRun"]
        return run if run["JobRunState"] not in ("WAITING", "STARTING", "RUNNING", "STOPPING") else None

    found: dict[str, Any] = until(is_over, f"{run_id} never ended\n{server.errors()}")
    return found


def set_secret(server: Server, name: str, value: str) -> None:
    said = server.cli("secret", "set", name, input=value)
    assert said.returncode == 0, said.stderr


def log(server: Server, run_id: str) -> str:
    return server.cli("run", "logs", run_id).stdout


@pytest.mark.parametrize("page", ["bookmarks.md", "secrets.md"])
def test_the_examples_of_the_page_say_what_they_show(server: Server, tmp_path: Path, page: str) -> None:
    text = (REPO / "docs" / page).read_text()
    for source in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        (tmp_path / source.splitlines()[0].removeprefix("# ")).write_text(source)
    (session,) = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
        said = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=tmp_path,
            env={**server.environment, "PATH": path},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert said.returncode == 0, (command, said.stderr)
        assert said.stdout == shown or not shown, command


WAITS = """
import os, pathlib, sys, time
bookmark = pathlib.Path(os.environ["WATERCLOCK_BOOKMARK_FILE"])
print("found", bookmark.read_text() if bookmark.exists() else "nothing", flush=True)
gate = pathlib.Path(sys.argv[sys.argv.index("--gate") + 1])
while not gate.exists():
    time.sleep(0.01)
bookmark.write_text(sys.argv[sys.argv.index("--leaves") + 1])
"""


def test_a_program_whose_worker_is_killed_has_its_bookmark_saved(server: Server, tmp_path: Path) -> None:
    gate, glue = tmp_path / "gate", server.glue()
    job = make(server, "survivor", tmp_path / "waits.py", WAITS, gate=str(gate))
    run_id = start(server, job, leaves="day 1")
    until(lambda: "found nothing" in log(server, run_id), "did not begin")
    server.kill("engine")
    gate.touch()
    assert ended(server, job, run_id)["JobRunState"] == "SUCCEEDED"
    entry = glue.get_job_bookmark(JobName=job)["JobBookmarkEntry"]
    assert (entry["JobBookmark"], entry["RunId"], entry["Run"]) == ("day 1", run_id, 1)
    second = start(server, job, leaves="day 2")
    assert ended(server, job, second)["JobRunState"] == "SUCCEEDED"
    assert log(server, second) == "found day 1\n"
    assert glue.get_job_bookmark(JobName=job)["JobBookmarkEntry"]["PreviousRunId"] == run_id


HALVES = """
import os, pathlib, sys, time
secret, gate = os.environ["PASSWORD"], pathlib.Path(sys.argv[sys.argv.index("--gate") + 1])
half = len(secret) // 2
sys.stdout.write("it is " + secret[:half])
sys.stdout.flush()
while not gate.exists():
    time.sleep(0.01)
sys.stdout.write(secret[half:] + " <\\n")
raise SystemExit("cannot log in with " + secret)
"""


def test_a_secret_printed_in_two_halves_is_seen_by_nobody(server: Server, tmp_path: Path) -> None:
    set_secret(server, "halves", SECRET)
    gate = tmp_path / "gate"
    job = make(server, "halves", tmp_path / "halves.py", HALVES, gate=str(gate), secret_env="PASSWORD=halves")
    run_id = start(server, job)
    until(lambda: SECRET[:HALF].encode() in _raw_log(server, run_id), "did not begin")
    command = [sys.executable, "-m", "waterclock", "run", "logs", run_id, "-f"]
    with subprocess.Popen(command, env=server.environment, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout
        assert following.stdout.read(6) == "it is "
        assert log(server, run_id) == "it is "
        gate.touch()
        assert following.stdout.read() == "*** <\ncannot log in with ***\n"
    run = ended(server, job, run_id)
    assert (run["JobRunState"], run["ErrorMessage"]) == ("FAILED", "exit code 1: cannot log in with ***")
    assert run["Arguments"]["--secret-env"] == "PASSWORD=halves"
    assert SECRET.encode() in _raw_log(server, run_id)
    assert _files_with(server, SECRET, besides=run_id) == []


def test_a_secret_is_masked_in_the_words_of_a_program_that_was_adopted(server: Server, tmp_path: Path) -> None:
    set_secret(server, "adopted", SECRET)
    gate = tmp_path / "gate"
    job = make(server, "adopted", tmp_path / "halves.py", HALVES, gate=str(gate), secret_env="PASSWORD=adopted")
    run_id = start(server, job)
    until(lambda: SECRET[:HALF].encode() in _raw_log(server, run_id), "did not begin")
    server.kill("engine")
    set_secret(server, "adopted", "something-else-by-now")
    gate.touch()
    assert ended(server, job, run_id)["ErrorMessage"] == "exit code 1: cannot log in with ***"
    assert SECRET not in log(server, run_id)


def test_a_run_that_refers_to_no_secret_of_ours_fails_and_says_so(server: Server, tmp_path: Path) -> None:
    job = make(server, "unknown", tmp_path / "any.py", "", url="{{secret:never-set}}")
    run = ended(server, job, start(server, job))
    assert run["JobRunState"] == "FAILED"
    assert "there is no secret 'never-set'" in run["ErrorMessage"]


def _raw_log(server: Server, run_id: str) -> bytes:
    found = list((server.data / "logs").glob(f"*/{run_id}.log"))
    return found[0].read_bytes() if found else b""


def _files_with(server: Server, secret: str, *, besides: str) -> list[Path]:
    """Of all that the server keeps: its store, its journals, its own log, what is left of the run's folder."""
    kept = [*server.data.rglob("*"), server.data.parent / "server.log"]
    plain = [path for path in kept if path.is_file() and not path.is_symlink() and path.stem != besides]
    return [path for path in plain if secret.encode() in path.read_bytes()]
