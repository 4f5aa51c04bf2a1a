"""Groups over the API: what is made in a group's name belongs to it, and each member may change it."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from waterclock.domain.access import Role

JOB = {"name": "load", "kind": "python"}


@pytest.fixture
async def etl(server: Served) -> Served:
    """With the authors ann and bob in the group etl, and the author eve in none."""
    await server.client.post("/groups", json={"name": "etl"})
    for name in ("ann", "bob", "eve"):
        await server.client.post("/users", json={"name": name, "role": "author"})
    for name in ("ann", "bob"):
        assert (await server.client.put(f"/groups/etl/members/{name}")).status_code == 200
    return server


async def token(server: Served, user: str, group: str | None = None) -> httpx.AsyncClient:
    made = await server.client.post(f"/users/{user}/tokens", json={"name": "t", "group": group})
    assert made.status_code == 201, made.text
    assert made.json()["group"] == group
    return server.as_user(made.json()["token"])


async def test_what_a_group_owns_every_member_may_change(etl: Served) -> None:
    async with await token(etl, "ann", "etl") as ann, await token(etl, "bob") as bob, await token(etl, "eve") as eve:
        assert (await ann.post("/jobs", json=JOB)).json()["owner"] == "etl"
        trigger = {"name": "t", "actions": [{"job": "load"}]}
        assert (await ann.post("/triggers", json=trigger)).json()["owner"] == "etl"
        assert (await bob.put("/jobs/load", json={"kind": "shell"})).status_code == 200
        assert (await eve.put("/jobs/load", json={"kind": "shell"})).status_code == 403
        assert (await bob.delete("/triggers/t")).status_code == 200
        assert (await bob.delete("/jobs/load")).status_code == 200


async def test_without_a_group_the_owner_is_the_user(etl: Served) -> None:
    async with await token(etl, "ann") as ann, await token(etl, "bob", "etl") as bob:
        assert (await ann.post("/jobs", json=JOB)).json()["owner"] == "ann"
        assert (await bob.delete("/jobs/load")).status_code == 403
        me = (await ann.get("/me")).json()
        assert (me["owner"], me["groups"]) == ("ann", ["etl"])
        assert (await bob.get("/me")).json()["owner"] == "etl"


async def test_leaving_a_group_is_felt_within_seconds(etl: Served) -> None:
    async with await token(etl, "ann", "etl") as for_etl, await token(etl, "ann") as own:
        await for_etl.post("/jobs", json=JOB)
        assert (await own.put("/jobs/load", json={"kind": "shell"})).status_code == 200
        assert (await etl.client.delete("/groups/etl/members/ann")).status_code == 200
        await until_status(for_etl, 401, "GET", "/me")
        await until_status(own, 403, "PUT", "/jobs/load", json={"kind": "python"})


async def test_a_group_that_owns_a_job_is_not_deleted(etl: Served) -> None:
    async with await token(etl, "ann", "etl") as ann:
        await ann.post("/jobs", json=JOB)
        answer = await etl.client.delete("/groups/etl")
        assert (answer.status_code, answer.json()["error"]["type"]) == (409, "not_allowed")
        assert "still owns 1 job" in answer.json()["error"]["message"]
        await ann.delete("/jobs/load")
        assert (await etl.client.delete("/groups/etl")).status_code == 200
        assert (await etl.client.get("/groups")).json()["items"] == []


async def test_names_of_users_and_groups_do_not_clash(etl: Served) -> None:
    for path, body in (("/groups", {"name": "ann"}), ("/users", {"name": "etl", "role": "viewer"})):
        answer = await etl.client.post(path, json=body)
        assert (answer.status_code, answer.json()["error"]["type"]) == (409, "already_exists")


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 256, "\x00", 7])
async def test_a_name_that_is_none_is_refused(api: httpx.AsyncClient, name: object) -> None:
    answer = await api.post("/groups", json={"name": name})
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "name")


async def test_what_is_not_there_is_not_found(etl: Served) -> None:
    calls = [
        ("DELETE", "/groups/nope"),
        ("PUT", "/groups/nope/members/ann"),
        ("PUT", "/groups/etl/members/nobody"),
        ("DELETE", "/groups/etl/members/eve"),
    ]
    for method, path in calls:
        assert (await etl.client.request(method, path)).status_code == 404, path
    refused = await etl.client.post("/users/eve/keys", json={"group": "etl"})
    assert "'eve' is not in group 'etl'" in refused.json()["error"]["message"]


async def test_only_admins_make_and_fill_groups(etl: Served) -> None:
    async with await token(etl, "ann") as ann:
        assert (await ann.get("/groups")).json()["items"][0]["members"] == ["ann", "bob"]
        for method, path, body in (
            ("POST", "/groups", {"name": "mine"}),
            ("DELETE", "/groups/etl", None),
            ("PUT", "/groups/etl/members/eve", None),
            ("DELETE", "/groups/etl/members/bob", None),
        ):
            assert (await ann.request(method, path, json=body)).status_code == 403, path


async def test_a_group_of_another_organisation_is_not_there(etl: Served) -> None:
    eves = await etl.token_of("root", Role.ADMIN, org_id=await etl.other_organisation())
    async with etl.as_user(eves) as root:
        assert (await root.get("/groups")).json()["items"] == []
        assert (await root.delete("/groups/etl")).status_code == 404
        assert (await root.put("/groups/etl/members/root")).status_code == 404


async def until_status(client: httpx.AsyncClient, status: int, method: str, path: str, **more: Any) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await client.request(method, path, **more)).status_code != status:
            await asyncio.sleep(0.05)
