"""Nodes over the API: who serves, how they stand, and how an admin drains one."""

from dataclasses import replace
from typing import Any

import httpx

from tests.faces.api.serving import Served
from tests.faces.api.test_audit import found
from waterclock.domain.access import Role
from waterclock.domain.moment import SECOND
from waterclock.stores.ops.nodes import Node, Pulse, beat, stop_node

ONE = Node(
    id="one",
    host="h",
    name="eins",
    duties=("scheduler", "worker"),
    role="main",
    labels=("gpu",),
    slots=4,
    version="1",
    pid=7,
)


async def heard(server: Served, node: Node = ONE, *, ahead_us: int = 0, **pulse: Any) -> bool:
    """What the node is told."""
    now = await server.context.cluster.now()
    return (await server.database.write(beat, node=node, wall_us=now + ahead_us, pulse=Pulse(**pulse))).draining


async def node(api: httpx.AsyncClient) -> Any:
    (only,) = (await api.get("/nodes")).json()["items"]
    return only


async def test_a_node_is_drained_and_resumed(server: Served, api: httpx.AsyncClient) -> None:
    await heard(server)
    assert (await node(api))["standing"] == "live"
    answer = await api.post("/nodes/one/drain")
    assert (answer.status_code, answer.json()["standing"]) == (202, "draining")
    assert await heard(server, running=3)
    assert [(await node(api))[name] for name in ("standing", "running", "drained_at")] == ["draining", 3, None]
    assert await heard(server, drained=True)
    drained = await node(api)
    assert (drained["standing"], drained["running"], drained["drained_at"][-1]) == ("drained", 0, "Z")
    assert (await api.post("/nodes/one/resume")).json()["standing"] == "live"
    assert not await heard(server)
    drains = await found(api, action="POST /api/v1/nodes/{id}/drain")
    assert [(each["user"], each["resource"], each["status"]) for each in drains] == [("admin", "one", 202)]


async def test_what_cannot_be_drained_is_refused_with_the_reason(server: Served, api: httpx.AsyncClient) -> None:
    assert (await api.post("/nodes/nobody/drain")).json()["error"]["message"] == "node 'nobody' not found"
    await heard(server)
    await server.database.write(stop_node, node_id="one")
    assert (await api.post("/nodes/one/drain")).status_code == 404
    await heard(server, replace(ONE, id="two", duties=("library:default",)))
    refused = await api.post("/nodes/two/drain")
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "not_allowed")
    assert "shut it down there" in refused.json()["error"]["message"]
    assert (await api.post("/nodes/one/drain", json={"when": "now"})).json()["error"]["field"] == "when"


async def test_an_organisation_drains_its_own_workers_and_no_others(server: Served) -> None:
    other = await server.other_organisation()
    await heard(server)
    await heard(server, replace(ONE, id="theirs", host="elsewhere", org_id=other))
    async with server.as_user(await server.token_of("eve", Role.ADMIN, org_id=other)) as eve:
        assert (await eve.post("/nodes/one/drain")).status_code == 403
        assert (await eve.post("/nodes/theirs/drain")).status_code == 202


async def test_the_status_shows_queues_leases_lateness_and_warns(server: Served, api: httpx.AsyncClient) -> None:
    await api.post("/jobs", json={"name": "load", "kind": "python", "max_concurrent": 0})
    for _ in range(3):
        await api.post("/runs", json={"job": "load"})
    await server.hand.begin()
    late: dict[str, Any] = {"late_us": 3 * SECOND, "late_median_us": SECOND, "late_most_us": 4 * SECOND}
    await heard(server)
    await heard(server, ahead_us=60 * SECOND, running=1, **late)
    shown = (await api.get("/status")).json()
    assert shown["queues"] == {"STARTING": 2, "RUNNING": 1}
    (queue,) = shown["by_queue"]
    assert [queue[name] for name in ("queue", "waiting", "starting", "running")] == ["default", 0, 2, 1]
    assert 0 <= queue["oldest_seconds"] < 60
    assert shown["leases"] == {"held": 1, "overdue": 0}
    assert 0 < shown["store_latency_seconds"] < 60
    assert shown["duties"]["worker"] == {"live": 1, "draining": 0, "drained": 0, "lost": 0}
    (only,) = shown["nodes"]
    assert (only["late_seconds"], only["skewed"]) == ({"p50": 1.0, "p99": 3.0, "max": 4.0}, True)
    assert [line.split(" (")[0] for line in shown["warnings"]] == ["eins", "eins"]
    assert "its clock is +" in shown["warnings"][0]
    assert "fires late" in shown["warnings"][1]
    server.database.offset_us += 40 * SECOND
    lost = (await api.get("/status")).json()
    assert lost["nodes"][0]["standing"] == "lost"
    assert any("is lost" in line for line in lost["warnings"])
    assert lost["leases"] == {"held": 1, "overdue": 0}
