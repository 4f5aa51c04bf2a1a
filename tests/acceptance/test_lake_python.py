"""Python jobs of the lake on a real server: from force-run to their end, whatever the end is."""

from contextlib import closing
from pathlib import Path

import httpx

from tests.acceptance.server import Server, alive, running, until
from tests.lake.lake_client import LakeClient

SETTINGS = {"auth": "none", "heartbeat_seconds": "0.5", "stop_grace_seconds": "5"}
KIND = "python_job"


def test_a_python_job_finishes_fails_and_is_killed(tmp_path: Path) -> None:
    """One long walk, because each start of a server is a second."""
    with running(tmp_path, **SETTINGS) as server, closing(LakeClient(server)) as lake:
        _finishes(lake, server, tmp_path)
        _fails_with_its_reason(lake)
        _shows_no_secret(lake, server)
        _is_killed(lake, server, tmp_path)
        _outlives_its_worker(lake, server, tmp_path)


def _finishes(lake: LakeClient, server: Server, folder: Path) -> None:
    go = folder / "go"
    code = f"import os, sys, time\n{_wait_for(go)}\nprint('hello', *sys.argv[1:])"
    job_id = lake.create(KIND, code=code, args=["a", "b"])
    run_id = lake.start(job_id)
    lake.until(job_id, "Running")
    go.touch()
    run = lake.ended(job_id)
    assert (run["run_id"], run["job_status"], run["message"]) == (run_id, "Finished", "")
    assert _log(server, run["log_id"]) == "== run ==\nhello a b\n"


def _fails_with_its_reason(lake: LakeClient) -> None:
    run = lake.run(lake.create(KIND, script="load.py"))
    assert run["job_status"] == "Error"
    assert run["message"].startswith("script 'load.py' is not a file below a folder that jobs may read (lake.roots: ")
    assert run["message"].endswith(" (exit code 1)")
    run = lake.run(lake.create(KIND, code="print('out'); raise ValueError('no such file in the lake')"))
    assert (run["job_status"], run["message"]) == ("Error", "exit code 1: ValueError: no such file in the lake")


def _shows_no_secret(lake: LakeClient, server: Server) -> None:
    httpx.put(f"{server.address}/api/v1/secrets/warehouse", json={"value": "hunter22"}).raise_for_status()
    report = "json.dump({'progress': {'key': sys.argv[1]}}, open('report.json', 'w'))"
    code = f"import json, sys\nprint('key', sys.argv[1])\n{report}\nraise SystemExit(sys.argv[1])"
    job_id = lake.create(KIND, code=code, args=["{{secret:warehouse}}"])
    run = lake.run(job_id)
    assert (run["job_status"], run["message"]) == ("Error", "exit code 1: ***")
    assert lake.status(job_id)["progress"] == {"key": "***"}
    assert "hunter22" in lake.log()
    assert _log(server, run["log_id"]).splitlines() == ["== run ==", "key ***", "***"]


def _is_killed(lake: LakeClient, server: Server, folder: Path) -> None:
    pids = folder / "pids"
    fork = "import os, time\nos.fork() or os.setsid()"
    job_id = lake.create(KIND, code=f"{fork}\nopen({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')\ntime.sleep(600)")
    lake.start(job_id)
    until(lambda: pids.exists() and len(pids.read_text().split()) == 2, "it never ran")
    lake.kill(job_id)
    lake.until(job_id, "Killed")
    assert [pid for pid in map(int, pids.read_text().split()) if alive(pid)] == []
    until(lambda: not list((server.data / "work").iterdir()), "its folder is left")


def _outlives_its_worker(lake: LakeClient, server: Server, folder: Path) -> None:
    go, end = folder / "go on", folder / "end"
    report = "json.dump({'phase': 'executing', 'progress': {'rows_written': 5}}, open('report.json', 'w'))"
    job_id = lake.create(KIND, code=f"import json, os, time\n{_wait_for(go)}\n{report}\n{_wait_for(end)}")
    lake.start(job_id)
    lake.until(job_id, "Running")
    server.kill("engine")
    go.touch()
    until(lambda: lake.status(job_id)["progress"] == {"rows_written": 5}, "nobody tells how far it is")
    end.touch()
    run = lake.ended(job_id)
    assert (run["job_status"], run["stats"]["rows_written"]) == ("Finished", 5)


def _wait_for(path: Path) -> str:
    return f"while not os.path.exists({str(path)!r}): time.sleep(0.02)"


def _log(server: Server, log_id: str) -> str:
    path = f"{server.address}/api/v1/runs/{log_id}/log"
    return str(until(lambda: (found := httpx.get(path).json())["ended"] and found, "no log")["text"])
