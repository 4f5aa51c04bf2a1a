"""The matrix of roles and routes of chains: done, refused, or, from another organisation, nothing there."""

import re
from typing import Any

import httpx
import pytest

from tests.faces.api.serving import Served
from tests.faces.api.test_audit import found
from tests.faces.api.test_matrix import OURS, RANK, Row, read, was_let_in
from tests.faces.chains.hand import ChainHand, body, made, started
from waterclock.domain.access import Role
from waterclock.faces.api.routing import ApiRoute
from waterclock.faces.chains import chain_routes
from waterclock.faces.chains.routes import TABLE

# Things are the admin's own: what only an owner may do, only an admin may here. Deleting comes last.
MATRIX: dict[tuple[str, str], Row] = {
    ("GET", ""): read(200),
    ("POST", ""): Row(Role.AUTHOR, body(), 201),
    ("POST", "/plan"): Row(Role.VIEWER, body(), 200),
    ("POST", "/import"): Row(Role.AUTHOR, {"chain": body(), "source": "elsewhere"}, 201),
    ("GET", "/messages"): read(200),
    ("POST", "/messages/read"): Row(Role.OPERATOR, {"all": True}, 200),
    ("GET", "/{id}"): read(),
    ("GET", "/{id}/plan"): read(),
    ("GET", "/{id}/runs"): read(),
    ("GET", "/runs/{run_id}"): read(),
    ("POST", "/runs/{run_id}/stop"): Row(Role.OPERATOR),
    ("POST", "/{id}/run"): Row(Role.OPERATOR),
    ("PUT", "/{id}/switch"): Row(Role.OPERATOR, {"switch": "OFF"}),
    ("PUT", "/{id}"): Row(Role.ADMIN, body()),
    ("DELETE", "/{id}"): Row(Role.ADMIN),
}


def test_every_route_has_its_row() -> None:
    assert MATRIX.keys() == {(method, path) for method, path, _ in TABLE}


async def set_stage(chains: httpx.AsyncClient) -> dict[str, int]:
    """A chain with a live run, and a message: what the paths name."""
    chain = {**body(job_desc=OURS, timestr="unreadable"), "id": 40}
    assert (await chains.post("/chains/import", json={"chain": chain, "source": OURS})).status_code == 201
    return {"id": 40, "run_id": await started(chains, 40)}


@pytest.mark.parametrize("role", RANK)
async def test_each_role_may_do_its_part(server: Served, chains: httpx.AsyncClient, role: Role) -> None:
    names = await set_stage(chains)
    async with as_user(server, await server.token_of(f"a {role}", role)) as user:
        for (method, template), row in MATRIX.items():
            answer = await user.request(method, f"/chains{template.format(**names)}", json=row.body)
            if RANK.index(role) < RANK.index(row.least):
                assert (answer.status_code, answer.json()["error"]["type"]) == (403, "forbidden"), (method, template)
            else:
                assert was_let_in(answer), (method, template, answer.text)


async def test_to_another_organisation_nothing_of_ours_is_there(server: Served, chains: httpx.AsyncClient) -> None:
    names = await set_stage(chains)
    before = (await chains.get("/chains/40")).json()
    token = await server.token_of("eve", Role.ADMIN, org_id=await server.other_organisation())
    async with as_user(server, token) as eve:
        for (method, template), row in MATRIX.items():
            answer = await eve.request(method, f"/chains{template.format(**names)}", json=row.body)
            assert answer.status_code == row.elsewhere, (method, template, answer.text)
            assert OURS not in answer.text, (method, template)
        (message,) = (await chains.get("/chains/messages")).json()["items"]
        assert (await eve.post("/chains/messages/read", json={"ids": [message["id"]]})).json() == {"read": 0}
    assert (await chains.get("/chains/40")).json() == before
    assert [message] == (await chains.get("/chains/messages", params={"unread": "true"})).json()["items"]


async def test_every_route_walked_without_a_token_answers_401(server: Served) -> None:
    routes = [route for route in chain_routes(server.context) if isinstance(route, ApiRoute)]
    walked = {(method, re.sub(r"\{.*?\}", "1", route.path)) for route in routes for method in route.methods}
    assert len(walked) == len(MATRIX)
    others = [("GET", path) for path in ("/chains/", "/chains/1/nothing", "/chains/%ff")]
    async with httpx.AsyncClient(base_url=server.url) as anybody:
        for method, path in [*walked, *others, ("PATCH", "/chains")]:
            answer = await anybody.request(method, path)
            assert (answer.status_code, answer.json()["error"]["type"]) == (401, "unauthenticated"), (method, path)
            assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_calls_are_audited_as_calls_of_this_face(
    server: Served, chains: httpx.AsyncClient, hand: ChainHand
) -> None:
    await made(chains)
    await started(chains, 1)
    await chains.get("/chains/7")
    items = await found(server.client, least=3)
    shown: list[Any] = [
        (each["action"], each["resource"], each["status"], each["error"]) for each in items if each["face"] == "chains"
    ]
    assert shown == [
        ("GET /chains/{id}", "7", 404, "not_found"),
        ("POST /chains/{id}/run", "1", 201, None),
        ("POST /chains", "1", 201, None),
    ]


def as_user(server: Served, token: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=server.url, headers={"authorization": f"Bearer {token}"})
