"""Workflows over the API: listed, shown level by level, started, stopped and resumed."""

from typing import Any

import httpx
import pytest

from tests.faces.api.serving import Served
from tests.faces.api.workflows import make_workflow
from waterclock.domain.access import Role
from waterclock.domain.run import RunState


@pytest.fixture(autouse=True)
async def _workflow(server: Served) -> None:
    await make_workflow(server)


async def started(api: httpx.AsyncClient, **body: Any) -> str:
    answer = await api.post("/workflows/flow/start", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def shown(api: httpx.AsyncClient, run_id: str) -> dict[str, Any]:
    answer = await api.get(f"/workflows/flow/runs/{run_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def states(run: dict[str, Any]) -> dict[str, str]:
    found = [node for level in run["levels"] for stage in level for node in stage["nodes"]]
    return {node["job"].removeprefix("flow-"): node["state"] for node in found if node["state"]}


async def test_a_workflow_is_shown_level_by_level(api: httpx.AsyncClient) -> None:
    flow = (await api.get("/workflows/flow")).json()
    assert (flow["name"], flow["namespace"], flow["owner"], flow["description"]) == ("flow", "glue", "admin", "a test")
    assert (flow["properties"], flow["last_run"]) == ({"day": "today"}, None)
    first, second = flow["levels"]
    (start,) = first
    assert (start["trigger"], start["needs"], start["fired"]) == ("flow-start", [], False)
    assert [stage["trigger"] for stage in second] == ["flow-alarm", "flow-then"]
    (a,) = start["nodes"]
    assert (a["job"], a["state"], a["runs"]) == ("flow-a", None, [])
    assert second[1]["needs"] == [{"nodes": [a["id"]], "states": ["SUCCEEDED"]}]


async def test_a_run_is_shown_with_its_nodes_and_their_runs(api: httpx.AsyncClient, server: Served) -> None:
    run_id = await started(api, properties={"day": "monday", "x": "y"})
    held = await server.hand.begin()
    run = await shown(api, run_id)
    assert (run["state"], run["nodes"], run["states"]) == ("RUNNING", 3, {"RUNNING": 1})
    assert (run["properties"], run["requested_by"]) == ({"day": "monday", "x": "y"}, "admin")
    assert run["levels"][0][0]["fired"]
    assert run["levels"][0][0]["nodes"][0]["runs"] == [held.path.stem]
    await held.end(RunState.SUCCEEDED)
    await (await server.hand.begin()).end(RunState.SUCCEEDED)
    run = await shown(api, run_id)
    assert (run["state"], states(run)) == ("COMPLETED", {"a": "SUCCEEDED", "b": "SUCCEEDED"})
    assert run["ended_at"] >= run["started_at"]
    assert (await api.get("/workflows/flow")).json()["last_run"] == run
    (listed,) = (await api.get("/workflows")).json()["items"]
    assert listed["last_run"] == {name: value for name, value in run.items() if name != "levels"}


async def test_workflows_and_runs_come_in_pages(api: httpx.AsyncClient, server: Served) -> None:
    await make_workflow(server, "second")
    page = (await api.get("/workflows", params={"size": 1})).json()
    rest = (await api.get("/workflows", params={"size": 1, "token": page["next_token"]})).json()
    assert [each["name"] for each in page["items"] + rest["items"]] == ["flow", "second"]
    assert rest["next_token"] is None
    ids = [await started(api) for _ in range(3)]
    newest = (await api.get("/workflows/flow/runs", params={"size": 2})).json()
    oldest = (await api.get("/workflows/flow/runs", params={"size": 2, "token": newest["next_token"]})).json()
    assert [each["id"] for each in newest["items"] + oldest["items"]] == ids[::-1]
    wrong = await api.get("/workflows", params={"token": newest["next_token"]})
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (400, "token")


async def test_a_run_is_stopped_until_nothing_of_it_lives(api: httpx.AsyncClient, server: Served) -> None:
    run_id = await started(api)
    held = await server.hand.begin()
    answer = await api.post(f"/workflows/flow/runs/{run_id}/stop")
    assert (answer.status_code, answer.json()["state"]) == (202, "STOPPING")
    await held.end(RunState.STOPPED)
    assert (await shown(api, run_id))["state"] == "STOPPED"
    again = await api.post(f"/workflows/flow/runs/{run_id}/stop")
    assert (again.status_code, again.json()["error"]["type"]) == (409, "not_allowed")


async def test_a_failed_run_is_resumed_as_a_new_one(api: httpx.AsyncClient, server: Served) -> None:
    old = await started(api)
    await (await server.hand.begin()).end(RunState.FAILED)
    await (await server.hand.begin()).end(RunState.SUCCEEDED)
    run = await shown(api, old)
    assert states(run) == {"a": "FAILED", "c": "SUCCEEDED"}
    node = run["levels"][0][0]["nodes"][0]["id"]
    answer = await api.post(f"/workflows/flow/runs/{old}/resume", json={"nodes": [node]})
    assert (answer.status_code, answer.json()["nodes"]) == (201, [node])
    new = await shown(api, answer.json()["id"])
    assert (new["previous_run"], states(new)) == (old, {"a": "STARTING"})
    for body, field in (({}, "nodes"), ({"nodes": []}, "nodes"), ({"nodes": ["x"]}, "nodes")):
        wrong = await api.post(f"/workflows/flow/runs/{old}/resume", json=body)
        assert (wrong.status_code, wrong.json()["error"]["field"]) == (400, field), wrong.text


async def test_what_is_not_there_is_not_found(api: httpx.AsyncClient) -> None:
    for method, path in (
        ("GET", "/workflows/nobody"),
        ("POST", "/workflows/nobody/start"),
        ("GET", "/workflows/nobody/runs"),
        ("GET", "/workflows/flow/runs/wr_nobody"),
        ("POST", "/workflows/flow/runs/wr_nobody/stop"),
    ):
        answer = await api.request(method, path)
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "not_found"), path


async def test_the_cap_of_a_workflow_is_told(api: httpx.AsyncClient, server: Served) -> None:
    await make_workflow(server, "capped", cap=1)
    assert (await api.post("/workflows/capped/start")).status_code == 201
    refused = await api.post("/workflows/capped/start")
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "concurrent_runs_exceeded")


async def test_a_viewer_looks_and_does_not_run(server: Served) -> None:
    async with server.as_user(await server.token_of("eve", Role.VIEWER)) as viewer:
        assert (await viewer.get("/workflows/flow")).status_code == 200
        assert (await viewer.post("/workflows/flow/start")).status_code == 403
