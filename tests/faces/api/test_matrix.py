"""The matrix of roles and routes: each call is done, refused, or, from another organisation, finds nothing."""

from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.faces.api.channels import make_channel
from tests.faces.api.serving import Served
from tests.faces.api.workflows import make_workflow
from waterclock.domain.access import Role
from waterclock.domain.run import RunState
from waterclock.faces.api.routes import TABLE
from waterclock.stores.ops.nodes import Node, beat

OURS = "ours alone"  # stands in all that is ours, and in nothing else
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
RANK = [Role.VIEWER, Role.OPERATOR, Role.AUTHOR, Role.ADMIN]
NAMES = {
    "jobs": "mine",
    "triggers": "t",
    "workflows": "flow",
    "secrets": "pass",
    "users": "ann",
    "groups": "etl",
    "channels": "ops",
}


@dataclass(frozen=True, slots=True)
class Row:
    """The least role that may; `elsewhere`: the status that the admin of another organisation meets."""

    least: Role
    body: Any = None
    elsewhere: int = 404


def read(elsewhere: int = 404) -> Row:
    return Row(Role.VIEWER, elsewhere=elsewhere)


WORK = Row(Role.WORKER, {}, 403)  # no person's: an admin may not, and a worker may nothing else
ANYBODY = {("GET", "/me")}  # it shows nothing of the organisation

# Things are the admin's own: what only an owner may do, only an admin may here. Deleting comes last.
MATRIX: dict[tuple[str, str], Row] = {
    ("GET", "/me"): read(200),
    ("GET", "/jobs"): read(200),
    ("POST", "/jobs"): Row(Role.AUTHOR, {"name": "new", "kind": "python"}, 201),
    ("GET", "/jobs/{name}"): read(),
    ("PUT", "/jobs/{name}"): Row(Role.ADMIN, {"kind": "python"}),
    ("GET", "/jobs/{name}/bookmark"): read(),
    ("PUT", "/jobs/{name}/bookmark"): Row(Role.OPERATOR, {"content": OURS}),
    ("GET", "/secrets"): read(200),
    ("PUT", "/secrets/{name}"): Row(Role.ADMIN, {"value": "long enough"}, 201),  # a secret of their own
    ("POST", "/secret-key"): Row(Role.ADMIN, None, 403),
    ("GET", "/triggers"): read(200),
    ("POST", "/triggers"): Row(Role.AUTHOR, {"name": "new", "actions": [{"job": "mine"}]}),
    ("GET", "/triggers/{name}"): read(),
    ("PUT", "/triggers/{name}"): Row(Role.ADMIN, {"actions": [{"job": "mine"}]}),
    ("POST", "/triggers/{name}/start"): Row(Role.OPERATOR),
    ("POST", "/triggers/{name}/stop"): Row(Role.OPERATOR),
    ("GET", "/triggers/{name}/fires"): read(),
    ("GET", "/triggers/{name}/next"): read(),
    ("GET", "/workflows"): read(200),
    ("GET", "/workflows/{name}"): read(),
    ("POST", "/workflows/{name}/start"): Row(Role.OPERATOR),
    ("GET", "/workflows/{name}/runs"): read(),
    ("GET", "/workflows/{name}/runs/{id}"): read(),
    ("POST", "/workflows/{name}/runs/{id}/resume"): Row(Role.OPERATOR, {"nodes": ["x"]}),
    ("POST", "/workflows/{name}/runs/{id}/stop"): Row(Role.OPERATOR),
    ("GET", "/runs"): read(200),
    ("POST", "/runs"): Row(Role.OPERATOR, {"job": "mine"}),
    ("POST", "/runs/batch"): Row(Role.OPERATOR, {"runs": [{"job": "mine"}]}),
    ("POST", "/runs/stop"): Row(Role.OPERATOR, {"ids": ["jr_x"]}, 202),
    ("GET", "/runs/{id}"): read(),
    ("POST", "/runs/{id}/stop"): Row(Role.OPERATOR),
    ("GET", "/runs/{id}/log"): read(),
    ("GET", "/runs/{id}/log/follow"): read(),
    ("GET", "/users"): read(200),
    ("POST", "/users"): Row(Role.ADMIN, {"name": "new", "role": "viewer"}, 201),
    ("PUT", "/users/{name}"): Row(Role.ADMIN, {"role": "viewer"}),
    ("GET", "/users/{name}/keys"): Row(Role.ADMIN),
    ("POST", "/users/{name}/keys"): Row(Role.ADMIN),
    ("GET", "/users/{name}/tokens"): Row(Role.ADMIN),
    ("POST", "/users/{name}/tokens"): Row(Role.ADMIN, {"name": "x"}),
    ("GET", "/groups"): read(200),
    ("POST", "/groups"): Row(Role.ADMIN, {"name": "new group"}, 201),
    ("PUT", "/groups/{name}/members/{user}"): Row(Role.ADMIN),
    ("GET", "/quotas"): read(200),
    ("PUT", "/quotas/{kind}"): Row(Role.ADMIN, {"most": 1_000}, 200),  # a line of their own
    ("PUT", "/quotas/{kind}/{user}"): Row(Role.ADMIN, {"most": 1_000}),
    ("GET", "/audit"): Row(Role.ADMIN, None, 200),
    ("GET", "/status"): read(200),
    ("GET", "/nodes"): read(200),
    ("POST", "/nodes/{id}/drain"): Row(Role.ADMIN, None, 403),
    ("POST", "/nodes/{id}/resume"): Row(Role.ADMIN, None, 403),
    ("GET", "/events"): read(200),
    ("GET", "/messages"): read(200),
    ("POST", "/messages/read"): Row(Role.OPERATOR, {"all": True}, 200),
    ("GET", "/channels"): read(200),
    ("POST", "/channels"): Row(Role.ADMIN, {"name": "new", "url": SLACK}, 201),
    ("GET", "/channels/{name}"): read(),
    ("PUT", "/channels/{name}"): Row(Role.ADMIN, {"on": False}),
    ("POST", "/channels/{name}/test"): Row(Role.ADMIN),
    ("GET", "/schedules/preview"): read(200),
    ("POST", "/work/beat"): WORK,
    ("POST", "/work/leave"): WORK,
    ("GET", "/work/wake"): WORK,
    ("POST", "/work/claim"): WORK,
    ("POST", "/work/give-back"): WORK,
    ("POST", "/work/release"): WORK,
    ("POST", "/work/adopt"): WORK,
    ("POST", "/work/record"): WORK,
    ("POST", "/work/report"): WORK,
    ("POST", "/work/renew"): WORK,
    ("POST", "/work/lock"): WORK,
    ("POST", "/work/stopping"): WORK,
    ("POST", "/work/secrets"): WORK,
    ("POST", "/work/masks"): WORK,
    ("PUT", "/work/logs/{attempt_id}"): WORK,
    ("DELETE", "/jobs/{name}/bookmark"): Row(Role.OPERATOR),
    ("DELETE", "/secrets/{name}"): Row(Role.ADMIN, None, 200),  # their own
    ("DELETE", "/channels/{name}"): Row(Role.ADMIN),
    ("DELETE", "/triggers/{name}"): Row(Role.ADMIN),
    ("DELETE", "/jobs/{name}"): Row(Role.ADMIN),
    ("DELETE", "/users/{name}/keys/{id}"): Row(Role.ADMIN),
    ("DELETE", "/users/{name}/tokens/{id}"): Row(Role.ADMIN),
    ("DELETE", "/quotas/{kind}/{user}"): Row(Role.ADMIN),
    ("DELETE", "/quotas/{kind}"): Row(Role.ADMIN, None, 200),  # the line that they have set
    ("DELETE", "/groups/{name}/members/{user}"): Row(Role.ADMIN),
    ("DELETE", "/groups/{name}"): Row(Role.ADMIN),
    ("DELETE", "/users/{name}"): Row(Role.ADMIN),
}


class Stage:
    """One thing of each kind, all the admin's, and the paths that name them."""

    def __init__(self, server: Served) -> None:
        self._server, self._api = server, server.client
        self._ids = dict.fromkeys(("keys", "tokens", "workflows", "runs"), "")  # a workflow's runs are not a job's
        self._ids["nodes"] = "one"

    async def set(self) -> "Stage":
        await self._made("/users", {"name": "ann", "role": "author"})
        await self._made("/groups", {"name": "etl"})
        await self._api.put("/groups/etl/members/ann")
        await self._made("/jobs", {"name": "mine", "kind": "python", "max_concurrent": 0, "arguments": {"x": OURS}})
        await self._api.put("/jobs/mine/bookmark", json={"content": OURS})
        await self._made("/triggers", {"name": "t", "actions": [{"job": "mine", "arguments": {"x": OURS}}]})
        await self._api.put("/secrets/pass", json={"value": "long enough", "description": OURS})
        await make_channel(self._server, "ops", OURS)
        self._ids["runs"] = (await self._made("/runs", {"job": "mine"}))["id"]
        held = await self._server.hand.begin()
        held.write(OURS.encode())
        await held.end(RunState.SUCCEEDED)
        self._ids["keys"] = (await self._made("/users/ann/keys"))["id"]
        await self._made("/users/ann/tokens", {"name": "t"})
        self._ids["tokens"] = (await self._api.get("/users/ann/tokens")).json()["items"][0]["id"]
        node = Node(id="one", host="h", name="a host", duties=("worker",), version="1", pid=1)
        await self._server.database.write(beat, node=node, wall_us=0)
        await make_workflow(self._server)
        self._ids["workflows"] = (await self._made("/workflows/flow/start"))["id"]
        return self

    def path(self, template: str) -> str:
        parts = template.split("/")
        ids = [made for place, made in self._ids.items() if place in parts]
        values = {"name": NAMES.get(parts[1], ""), "id": ids[0] if ids else "", "user": "ann", "attempt_id": "1"}
        values["kind"] = "live_runs"  # of a quota
        query = "?expression=@daily" if template == "/schedules/preview" else ""
        return template.format(**values) + query

    async def _made(self, path: str, body: Any = None) -> Any:
        answer = await self._api.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()


def test_every_route_has_its_row() -> None:
    assert MATRIX.keys() == {(method, path) for method, path, _ in TABLE}


@pytest.mark.parametrize("role", [*RANK, Role.WORKER])
async def test_each_role_may_do_its_part(server: Served, role: Role) -> None:
    stage = await Stage(server).set()
    async with server.as_user(await server.token_of(f"a {role}", role)) as user:
        for (method, template), row in MATRIX.items():
            answer = await user.request(method, stage.path(template), json=row.body)
            if not may(role, row.least) and (method, template) not in ANYBODY:
                assert (answer.status_code, answer.json()["error"]["type"]) == (403, "forbidden"), (method, template)
            else:
                assert was_let_in(answer), (method, template, answer.text)


async def test_to_another_organisation_nothing_of_ours_is_there(server: Served) -> None:
    stage = await Stage(server).set()
    token = await server.token_of("eve", Role.ADMIN, org_id=await server.other_organisation())
    async with server.as_user(token) as eve:
        for (method, template), row in MATRIX.items():
            answer = await eve.request(method, stage.path(template), json=row.body)
            assert answer.status_code == row.elsewhere, (method, template, answer.text)
            assert OURS not in answer.text, (method, template)
    assert (await server.client.get(stage.path("/runs/{id}/log"))).json()["text"] == OURS
    for path in (
        "/jobs/{name}",
        "/triggers/{name}",
        "/workflows/{name}",
        "/users/{name}/keys",
        "/jobs/{name}/bookmark",
        "/channels/{name}",
    ):
        assert (await server.client.get(stage.path(path))).status_code == 200, path


def may(role: Role, least: Role) -> bool:
    if Role.WORKER in (role, least):
        return role is least
    return RANK.index(role) >= RANK.index(least)


def was_let_in(answer: httpx.Response) -> bool:
    """Whatever became of it then: a state of things may still forbid it."""
    return answer.is_success or answer.status_code in (400, 409)
