"""The matrix of roles and routes of the lake: done, refused, or, from another organisation, nothing there."""

import re
from typing import Any

import httpx
import pytest

from tests.faces.api.serving import NO_TLS, Served
from tests.faces.api.test_audit import found
from tests.faces.api.test_matrix import OURS, RANK, WORK, Row, may, read, was_let_in
from tests.faces.lake.samples import PYTHON, made, refused, started
from waterclock.domain.access import Role
from waterclock.faces.api.routing import ApiRoute
from waterclock.faces.lake import lake_routes
from waterclock.faces.lake.openapi import PATH
from waterclock.faces.lake.routes import TABLE

JOB = {"job": PYTHON}
ANYBODY = {("GET", "/schedule/job/progress")}  # a worker, too: it shows what is to be done
UNKNOWN = {("POST", "/schedule/job/report")}  # here, of a run that was offered to nobody
AT_ONCE = {"wait": 0}  # a worker is answered, whether there is something to do or not
MANY = {"job": {"class_name": "sync_db_job", "display_name": "x", "source": 1}, "tables": ["a"]}
NEW_SOURCE = {"name": "new", "kind": "local", "config": {"path": "new"}}
NEW_TABLE = {"name": "new", "format": "csv", "path": "file:///srv/new"}

# Things are the admin's own: what only an owner may do, only an admin may here. Deleting comes last.
MATRIX: dict[tuple[str, str], Row] = {
    ("POST", "/job/create"): Row(Role.AUTHOR, JOB, 200),
    ("POST", "/job/create_many"): Row(Role.AUTHOR, MANY, 400),
    ("POST", "/job/list"): read(200),
    ("GET", "/job/{id}"): read(),
    ("GET", "/job/{id}/status"): read(),
    ("POST", "/history/list"): read(200),
    ("GET", "/schedule/job/progress"): read(200),
    ("GET", "/schedule/job/next"): WORK,
    ("POST", "/schedule/job/report"): Row(Role.WORKER, {"run_id": 1, "job_status": "Running"}, 403),
    ("PUT", "/schedule/job/{id}/kill"): Row(Role.OPERATOR),
    ("PUT", "/schedule/job/{id}/now"): Row(Role.OPERATOR),
    ("POST", "/table/create"): Row(Role.AUTHOR, NEW_TABLE, 200),
    ("POST", "/table/list"): read(200),
    ("DELETE", "/table/{name}"): Row(Role.ADMIN),
    ("POST", "/source/create"): Row(Role.AUTHOR, NEW_SOURCE, 200),
    ("POST", "/source/list"): read(200),
    ("GET", "/source/{source_id}"): read(),
    ("POST", "/source/{source_id}/test"): Row(Role.AUTHOR),
    ("POST", "/source/{source_id}/preview"): Row(Role.AUTHOR),
    ("GET", "/source/{source_id}/tables"): Row(Role.AUTHOR),
    ("PUT", "/source/{source_id}"): Row(Role.ADMIN, NEW_SOURCE),
    ("DELETE", "/source/{source_id}"): Row(Role.ADMIN),
    ("PUT", "/job/{id}"): Row(Role.ADMIN, JOB),
    ("DELETE", "/job/{id}"): Row(Role.ADMIN),
}


def test_every_route_has_its_row() -> None:
    assert MATRIX.keys() == {(method, path) for method, path, _ in TABLE}


async def set_stage(lake: httpx.AsyncClient) -> dict[str, Any]:
    """A job with a live run, a table and a source: what the paths name."""
    job = await made(lake, display_name=OURS)
    await started(lake, job["job_id"])
    table = {"name": "theirs_not", "format": "csv", "path": f"/srv/{OURS}"}
    assert (await lake.post("/lake/table/create", json=table)).status_code == 200
    source = (await lake.post("/lake/source/create", json={**NEW_SOURCE, "name": OURS})).json()["source"]
    return {"id": job["job_id"], "name": "theirs_not", "source_id": source["source_id"]}


@pytest.mark.parametrize("role", [*RANK, Role.WORKER])
async def test_each_role_may_do_its_part(server: Served, lake: httpx.AsyncClient, role: Role) -> None:
    names = await set_stage(lake)
    async with as_user(server, await server.token_of(f"a {role}", role)) as user:
        for (method, template), row in MATRIX.items():
            answer = await user.request(method, f"/lake{template.format(**names)}", json=row.body, params=AT_ONCE)
            if may(role, row.least) or (method, template) in ANYBODY:
                is_unknown = (method, template) in UNKNOWN and answer.status_code == 404
                assert was_let_in(answer) or is_unknown, (method, template, answer.text)
            else:
                refused(answer, 403, "forbidden")


async def test_to_another_organisation_nothing_of_ours_is_there(server: Served, lake: httpx.AsyncClient) -> None:
    names = await set_stage(lake)
    path = f"/lake/job/{names['id']}"
    before = (await lake.get(path)).json()
    token = await server.token_of("eve", Role.ADMIN, org_id=await server.other_organisation())
    async with as_user(server, token) as eve:
        for (method, template), row in MATRIX.items():
            answer = await eve.request(method, f"/lake{template.format(**names)}", json=row.body)
            assert answer.status_code == row.elsewhere, (method, template, answer.text)
            assert OURS not in answer.text, (method, template)
        refused(await eve.post("/lake/history/list", json={"job_id": names["id"]}), 404, "not_found")
    assert (await lake.get(path)).json() == before
    assert (await lake.post("/lake/table/list")).json()["total"] == 1
    assert (await lake.get(f"/lake/source/{names['source_id']}")).json()["source"]["name"] == OURS


async def test_every_route_walked_without_a_token_answers_401(server: Served) -> None:
    routes = [route for route in lake_routes(server.context) if isinstance(route, ApiRoute)]
    walked = {(method, re.sub(r"\{.*?\}", "1", route.path)) for route in routes for method in route.methods}
    assert len(walked) == len(MATRIX) + 1
    assert ("GET", PATH) in walked
    others = [("GET", path) for path in ("/lake", "/lake/", "/lake/nothing", "/lake/%ff")]
    async with httpx.AsyncClient(base_url=server.url, verify=NO_TLS) as anybody:
        for method, path in [*walked, *others, ("PATCH", "/lake/job/1"), ("POST", PATH)]:
            answer = await anybody.request(method, path)
            refused(answer, 401, "unauthenticated")
            assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_calls_are_audited_as_calls_of_this_face(server: Served, lake: httpx.AsyncClient) -> None:
    job = await made(lake)
    number = str(job["job_id"])
    await started(lake, job["job_id"])
    await lake.delete(f"/lake/job/{number}")
    await lake.get("/lake/job/777777")
    await lake.post("/lake/table/create", json=NEW_TABLE)
    items = await found(server.client, least=5)
    shown: list[Any] = [
        (each["action"], each["resource"], each["status"], each["error"]) for each in items if each["face"] == "lake"
    ]
    assert shown == [
        ("POST /lake/table/create", "new", 200, None),
        ("GET /lake/job/{id}", "777777", 404, "not_found"),
        ("DELETE /lake/job/{id}", number, 400, "not_allowed"),
        ("PUT /lake/schedule/job/{id}/now", number, 200, None),
        ("POST /lake/job/create", number, 200, None),
    ]


def as_user(server: Served, token: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=server.url, headers={"authorization": f"Bearer {token}"}, verify=NO_TLS)
