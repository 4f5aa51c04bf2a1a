"""Bookmarks over the API: for programs that save theirs by a call, and for people."""

import httpx
import pytest

from tests.faces.api.serving import Served
from waterclock.domain.access import Role


@pytest.fixture(autouse=True)
async def _job(api: httpx.AsyncClient) -> None:
    await api.post("/jobs", json={"name": "load", "kind": "python"})


async def test_a_bookmark_is_set_shown_and_reset(api: httpx.AsyncClient) -> None:
    assert (await api.get("/jobs/load/bookmark")).status_code == 404
    assert (await api.delete("/jobs/load/bookmark")).status_code == 404
    made = await api.put("/jobs/load/bookmark", json={"content": '{"day": 1}'})
    assert made.status_code == 200
    shown = (await api.get("/jobs/load/bookmark")).json()
    assert shown == made.json()
    assert shown.pop("updated_at").endswith("Z")
    assert shown == {
        "job": "load",
        "version": 0,
        "runs": 0,
        "attempt": 0,
        "run_id": None,
        "previous_run_id": None,
        "content": '{"day": 1}',
    }
    reset = (await api.delete("/jobs/load/bookmark")).json()
    assert (reset["version"], reset["content"]) == (1, None)


async def test_the_next_run_is_given_what_was_set(server: Served) -> None:
    await server.client.put("/jobs/load/bookmark", json={"content": "7"})
    await server.client.post("/runs", json={"job": "load"})
    held = await server.hand.begin()
    assert held._claimed.bookmark == "7"


WRONG: tuple[tuple[dict[str, object], str], ...] = (
    ({}, "content: is required"),
    ({"content": {"day": 1}}, "content: must be text"),
    ({"content": "a\0b"}, "content: cannot hold a NUL"),
    ({"content": "x" * (256 * 1024 + 1)}, "content: must have 0 to 262144 characters"),
    ({"content": "é" * (128 * 1024 + 1)}, "content: has 262146 bytes; the most is 262144"),
)


async def test_what_cannot_be_a_bookmark_is_refused(api: httpx.AsyncClient) -> None:
    for body, words in WRONG:
        refused = await api.put("/jobs/load/bookmark", json=body)
        assert (refused.status_code, refused.json()["error"]["message"]) == (400, words)


async def test_whoever_may_run_a_job_may_set_where_it_goes_on(server: Served) -> None:
    async with server.as_user(await server.token_of("olga", Role.OPERATOR)) as olga:
        assert (await olga.put("/jobs/load/bookmark", json={"content": "1"})).status_code == 200
    async with server.as_user(await server.token_of("vera", Role.VIEWER)) as vera:
        assert (await vera.get("/jobs/load/bookmark")).status_code == 200
        assert (await vera.put("/jobs/load/bookmark", json={"content": "2"})).status_code == 403
        assert (await vera.delete("/jobs/load/bookmark")).status_code == 403
    other = await server.other_organisation()
    async with server.as_user(await server.token_of("eve", Role.ADMIN, org_id=other)) as eve:
        for call in (eve.get("/jobs/load/bookmark"), eve.delete("/jobs/load/bookmark")):
            assert (await call).status_code == 404


async def test_a_job_is_not_made_with_an_unknown_option(api: httpx.AsyncClient) -> None:
    arguments = {"--job-bookmark-option": "on"}
    refused = await api.post("/jobs", json={"name": "x", "kind": "python", "arguments": arguments})
    assert refused.json()["error"]["field"] == "--job-bookmark-option"
