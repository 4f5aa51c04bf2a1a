"""Several API processes behind one socket: each answers, one that dies is missed by nobody, a call counts once."""

import http.client
import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.acceptance.server import Server, alive, running, until

API = "waterclock.app.launch\0api\0"
CALLS = 60


class Line:
    """A kept connection, and which process is at its other end."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def call(self, action: str, body: dict[str, Any], call_id: str) -> tuple[dict[str, Any], str]:
        """The answer, and the id of the request."""
        lines = (self._server.data / "credentials").read_text().splitlines()
        keys = dict(line.split(" = ") for line in lines if " = " in line)
        headers = {"X-Amz-Target": f"AWSGlue.{action}", "Content-Type": "application/x-amz-json-1.1"}
        request = AWSRequest("POST", f"{self._server.address}/", headers, json.dumps(body))
        credentials = Credentials(keys["aws_access_key_id"], keys["aws_secret_access_key"])
        SigV4Auth(credentials, "glue", "us-east-1").add_auth(request)
        signed = {**dict(request.headers.items()), "amz-sdk-invocation-id": call_id}
        self._connection.request("POST", "/", json.dumps(body), signed)
        answer = self._connection.getresponse()
        told = json.loads(answer.read())
        assert answer.status == 200, told
        return told, answer.headers["x-amzn-RequestId"]

    def process(self) -> Path:
        """By the journal of its audit."""
        _, request_id = self.call("GetJobs", {}, str(uuid4()))
        return next(path for path in (self._server.data / "audit").iterdir() if request_id in path.read_text())


def lines_to_both(server: Server) -> tuple[Line, Line]:
    """Whoever has the fewest connections takes the next one; under load perhaps not the very next."""
    kept = [Line(server)]

    def other() -> Line | None:
        kept.append(Line(server))
        return kept[-1] if kept[-1].process() != kept[0].process() else None

    return kept[0], until(other, "one process takes all connections")


def make_job(server: Server, **more: Any) -> None:
    command = {"Name": "pythonshell", "ScriptLocation": "file:///none.py"}
    server.glue().create_job(
        Name="load", Role="r", Command=command, ExecutionProperty={"MaxConcurrentRuns": 999}, **more
    )


def test_a_call_that_is_repeated_at_another_process_counts_once(durable_url: str, tmp_path: Path) -> None:
    with running(tmp_path, durable_url, api_processes=2) as server:
        make_job(server)
        one, other = lines_to_both(server)
        for _ in range(5):
            call_id = str(uuid4())
            with ThreadPoolExecutor(2) as pool:  # at the same time
                both = list(pool.map(lambda line: line.call("StartJobRun", {"JobName": "load"}, call_id), (one, other)))  # noqa: B023
            assert both[0][0] == both[1][0]
        assert len(server.glue().get_job_runs(JobName="load")["JobRuns"]) == 5


def test_what_one_process_revokes_another_refuses_within_five_seconds(tmp_path: Path) -> None:
    with running(tmp_path, api_processes=2) as server:
        one, other = lines_to_both(server)
        (key,) = [
            line.split(" = ")[1] for line in (server.data / "credentials").read_text().splitlines() if "key_id" in line
        ]
        assert server.cli("key", "revoke", "--user", "admin", key).returncode == 0
        for line in (one, other):
            until(lambda: is_refused(line), "a revoked key is taken after 5 s", 5)  # noqa: B023


def is_refused(line: Line) -> bool:
    try:
        line.call("GetJobs", {}, str(uuid4()))
    except AssertionError:
        return True
    return False


def test_a_killed_process_is_missed_by_nobody(tmp_path: Path) -> None:
    with running(tmp_path, api_processes=2) as server:
        make_job(server)
        before = server.pids(API)
        assert len(before) == 2
        glue = server.glue()
        started = []
        for number in range(CALLS):
            if number == CALLS // 3:
                server.kill_one(before[0])
            started.append(glue.start_job_run(JobName="load")["JobRunId"])
        until(lambda: len(server.pids(API)) == 2, "the killed process does not come back")
        kept = glue.get_paginator("get_job_runs").paginate(JobName="load")
        assert sorted(started) == sorted(run["Id"] for page in kept for run in page["JobRuns"])
        assert lines_to_both(server)


def test_requests_are_counted_for_all_processes_also_after_one_was_killed(tmp_path: Path) -> None:
    with running(tmp_path, api_processes=2) as server:
        for line in lines_to_both(server):
            line.call("GetTriggers", {}, str(uuid4()))
        until(lambda: counted(server) == 2, "each process tells its own requests alone")
        server.kill_one(server.pids(API)[0])
        until(lambda: len(server.pids(API)) == 2, "the killed process does not come back")
        assert lines_to_both(server)
        assert counted(server) == 2


def counted(server: Server) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", "/metrics")
    series = 'waterclock_http_requests_total{face="glue",action="GetTriggers",status="200"} '
    text = connection.getresponse().read().decode()
    connection.close()
    return next((int(line.removeprefix(series)) for line in text.splitlines() if line.startswith(series)), 0)


def test_a_drain_of_one_is_a_drain_of_the_socket(tmp_path: Path) -> None:
    with running(tmp_path, api_processes=2, heartbeat_seconds=0.2) as server:
        nodes = json.loads(server.cli("node", "list", "--json").stdout)
        first, _ = [node["id"] for node in nodes if node["duties"] == ["api"]]
        assert server.cli("node", "drain", first).returncode == 0
        until(lambda: {ready(server) for _ in range(8)} == {503}, "some of them are ready")
        assert server.cli("node", "resume", first).returncode == 0
        until(lambda: {ready(server) for _ in range(8)} == {200}, "some of them are not ready")


def ready(server: Server) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", "/readyz")
    status = connection.getresponse().status
    connection.close()
    return status


def test_a_signal_to_the_parent_ends_all_of_them(tmp_path: Path) -> None:
    with running(tmp_path, api_processes=3) as server:
        processes = server.pids(API)
        assert len(processes) == 3
        assert server.process
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0
        assert not any(map(alive, processes))
        server.start()
        assert len(server.pids(API)) == 3
