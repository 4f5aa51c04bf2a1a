"""Airflow's GlueJobOperator: airflow_round.py makes a round and says what it saw; here is what it should have seen."""

import configparser
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.server import REPO, Server, running
from tests.clients.calling import assert_dead, environment, pid_in, script, sleeper
from tests.services.s3 import S3Server

ROUND = REPO / "tests/clients/airflow_round.py"
ROUND_SECONDS = 150.0
INSTALL_SECONDS = 600  # some 160 packages, on a slow line

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(INSTALL_SECONDS)]


@pytest.fixture(scope="module")
def server(s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that reads scripts from an S3 server, with a key of its own for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", s3_server.access_key)
        patch.setenv("AWS_SECRET_ACCESS_KEY", s3_server.secret_key)
        folder = tmp_path_factory.mktemp("server")
        with running(folder, s3_endpoint=s3_server.endpoint_url, stop_grace_seconds=0.5) as server:
            yield server


@pytest.fixture(scope="module")
def in_s3(s3_server: S3Server) -> str:
    client = s3_server.client()
    client.create_bucket(Bucket="airflow")
    # It lasts for several looks of the operator at its log.
    body = (
        b"import sys, time\nprint('hello', sys.argv[-1], flush=True)\ntime.sleep(1)\nprint('done', file=sys.stderr)\n"
    )
    client.put_object(Bucket="airflow", Key="scripts/hello.py", Body=body)
    return "s3://airflow/scripts/hello.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("round")
    script(folder, "hello", "print('hello')\n")
    script(folder, "fails", "raise SystemExit(3)\n")
    sleeper(folder, "sleeper")
    return folder


@pytest.fixture(scope="module")
def saw(airflow_python: Path, server: Server, in_s3: str, folder: Path) -> dict[str, Any]:
    ran = subprocess.run(
        [str(airflow_python), str(ROUND), in_s3, str(folder)],
        env=environment(
            server, folder, AIRFLOW_HOME=str(folder / "airflow"), AIRFLOW_CONN_AWS_DEFAULT=connection(server)
        ),
        capture_output=True,
        text=True,
        timeout=ROUND_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, f"{ran.stdout[-4000:]}\n{ran.stderr[-4000:]}"
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def connection(server: Server) -> str:
    keys = configparser.ConfigParser()
    keys.read(server.data / "credentials")
    key = keys["default"]
    extra = {"region_name": "us-east-1", "endpoint_url": server.address}
    login = {"login": key["aws_access_key_id"], "password": key["aws_secret_access_key"]}
    return json.dumps({"conn_type": "aws", **login, "extra": extra})


def test_a_job_is_made_run_and_waited_for(saw: dict[str, Any], server: Server) -> None:
    verbose = saw["verbose"]
    run = server.glue().get_job_run(JobName="verbose", RunId=verbose["run_id"])["JobRun"]
    assert (run["JobRunState"], run["Arguments"]) == ("SUCCEEDED", {"--day": "monday"})
    assert verbose["role"] == "arn:aws:iam::123456789012:role/glue"  # IAM's answer, from our endpoint
    assert verbose["max_capacity"] == 10.0


def test_a_verbose_operator_logs_what_the_program_wrote(saw: dict[str, Any]) -> None:
    logged = "\n".join(saw["verbose"]["said"])
    assert logged.count("hello monday") == 1
    assert logged.count("done") == 1


def test_a_failed_run_raises(saw: dict[str, Any]) -> None:
    assert saw["failing"]["type"] == "AirflowException"
    assert saw["failing"]["text"].endswith("Run State: FAILED")


def test_an_existing_job_is_updated_with_its_tags(saw: dict[str, Any], folder: Path) -> None:
    updated = saw["updating"]
    assert (updated["description"], updated["tags"]) == ("newer", {"team": "lake"})
    assert updated["location"] == f"file://{folder}/hello.py"


def test_a_killed_task_stops_the_run_that_an_earlier_try_began(saw: dict[str, Any], folder: Path) -> None:
    killing = saw["killing"]
    assert killing["runs"] == [[killing["run_id"], "STOPPED"]]
    assert killing["type"] == "GlueJobRunStoppedError"
    assert_dead(pid_in(folder / "sleeper.pid"))
