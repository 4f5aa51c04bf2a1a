"""Secrets over the API: set and listed, never shown, and masked in every log of a run that was given them."""

import asyncio

import httpx
import pytest

from tests.faces.api.serving import PATIENCE_SECONDS, Served
from waterclock.domain.access import Role
from waterclock.domain.run import RunState

VALUE = "hunter2-the-second"


@pytest.fixture(autouse=True)
async def _secret(api: httpx.AsyncClient) -> None:
    made = await api.put("/secrets/warehouse", json={"value": VALUE, "description": "the nightly load"})
    assert made.status_code == 201, made.text
    arguments = {"--url": "db://etl:{{secret:warehouse}}@host"}
    await api.post("/jobs", json={"name": "load", "kind": "python", "arguments": arguments, "max_concurrent": 0})


async def test_a_secret_is_listed_without_its_value(api: httpx.AsyncClient) -> None:
    again = await api.put("/secrets/warehouse", json={"value": "another one"})
    assert again.status_code == 200
    (shown,) = (await api.get("/secrets")).json()["items"]
    assert shown == again.json()
    assert shown.keys() == {"name", "version", "owner", "description", "created_at", "updated_at", "updated_by"}
    assert (shown["name"], shown["version"], shown["owner"]) == ("warehouse", 2, "admin")
    assert shown["description"] == "the nightly load"
    assert (await api.get("/secrets/warehouse")).status_code == 405


async def test_a_reference_is_stored_and_shown_as_it_is(api: httpx.AsyncClient) -> None:
    run_id = (await api.post("/runs", json={"job": "load"})).json()["id"]
    for path in ("/jobs/load", f"/runs/{run_id}"):
        shown = await api.get(path)
        assert shown.json()["arguments"] == {"--url": "db://etl:{{secret:warehouse}}@host"}
        assert VALUE not in shown.text


WRONG: tuple[tuple[dict[str, object], str], ...] = (
    ({"value": "abc"}, "value: must have 4 to 65536 bytes, not 3"),
    ({"value": "x" * 65_537}, "value: must have 4 to 65536 bytes, not 65537"),
    ({"value": 12345}, "value: must be text"),
    ({"value": "ab\0cd"}, "value: cannot hold a NUL"),
    ({}, "value: is required"),
    ({"value": VALUE, "description": "x" * 1_001}, "description: must have 0 to 1000 characters"),
)


async def test_a_bad_value_is_refused_without_being_repeated(api: httpx.AsyncClient) -> None:
    for body, words in WRONG:
        refused = await api.put("/secrets/new", json=body)
        assert refused.status_code == 400, body
        assert refused.json()["error"]["message"] == words
    named = await api.put("/secrets/a%20b", json={"value": VALUE})
    assert named.json()["error"]["field"] == "name"
    assert VALUE not in named.text


async def test_a_reference_that_cannot_be_read_is_refused_where_it_is_made(api: httpx.AsyncClient) -> None:
    bad = {"--url": "{{secret:ware house}}"}
    made = await api.post("/jobs", json={"name": "bad", "kind": "python", "arguments": bad})
    changed = await api.put("/jobs/load", json={"kind": "python", "fixed_arguments": bad})
    started = await api.post("/runs", json={"job": "load", "arguments": bad})
    batched = await api.post("/runs/batch", json={"runs": [{"job": "load", "arguments": bad}]})
    action = {"actions": [{"job": "load", "arguments": bad}]}
    fired = await api.post("/triggers", json={"name": "t", **action})
    await api.post("/triggers", json={"name": "good", "actions": [{"job": "load"}]})
    moved = await api.put("/triggers/good", json=action)
    for refused in (made, changed, started, batched, fired, moved):
        assert (refused.status_code, refused.json()["error"]["field"]) == (400, "--url"), refused.text


async def test_whoever_may_not_define_jobs_may_not_choose_which_secret_goes_where(server: Served) -> None:
    async with server.as_user(await server.token_of("olga", Role.OPERATOR)) as olga:
        started = await olga.post("/runs", json={"job": "load", "arguments": {"--url": "{{secret:warehouse}}"}})
        by_variable = await olga.post("/runs", json={"job": "load", "arguments": {"--secret-env": "X=warehouse"}})
        assert (started.status_code, by_variable.status_code) == (403, 403)
        assert "may not give secrets to a run" in started.text
        assert (await olga.post("/runs", json={"job": "load"})).status_code == 201
        assert (await olga.put("/secrets/hers", json={"value": VALUE})).status_code == 403
        assert (await olga.delete("/secrets/warehouse")).status_code == 403
        assert (await olga.post("/secret-key")).status_code == 403


async def test_another_organisation_sees_none_of_it(server: Served) -> None:
    other = await server.other_organisation()
    async with server.as_user(await server.token_of("eve", Role.ADMIN, org_id=other)) as eve:
        assert (await eve.get("/secrets")).json()["items"] == []
        assert (await eve.delete("/secrets/warehouse")).status_code == 404
        assert (await eve.post("/secret-key")).status_code == 403


async def test_no_page_of_a_log_shows_a_secret_that_lies_across_its_edge(server: Served) -> None:
    api = server.client
    run_id = (await api.post("/runs", json={"job": "load"})).json()["id"]
    held = await server.hand.begin()
    held.write(f"as {VALUE}, yes\n".encode())
    await held.end(RunState.SUCCEEDED)
    for limit in (4, 5, 7, 11, 100):
        shown, offset, ended = "", 0, False
        while not ended:
            page = (await api.get(f"/runs/{run_id}/log", params={"offset": offset, "limit": limit})).json()
            shown, offset, ended = shown + page["text"], page["next_offset"], page["ended"]
        assert shown == "as ***, yes\n"
    middle = (await api.get(f"/runs/{run_id}/log", params={"offset": 10})).json()
    assert middle["text"] == ", yes\n"


async def test_a_secret_that_comes_in_two_halves_is_followed_by_nobody(server: Served) -> None:
    api = server.client
    run_id = (await api.post("/runs", json={"job": "load"})).json()["id"]
    held = await server.hand.begin()
    held.write(b"as " + VALUE[:9].encode())
    page = (await api.get(f"/runs/{run_id}/log")).json()
    assert (page["text"], page["next_offset"], page["ended"]) == ("as ", 3, False)
    async with api.stream("GET", f"/runs/{run_id}/log/follow", timeout=PATIENCE_SECONDS) as following:
        pieces = following.aiter_text()
        assert await anext(pieces) == "as "
        held.write(VALUE[9:].encode() + b"\n")
        await held.end(RunState.SUCCEEDED)
        assert "".join([piece async for piece in pieces]) == "***\n"


async def test_what_a_secret_was_before_stays_masked_in_old_logs(server: Served) -> None:
    api = server.client
    run_id = (await api.post("/runs", json={"job": "load"})).json()["id"]
    held = await server.hand.begin()
    held.write(f"{VALUE} and its successor\n".encode())
    await held.end(RunState.SUCCEEDED)
    await api.put("/secrets/warehouse", json={"value": "successor"})
    assert (await api.get(f"/runs/{run_id}/log")).json()["text"] == "*** and its ***\n"
    await api.delete("/secrets/warehouse")
    assert (await api.get(f"/runs/{run_id}/log")).json()["text"] == "*** and its ***\n"


async def test_a_value_that_is_set_while_somebody_waits_for_the_log_is_masked(server: Served) -> None:
    """Whoever follows before the program has its secrets must learn of the value that it is given."""
    api = server.client
    run_id = (await api.post("/runs", json={"job": "load"})).json()["id"]
    events = {"accept": "text/event-stream"}
    async with api.stream("GET", f"/runs/{run_id}/log/follow", headers=events, timeout=PATIENCE_SECONDS) as following:
        lines = following.aiter_lines()
        assert await anext(lines) == "event: state"
        await api.put("/secrets/warehouse", json={"value": "set-just-now"})
        held = await server.hand.begin()
        held.write(b"set-just-now\n")
        await held.end(RunState.SUCCEEDED)
        async with asyncio.timeout(PATIENCE_SECONDS):
            shown = "\n".join([line async for line in lines])
    assert "set-just-now" not in shown
    assert '"text":"***\\n"' in shown


async def test_a_log_whose_secrets_cannot_be_opened_is_not_shown(server: Served) -> None:
    api = server.client
    run_id = (await api.post("/runs", json={"job": "load"})).json()["id"]
    held = await server.hand.begin()
    held.write(VALUE.encode())
    await held.end(RunState.SUCCEEDED)
    keys = server.folder / "secret.keys"
    keys.write_text("0000 " + keys.read_text().split()[1] + "\n")
    server.context.secrets._box._keys.clear()
    refused = await api.get(f"/runs/{run_id}/log")
    assert refused.status_code == 409
    assert "the log cannot be shown" in refused.text
    assert VALUE not in refused.text


async def test_a_rotated_key_opens_what_was_sealed_before(server: Served) -> None:
    done = (await server.client.post("/secret-key")).json()
    assert (done["resealed"], done["unreadable"]) == (2, 0)  # the secret, and the admin's access key
    assert await server.context.secrets.values(1, ["warehouse"]) == {"warehouse": VALUE}
