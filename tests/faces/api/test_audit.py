"""The audit over the API: what was called is found again, by admins, newest first."""

import asyncio
from typing import Any

import httpx

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from waterclock.domain.access import Role


async def found(api: httpx.AsyncClient, *, least: int = 1, **query: Any) -> list[Any]:
    """As soon as there are so many: they are stored a moment after the call."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(items := (await api.get("/audit", params=query)).json()["items"]) < least:
            await asyncio.sleep(0.02)
    return list(items)


async def test_calls_are_found_with_who_made_them_and_what_became_of_them(server: Served) -> None:
    async with server.as_user(await server.token_of("ann", Role.AUTHOR)) as ann:
        made = await ann.post("/jobs", json={"name": "load/daily", "kind": "python"})
        run = (await ann.post("/runs", json={"job": "load/daily", "arguments": {"--p": "hunter2"}})).json()["id"]
        await ann.get("/jobs/load%2Fdaily")
        await ann.get("/jobs/nope")
        await ann.post("/users", json={"name": "bob", "role": "viewer"})
    items = await found(server.client, least=5, user="ann")
    shown = [(each["action"], each["resource"], each["status"], each["error"]) for each in items]
    assert shown == [
        ("POST /api/v1/users", "bob", 403, "forbidden"),
        ("GET /api/v1/jobs/{name}", "nope", 404, "not_found"),
        ("GET /api/v1/jobs/{name}", "load/daily", 200, None),
        ("POST /api/v1/runs", f"load/daily/{run}", 201, None),
        ("POST /api/v1/jobs", "load/daily", 201, None),
    ]
    first = items[-1]
    assert (first["face"], first["address"]) == ("api", "127.0.0.1")
    assert first["request_id"] == made.headers["x-request-id"]
    assert "hunter2" not in str(items)


async def test_filters_narrow_and_pages_go_on(server: Served) -> None:
    for number in range(3):
        await server.client.post("/jobs", json={"name": f"job {number}", "kind": "python"})
    await found(server.client, least=3, action="POST /api/v1/jobs")
    query: dict[str, Any] = {"action": "POST /api/v1/jobs", "size": 2}
    page = (await server.client.get("/audit", params=query)).json()
    rest = (await server.client.get("/audit", params={**query, "token": page["next_token"]})).json()
    assert [each["resource"] for each in page["items"] + rest["items"]] == ["job 2", "job 1", "job 0"]
    assert rest["next_token"] is None
    newest = page["items"][0]["at"]
    assert (await found(server.client, action="POST /api/v1/jobs", since=newest))[0]["resource"] == "job 2"
    assert "job 2" not in {each["resource"] for each in await found(server.client, until=newest)}
    assert len(await found(server.client, resource="job 1")) == 1


async def test_refused_tokens_are_seen_by_the_first_organisation_alone(server: Served) -> None:
    async with httpx.AsyncClient(base_url=f"{server.url}/api/v1") as anybody:
        for _ in range(2):
            await anybody.get("/jobs/secret-name", headers={"authorization": "Bearer wct_wrong"})
    items = await found(server.client, least=2, unknown="true")
    assert {(each["user"], each["status"], each["resource"]) for each in items} == {("", 401, "")}
    token = await server.token_of("eve", Role.ADMIN, org_id=await server.other_organisation())
    async with server.as_user(token) as eve:
        assert (await eve.get("/audit", params={"unknown": "true"})).status_code == 403
        assert {each["user"] for each in await found(eve)} == {"eve"}


async def test_the_audit_is_for_admins(server: Served) -> None:
    async with server.as_user(await server.token_of("ann", Role.AUTHOR)) as ann:
        assert (await ann.get("/audit")).status_code == 403


async def test_what_is_asked_wrongly_is_refused_by_name(api: httpx.AsyncClient) -> None:
    for name, value in (("since", "yesterday"), ("unknown", "maybe"), ("who", "ann"), ("token", "x"), ("size", "0")):
        answer = await api.get("/audit", params={name: value})
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, name)


async def test_what_nobody_foresaw_is_in_the_audit_too(server: Served) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    object.__setattr__(server.context, "jobs", type("Broken", (), {"list": broken})())
    assert (await server.client.get("/jobs")).status_code == 500
    (entry,) = await found(server.client, action="GET /api/v1/jobs")
    assert (entry["status"], entry["user"]) == (500, "admin")
