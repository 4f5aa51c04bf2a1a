"""Who may do what over the API: nobody without a token, each role its part, organisations nothing of each other."""

import re
from pathlib import Path

import httpx

from tests.faces.api.serving import Served, served
from waterclock.domain.access import Role
from waterclock.faces.api import api_routes
from waterclock.faces.api.routing import ApiRoute

SECRET_PATHS = ("/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v1/jobs/a/b/c", "/api/v1/%2e%2e", "/api/v1/jobs/%ff")


async def test_every_route_walked_without_a_token_answers_401(server: Served) -> None:
    routes = [route for route in api_routes(server.context) if isinstance(route, ApiRoute)]
    walked = {(method, re.sub(r"\{.*?\}", "x", route.path)) for route in routes for method in route.methods}
    assert len(walked) > 30
    async with httpx.AsyncClient(base_url=server.url) as anybody:
        for method, path in [*walked, *(("GET", path) for path in SECRET_PATHS), ("PATCH", "/api/v1/jobs")]:
            answer = await anybody.request(method, path)
            assert answer.status_code == 401, (method, path)
            assert answer.json()["error"]["type"] == "unauthenticated"
            assert answer.headers["www-authenticate"].startswith("Bearer")


WRONG_TOKENS = ("Bearer wct_unknown", "Bearer", "Basic YTpi", "wct_x", "Bearer a b", "Bearer \xe9")


async def test_a_wrong_token_is_refused(server: Served) -> None:
    async with httpx.AsyncClient(base_url=f"{server.url}/api/v1") as anybody:
        for header in WRONG_TOKENS:
            answer = await anybody.get("/me", headers=[(b"authorization", header.encode("latin-1"))])
            assert answer.status_code == 401, header


async def test_what_is_not_there_is_a_typed_answer(api: httpx.AsyncClient) -> None:
    for path in ("/nothing", "/jobs/a/b/c", "/jobs/", "/"):
        answer = await api.get(path)
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "not_found"), path
    answer = await api.patch("/jobs")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")


async def test_the_admin_may_do_all_but_demote_themselves(server: Served) -> None:
    for method, body in (("PUT", {"role": "viewer"}), ("DELETE", None)):
        answer = await server.client.request(method, "/users/admin", json=body)
        assert answer.json()["error"]["type"] == "not_allowed"


async def test_an_author_changes_only_their_own(server: Served) -> None:
    tokens = [await server.token_of(name, Role.AUTHOR) for name in ("ann", "bob")]
    async with server.as_user(tokens[0]) as ann, server.as_user(tokens[1]) as bob:
        await ann.post("/jobs", json={"name": "anns", "kind": "python"})
        await ann.post("/triggers", json={"name": "t", "actions": [{"job": "anns"}]})
        for method, path, body in (
            ("PUT", "/jobs/anns", {"kind": "shell"}),
            ("DELETE", "/jobs/anns", None),
            ("PUT", "/triggers/t", {"actions": [{"job": "anns"}]}),
            ("DELETE", "/triggers/t", None),
        ):
            assert (await bob.request(method, path, json=body)).status_code == 403, (method, path)
        assert (await bob.post("/runs", json={"job": "anns"})).status_code == 201
        assert (await ann.put("/triggers/t", json={"actions": [{"job": "anns"}]})).status_code == 200


async def test_an_organisation_sees_nothing_of_another(server: Served) -> None:
    await server.client.post("/jobs", json={"name": "ours", "kind": "python"})
    await server.client.post("/triggers", json={"name": "t", "actions": [{"job": "ours"}]})
    run = (await server.client.post("/runs", json={"job": "ours"})).json()["id"]
    key = (await server.client.post("/users/admin/keys")).json()["id"]
    token = await server.token_of("eve", Role.ADMIN, org_id=await server.other_organisation())
    async with server.as_user(token) as eve:
        for path in ("/jobs", "/triggers", "/runs", "/events"):
            assert (await eve.get(path)).json()["items"] == [], path
        assert [user["name"] for user in (await eve.get("/users")).json()["items"]] == ["eve"]
        for method, path, body in (
            ("GET", "/jobs/ours", None),
            ("PUT", "/jobs/ours", {"kind": "shell"}),
            ("DELETE", "/jobs/ours", None),
            ("GET", "/triggers/t", None),
            ("GET", "/triggers/t/fires", None),
            ("GET", "/triggers/t/next", None),
            ("POST", "/triggers/t/start", None),
            ("DELETE", "/triggers/t", None),
            ("POST", "/triggers", {"name": "mine", "actions": [{"job": "ours"}]}),
            ("POST", "/runs", {"job": "ours"}),
            ("GET", f"/runs/{run}", None),
            ("GET", f"/runs/{run}/log", None),
            ("GET", f"/runs/{run}/log/follow", None),
            ("POST", f"/runs/{run}/stop", None),
            ("GET", "/users/admin/keys", None),
            ("POST", "/users/admin/tokens", {"name": "x"}),
            ("DELETE", f"/users/admin/keys/{key}", None),
            ("DELETE", f"/users/eve/keys/{key}", None),
        ):
            answer = await eve.request(method, path, json=body)
            assert answer.status_code == 404, (method, path, answer.text)
        assert (await eve.post("/runs/stop", json={"ids": [run]})).json()["runs"][0]["state"] is None
    assert (await server.client.get(f"/runs/{run}")).json()["state"] == "STARTING"


async def test_a_key_is_shown_once_and_is_gone_when_it_is_revoked(api: httpx.AsyncClient) -> None:
    made = (await api.post("/users/admin/keys")).json()
    assert made["secret"]
    listed = (await api.get("/users/admin/keys")).json()["items"]
    assert made["id"] in {key["id"] for key in listed}
    assert made["secret"] not in str(listed)
    assert (await api.delete(f"/users/admin/keys/{made['id']}")).status_code == 200
    assert (await api.delete(f"/users/admin/keys/{made['id']}")).status_code == 404


async def test_nobody_revokes_anothers_key_by_naming_themselves(server: Served) -> None:
    key = (await server.client.post("/users/admin/keys")).json()["id"]
    token_id = (await server.client.get("/users/admin/tokens")).json()["items"][0]["id"]
    async with server.as_user(await server.token_of("vic", Role.VIEWER)) as vic:
        assert (await vic.delete(f"/users/vic/keys/{key}")).status_code == 404
        assert (await vic.delete(f"/users/vic/tokens/{token_id}")).status_code == 404
        for nobodys in ("notanumber", "9" * 40, str(2**63), "-1", "%D9%A3"):
            assert (await vic.delete(f"/users/vic/tokens/{nobodys}")).status_code == 404, nobodys
    listed = (await server.client.get("/users/admin/keys")).json()["items"]
    assert {each["id"]: each["revoked_at"] for each in listed}[key] is None


async def test_a_token_works_until_it_expires(server: Served) -> None:
    made = await server.client.post("/users/admin/tokens", json={"name": "t", "expires_at": "2099-01-01T00:00:00Z"})
    assert made.json()["expires_at"] == "2099-01-01T00:00:00Z"
    async with server.as_user(made.json()["token"]) as user:
        assert (await user.get("/me")).json()["name"] == "admin"
    late = await server.client.post("/users/admin/tokens", json={"name": "t", "expires_at": "2020-01-01T00:00:00Z"})
    async with server.as_user(late.json()["token"]) as user:
        assert (await user.get("/me")).status_code == 401


async def test_users_are_made_changed_and_deleted(api: httpx.AsyncClient) -> None:
    assert (await api.post("/users", json={"name": "ann", "role": "boss"})).json()["error"]["field"] == "role"
    assert (await api.post("/users", json={"name": "ann", "role": "viewer"})).status_code == 201
    assert (await api.post("/users", json={"name": "ann", "role": "viewer"})).status_code == 409
    assert (await api.put("/users/ann", json={"role": "author"})).json() == {"name": "ann", "role": "author"}
    assert (await api.put("/users/nobody", json={"role": "author"})).status_code == 404
    assert {user["name"]: user["role"] for user in (await api.get("/users")).json()["items"]}["ann"] == "author"
    assert (await api.delete("/users/ann")).status_code == 200
    assert (await api.delete("/users/ann")).status_code == 404


async def test_the_status_names_the_store_and_counts_what_lives(api: httpx.AsyncClient) -> None:
    await api.post("/jobs", json={"name": "load", "kind": "python"})
    await api.post("/runs", json={"job": "load"})
    shown = (await api.get("/status")).json()
    assert (shown["store"], shown["queues"], shown["nodes"]) == ("sqlite", {"STARTING": 1}, [])


async def test_without_authentication_the_caller_is_the_first_admin(tmp_path: Path) -> None:
    async with served(tmp_path, auth="none") as server:
        me = (await server.client.get("/me")).json()
        assert (me["name"], me["org_id"], me["account"], me["role"]) == ("admin", 1, "123456789012", "admin")
        assert (await server.client.get("/me", headers={"authorization": "Bearer nonsense"})).status_code == 200


FOREIGN = (
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"host": "evil.example"},
    {"host": "127.0.0.1.evil.example"},
)


async def test_without_authentication_a_foreign_web_page_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, auth="none") as server:
        for headers in FOREIGN:
            answer = await server.client.get("/jobs", headers=headers)
            assert (answer.status_code, answer.json()["error"]["type"]) == (403, "forbidden")
