"""A Python job from its order to its end: what it runs, what it is told, and what it leaves behind."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.runners.host import Ear, Host, is_alive, run, until
from tests.runners.lake.ordering import folder_of, logged, ordered, ordering, said
from waterclock.runners.base import End
from waterclock.runners.client import SupervisorClient
from waterclock.runners.lake import python_task
from waterclock.runners.lake.cache import Cache
from waterclock.runners.lake.environment import MAKING, name_of
from waterclock.runners.lake.report import Reporter
from waterclock.runners.lake.task import TaskFailed

TELLS = "import json, os, sys; print(json.dumps([sys.argv, os.getcwd(), dict(os.environ)]))"


def told(host: Host) -> tuple[list[str], str, dict[str, str]]:
    argv, cwd, environ = json.loads(logged(host).splitlines()[-1])
    return argv, cwd, environ


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One commit, with a package and a file beside it."""
    folder = tmp_path / "roots" / "repository"
    (folder / "jobs").mkdir(parents=True)
    (folder / "main.py").write_text(f"import jobs.load\n{TELLS}")
    (folder / "jobs" / "__init__.py").touch()
    (folder / "jobs" / "load.py").write_text("if __name__ == '__main__': print('as a module')")
    ann = ("-c", "user.name=ann", "-c", "user.email=ann@example.com")
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*ann, "commit", "-q", "-m", "first")):
        subprocess.run(["git", "-C", str(folder), *words], check=True, env={"PATH": "/usr/bin:/bin", "HOME": "/"})
    return folder


async def test_inline_code_runs_in_a_folder_of_its_own(host: Host, client: SupervisorClient) -> None:
    """The process that was started is the program; it sees nothing of the worker, and no order."""
    code = f"{TELLS}\nraise SystemExit(7 if os.path.exists('order.json') else os.getpid() % 7)"
    ear = Ear(client)
    await client.start([ordered(host, code=code, args=["one", "two words", 3], pip={"PIP_X": "secret"})])
    begun, ended = await ear.begun(1), await ear.ended(1)
    assert (ended.end, ended.exit_code) == (End.EXITED, begun.pid % 7)
    folder = folder_of(host)
    argv, cwd, environ = told(host)
    assert argv == [str(folder / "main.py"), "one", "two words", "3"]
    assert (cwd, environ["HOME"]) == (str(folder), str(folder))
    assert not {"SECRET_OF_THE_WORKER", "PIP_X", "WATERCLOCK_DATA_DIR"} & environ.keys()
    assert logged(host).startswith("== run ==\n")
    assert said(host) == {"phase": "executing"}


async def test_a_script_below_a_root_is_run_where_it_lies(host: Host, client: SupervisorClient, tmp_path: Path) -> None:
    (tmp_path / "roots").mkdir()
    script = tmp_path / "roots" / "job.py"
    script.write_text(f"import beside\n{TELLS}")
    (tmp_path / "roots" / "beside.py").touch()
    for attempt_id, location in enumerate(("job.py", str(script), script.as_uri()), start=1):
        program = ordered(host, attempt_id, script=location, roots=(str(tmp_path / "none"), str(tmp_path / "roots")))
        assert (await run(client, program)).exit_code == 0, logged(host, attempt_id)


async def test_a_repository_is_run_by_its_entrypoint(host: Host, client: SupervisorClient, repository: Path) -> None:
    roots = (str(repository.parent),)
    assert (await run(client, ordered(host, git_url=str(repository), args=["x"], roots=roots))).exit_code == 0
    argv, cwd, _ = told(host)
    assert (argv[1:], cwd) == (["x"], str(folder_of(host) / "repository"))
    assert len(said(host)["progress"]["commit"]) == 40
    module = ordered(host, 2, git_url=repository.as_uri(), entrypoint="jobs.load", roots=roots)
    assert (await run(client, module)).exit_code == 0
    assert logged(host, 2).endswith("as a module\n")


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ({}, "a python_job runs one of git_url, code or script: it has none of them"),
        ({"code": "1", "script": "x"}, "a python_job runs one of git_url, code or script: it has code and script"),
        ({"code": 5}, "code must be a text"),
        ({"code": "1", "args": "a b"}, "args must be a list of texts"),
        ({"code": "1", "entrypoint": "main.py"}, "entrypoint names a file of the repository: it goes with git_url"),
        ({"script": "/etc/passwd"}, "script '/etc/passwd' is not a file below a folder that jobs may read"),
        ({"script": "../../etc/passwd"}, "script '../../etc/passwd' is not a file below"),
        ({"script": "https://x/y.py"}, "script 'https://x/y.py': a script is a path, file:///path or s3://bucket/key"),
        ({"code": "1", "requirements": ["--index-url=x"]}, "requirements: '--index-url=x' is an option"),
        ({"code": "1", "requirements": "requirements.txt"}, "requirements: 'requirements.txt' is a file of the repo"),
        ({"git_url": "ext::sh -c id"}, "git_url 'ext::sh -c id' is no address that may be cloned"),
    ],
)
def test_what_cannot_run_says_why(tmp_path: Path, task: dict[str, Any], reason: str) -> None:
    order = ordering(tmp_path, task, roots=(str(tmp_path / "roots"),))
    with pytest.raises(TaskFailed) as failed:
        python_task.run(order, tmp_path, Reporter(tmp_path))
    assert str(failed.value).startswith(reason)


async def test_the_reason_is_the_reports_and_the_last_line_of_the_log(host: Host, client: SupervisorClient) -> None:
    ended = await run(client, ordered(host, code="1", args=["a\0b"]))
    assert (ended.end, ended.exit_code) == (End.EXITED, 1)
    assert said(host)["reason"] == "cannot start the program: embedded null byte"
    assert logged(host).splitlines()[-1] == said(host)["reason"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("../outside.py", "leads out of the repository"),
        ("none.py", "there is no such file in the repository"),
        ("-c", "must be a file of the repository, or the name of a module"),
        ("no module", "is neither a file (jobs/load.py) nor a module (jobs.load)"),
    ],
)
def test_an_entrypoint_is_in_the_repository(tmp_path: Path, given: str, reason: str) -> None:
    (tmp_path / "outside.py").touch()
    (tmp_path / "repository").mkdir()
    with pytest.raises(TaskFailed) as failed:
        python_task.entrypoint(given, tmp_path / "repository")
    assert str(failed.value).endswith(reason)


async def test_a_kill_leaves_no_process_of_it(host: Host, client: SupervisorClient) -> None:
    code = "import os, time\nos.fork()\nos.write(1, f'pids {os.getpid()}\\n'.encode())\ntime.sleep(600)"
    ear = Ear(client)
    await client.start([ordered(host, code=code)])
    await until(lambda: host.log(1).exists() and len(pids(host)) >= 2, "the processes")
    await client.stop([1])
    ended = await ear.ended(1)
    assert ended.end is End.STOPPED
    assert [pid for pid in pids(host) if is_alive(pid)] == []


async def test_a_stop_reaches_a_task_in_time_to_clean_up(host: Host, client: SupervisorClient) -> None:
    """It waits for another's installation; to be stopped is an exit like any other."""
    ear = Ear(client)
    with Cache(host.folder / "cache").held(MAKING, name_of(("six",))):
        await client.start([ordered(host, code="1", requirements=["six"])])
        await until(lambda: host.log(1).exists() and "waiting for another run" in logged(host), "it to wait")
        await client.stop([1])
        ended = await ear.ended(1)
    assert (ended.end, ended.exit_code) == (End.STOPPED, 128 + signal.SIGTERM)


def pids(host: Host) -> set[int]:
    lines = [line.split() for line in logged(host).splitlines()]
    return {int(pid) for words in lines if words[0] == "pids" for pid in words[1:]}
