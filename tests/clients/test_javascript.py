"""The AWS SDK for JavaScript: node/round.cjs makes one round and says what it saw; here is what it should have seen."""

import json
import subprocess
from typing import Any

import pytest

from tests.acceptance.server import REPO, Server
from tests.clients.calling import assert_dead, environment, pid_in, script, sleeper
from tests.clients.installing import Node

pytestmark = pytest.mark.heavy  # it is installed first

ROUND = REPO / "tests/clients/node/round.cjs"
ROUND_SECONDS = 120.0


@pytest.fixture(scope="module")
def saw(node: Node, server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("round")
    location, pid_file = sleeper(folder, "sleeper")
    ran = subprocess.run(
        [str(node.program), str(ROUND), script(folder, "load", "print('loaded')\n"), location, str(pid_file)],
        env=environment(server, folder, NODE_PATH=str(node.modules)),
        capture_output=True,
        text=True,
        timeout=ROUND_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return {**json.loads(ran.stdout), "pid_file": pid_file}


def test_runs_end_and_come_newest_first_in_pages(saw: dict[str, Any]) -> None:
    runs = saw["runs"]
    assert runs["states"] == ["SUCCEEDED"] * 3
    newest_first = [[run_id, str(number), True] for number, run_id in enumerate(runs["ids"])][::-1]
    assert runs["pages"] == [newest_first[:2], newest_first[2:]]


def test_a_trigger_is_started_stopped_and_deleted(saw: dict[str, Any]) -> None:
    assert saw["trigger"] == {"states": ["CREATED", "ACTIVATED", "DEACTIVATED"], "left": []}


def test_tags_are_added_removed_and_filtered_by(saw: dict[str, Any]) -> None:
    assert saw["tags"] == {"tags": {"team": "data"}, "listed": ["load"]}


def test_a_workflow_completes_with_its_graph_and_its_properties(saw: dict[str, Any]) -> None:
    assert saw["workflow"] == {"status": "COMPLETED", "nodes": 4, "succeeded": 2, "RunProperties": {"region": "north"}}


def test_errors_are_instances_of_the_sdks_classes(saw: dict[str, Any]) -> None:
    names = ["EntityNotFoundException", "AlreadyExistsException", "InvalidInputException", "UnknownOperationException"]
    assert [error["name"] for error in saw["errors"]] == names
    assert [error["status"] for error in saw["errors"]] == [400] * 4
    assert all(error["typed"] and error["message"] for error in saw["errors"])
    assert saw["stop"]["busy"]["name"] == "ConcurrentRunsExceededException"


def test_stopping_a_run_kills_its_process(saw: dict[str, Any]) -> None:
    stop = saw["stop"]
    assert (stop["stopped"], stop["errors"], stop["JobRunState"]) == ([stop["JobRunId"]], ["jr_0"], "STOPPED")
    assert_dead(pid_in(saw["pid_file"]))
