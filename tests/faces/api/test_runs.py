"""Runs over the API: started one by one and in batches, listed, stopped, and their logs read and followed."""

import asyncio
import json

import httpx
import pytest

from tests.faces.api.serving import PATIENCE_SECONDS, Served, served
from waterclock.domain.moment import SECOND
from waterclock.domain.run import RunState
from waterclock.stores.base import Topic
from waterclock.stores.ops.nodes import Node, beat


@pytest.fixture(autouse=True)
async def _job(api: httpx.AsyncClient) -> None:
    await api.post("/jobs", json={"name": "load", "kind": "python", "max_concurrent": 0, "arguments": {"--a": "1"}})


async def start(api: httpx.AsyncClient, **more: object) -> str:
    made = await api.post("/runs", json={"job": "load", **more})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def test_a_run_is_shown_from_its_start_to_its_end(server: Served) -> None:
    api = server.client
    wire_id = await start(api, arguments={"--b": "2"}, timeout_seconds=9)
    shown = (await api.get(f"/runs/{wire_id}")).json()
    assert (shown["state"], shown["arguments"]) == ("STARTING", {"--a": "1", "--b": "2"})
    assert (shown["timeout_seconds"], shown["requested_by"], shown["trigger"]) == (9, "admin", None)
    held = await server.hand.begin()
    assert (await api.get(f"/runs/{wire_id}")).json()["state"] == "RUNNING"
    await held.end(RunState.FAILED, exit_code=3, message="exit code 3")
    shown = (await api.get(f"/runs/{wire_id}")).json()
    assert (shown["state"], shown["exit_code"], shown["message"]) == ("FAILED", 3, "exit code 3")
    assert shown["execution_seconds"] >= 0
    assert shown["next_attempt"] is None


async def test_a_retry_is_named_by_the_attempt_before_it(server: Served) -> None:
    api = server.client
    await api.post("/jobs", json={"name": "again", "kind": "python", "retries": 1})
    wire_id = (await api.post("/runs", json={"job": "again"})).json()["id"]
    await (await server.hand.begin()).end(RunState.FAILED, exit_code=1)
    first = (await api.get(f"/runs/{wire_id}")).json()
    assert first["next_attempt"] == f"{wire_id}_attempt_1"
    second = (await api.get(f"/runs/{first['next_attempt']}")).json()
    assert (second["attempt"], second["state"], second["next_attempt"]) == (1, "STARTING", None)


async def test_a_run_that_nobody_takes_says_why(server: Served) -> None:
    await server.client.post("/jobs", json={"name": "picky", "kind": "python", "labels": ["ssd", "gpu"]})
    server.database.offset_us = -5 * SECOND  # it began to wait five seconds ago
    wire_id = (await server.client.post("/runs", json={"job": "picky"})).json()["id"]
    shown = (await server.client.get(f"/runs/{wire_id}")).json()
    assert (shown["state"], shown["wait_reason"]) == ("STARTING", "no worker is alive")
    plain = Node(id="n", host="n", name="n", duties=("worker",), slots=1, queues=("default",), version="1", pid=1)
    await server.database.write(beat, node=plain, wall_us=0)
    why = "no live worker that serves queue default offers labels gpu,ssd"
    async with asyncio.timeout(PATIENCE_SECONDS):  # who lives is remembered for a second
        while (await server.client.get(f"/runs/{wire_id}")).json()["wait_reason"] != why:
            pass
    for path in (f"/runs/{wire_id}", "/runs", "/runs?job=picky"):
        shown = (await server.client.get(path)).json()
        (run,) = shown.get("items", [shown])
        assert run["wait_reason"] == why


async def test_a_batch_is_whole_or_nothing(api: httpx.AsyncClient) -> None:
    refused = await api.post("/runs/batch", json={"runs": [{"job": "load"}, {"job": "nobody"}]})
    assert refused.status_code == 404
    assert (await api.get("/runs")).json()["items"] == []
    made = await api.post(
        "/runs/batch", json={"runs": [{"job": "load", "arguments": {"--n": str(n)}} for n in range(50)]}
    )
    assert made.status_code == 201
    assert len({run["id"] for run in made.json()["runs"]}) == 50
    assert {run["state"] for run in made.json()["runs"]} == {"STARTING"}


async def test_a_batch_has_5000_runs_at_most(api: httpx.AsyncClient) -> None:
    whole = await api.post("/runs/batch", json={"runs": [{"job": "load"}] * 5_000})
    assert len(whole.json()["runs"]) == 5_000
    refused = await api.post("/runs/batch", json={"runs": [{"job": "load"}] * 5_001})
    assert refused.json()["error"]["field"] == "runs"


async def test_over_its_cap_a_job_is_refused(api: httpx.AsyncClient) -> None:
    await api.post("/jobs", json={"name": "one", "kind": "python"})
    await api.post("/runs", json={"job": "one"})
    refused = await api.post("/runs", json={"job": "one"})
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "concurrent_runs_exceeded")


WRONG: tuple[tuple[dict[str, object], str], ...] = (
    ({}, "job"),
    ({"job": "load", "argument": {}}, "argument"),
    ({"job": "load", "timeout_seconds": "9"}, "timeout_seconds"),
    ({"job": "load", "namespace": "nowhere"}, "namespace"),
)


async def test_a_wrong_request_is_refused_by_name(api: httpx.AsyncClient) -> None:
    for body, field in WRONG:
        refused = await api.post("/runs", json=body)
        assert (refused.status_code, refused.json()["error"]["field"]) == (400, field)


async def test_runs_are_listed_by_state_and_job_newest_first(server: Served) -> None:
    api = server.client
    first = await start(api)
    await (await server.hand.begin()).end(RunState.SUCCEEDED)
    second = await start(api)
    await api.post("/jobs", json={"name": "other", "kind": "python"})

    async def listed(**query: str) -> list[str]:
        return [run["id"] for run in (await api.get("/runs", params=query)).json()["items"]]

    assert await listed() == [second, first]
    assert await listed(state="SUCCEEDED") == [first]
    assert await listed(job="load") == [second, first]
    assert await listed(job="load", state="STARTING") == [second]
    assert await listed(job="other") == []
    assert await listed(namespace="glue") == []
    assert (await api.get("/runs", params={"state": "DONE"})).json()["error"]["field"] == "state"
    assert (await api.get("/runs", params={"job": "nobody"})).status_code == 404


async def test_stopping_says_what_was_found(server: Served) -> None:
    api = server.client
    waiting, running, ended = await start(api), await start(api), await start(api)
    by_id = {held.path.stem: held for held in [await server.hand.begin() for _ in range(3)]}
    await by_id[ended].end(RunState.SUCCEEDED)
    answer = await api.post(f"/runs/{running}/stop")
    assert (answer.status_code, answer.json()["state"], answer.json()["accepted"]) == (202, "RUNNING", True)
    assert (await api.get(f"/runs/{running}")).json()["state"] == "STOPPING"
    answers = (await api.post("/runs/stop", json={"ids": [waiting, ended, "jr_nobody"]})).json()["runs"]
    assert [each["accepted"] for each in answers] == [True, False, False]
    assert [each["state"] for each in answers] == ["RUNNING", "SUCCEEDED", None]
    assert (await api.post("/runs/jr_nobody/stop")).status_code == 404


async def test_a_log_is_read_by_offset_while_it_grows(server: Served) -> None:
    api = server.client
    wire_id = await start(api)
    log = f"/runs/{wire_id}/log"
    assert (await api.get(log)).json() == {"text": "", "next_offset": 0, "ended": False}
    held = await server.hand.begin()
    held.write("één\n".encode())
    assert (await api.get(log)).json() == {"text": "één\n", "next_offset": 6, "ended": False}
    held.write(b"two\n")
    assert (await api.get(log, params={"offset": 6})).json() == {"text": "two\n", "next_offset": 10, "ended": False}
    await held.end(RunState.SUCCEEDED)
    assert (await api.get(log, params={"offset": 0, "limit": 6})).json()["ended"] is False
    assert (await api.get(log, params={"offset": 10})).json() == {"text": "", "next_offset": 10, "ended": True}
    assert (await api.get(log, params={"offset": 999})).json() == {"text": "", "next_offset": 999, "ended": True}
    for wrong in ({"offset": -1}, {"offset": "x"}, {"limit": 0}, {"limit": 2**30}, {"offset": 2**63}):
        (field,) = wrong
        assert (await api.get(log, params=wrong)).json()["error"]["field"] == field


async def test_a_log_that_is_no_utf8_is_shown_with_replacements(server: Served) -> None:
    wire_id = await start(server.client)
    held = await server.hand.begin()
    held.write(b"\xff\xfe ok \xc3")
    assert (await server.client.get(f"/runs/{wire_id}/log")).json()["text"] == "�� ok "
    await held.end(RunState.SUCCEEDED)
    assert (await server.client.get(f"/runs/{wire_id}/log")).json()["text"] == "�� ok �"


async def test_a_log_outside_the_log_folder_is_never_served(server: Served) -> None:
    (server.folder / "secret").write_text("secret")
    wire_id = await start(server.client)
    held = await server.hand.begin()
    held.path.unlink()
    held.path.symlink_to(server.folder / "secret")
    refused = await server.client.get(f"/runs/{wire_id}/log")
    assert refused.status_code == 400
    assert "secret" not in refused.text


async def test_following_shows_what_is_written_until_the_end(server: Served) -> None:
    wire_id = await start(server.client)
    seen: list[str] = []

    async def follow() -> None:
        async with server.client.stream("GET", f"/runs/{wire_id}/log/follow") as response:
            assert response.headers["content-type"].startswith("text/plain")
            seen.extend([text async for text in response.aiter_text()])

    following = asyncio.create_task(follow())
    held = await server.hand.begin()
    held.write(b"one\n")
    held.write("two é\n".encode())
    await held.end(RunState.SUCCEEDED)
    await asyncio.wait_for(following, PATIENCE_SECONDS)
    assert "".join(seen) == "one\ntwo é\n"


async def test_events_tell_the_states_between_the_log_and_the_end_at_last(server: Served) -> None:
    wire_id = await start(server.client)
    events: asyncio.Queue[tuple[str, dict[str, object]]] = asyncio.Queue()

    async def follow() -> None:
        headers = {"accept": "text/event-stream"}
        async with server.client.stream("GET", f"/runs/{wire_id}/log/follow", headers=headers) as response:
            name = ""
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    events.put_nowait((name, json.loads(line.removeprefix("data: "))))

    async def until(name: str, **wanted: object) -> dict[str, object]:
        while True:
            found, data = await asyncio.wait_for(events.get(), PATIENCE_SECONDS)
            if found == name and wanted.items() <= data.items():
                return data
            assert found == "state"

    following = asyncio.create_task(follow())
    await until("state", state="STARTING")
    held = await server.hand.begin()
    await until("state", state="RUNNING")
    held.write(b"hello\n")
    assert await until("log") == {"text": "hello\n", "next_offset": 6}
    held.write(b"bye\n")
    await held.end(RunState.FAILED, exit_code=2, message="exit code 2")
    await until("log", text="bye\n")
    assert (await until("end"))["message"] == "exit code 2"
    await asyncio.wait_for(following, PATIENCE_SECONDS)


async def test_following_from_an_offset_leaves_out_what_was_seen(server: Served) -> None:
    wire_id = await start(server.client)
    held = await server.hand.begin()
    held.write(b"one\ntwo\n")
    await held.end(RunState.SUCCEEDED)
    assert (await server.client.get(f"/runs/{wire_id}/log/follow", params={"offset": 4})).text == "two\n"
    assert (await server.client.get(f"/runs/{wire_id}/log/follow", params={"offset": -4})).status_code == 400


async def test_a_follower_that_goes_away_is_forgotten(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    listening = 0
    listen = server.database.listen

    def counted(topic: Topic, heard):  # type: ignore[no-untyped-def]
        nonlocal listening
        deaf = listen(topic, heard)
        listening += 1

        def stop() -> None:
            nonlocal listening
            listening -= 1
            deaf()

        return stop

    monkeypatch.setattr(server.database, "listen", counted)
    wire_id = await start(server.client)
    held = await server.hand.begin()
    held.write(b"one\n")
    async with server.client.stream("GET", f"/runs/{wire_id}/log/follow") as response:
        async for _ in response.aiter_text():
            break
        assert listening == 1
    async with asyncio.timeout(PATIENCE_SECONDS):
        while listening:
            await asyncio.sleep(0.01)


async def test_a_server_that_stops_keeps_nobody_following(tmp_path_factory: pytest.TempPathFactory) -> None:
    stopping = asyncio.Event()
    async with served(tmp_path_factory.mktemp("stopping"), stopping=stopping) as server:
        await server.client.post("/jobs", json={"name": "load", "kind": "python"})
        wire_id = await start(server.client)
        held = await server.hand.begin()
        held.write(b"one\n")
        follow = f"/runs/{wire_id}/log/follow"
        async with server.client.stream("GET", follow) as response:
            texts = response.aiter_text()
            assert await anext(texts) == "one\n"
            stopping.set()
            assert "the server is stopping" in await anext(texts)
        events = (await server.client.get(follow, headers={"accept": "text/event-stream"})).text
        assert events.startswith("event: error\n")
        assert '"unavailable"' in events


async def test_following_nobodys_run_is_refused_before_it_streams(api: httpx.AsyncClient) -> None:
    for path in ("/runs/jr_nobody/log/follow", "/runs/jr_nobody/log", "/runs/jr_nobody"):
        assert (await api.get(path)).json()["error"]["type"] == "not_found"


async def test_events_are_read_from_where_the_last_call_ended(api: httpx.AsyncClient) -> None:
    wire_id = await start(api)
    attempt_id = (await api.get(f"/runs/{wire_id}")).json()["attempt_id"]
    found = (await api.get("/events")).json()
    assert found["items"][0]["moves"] == [{"attempt_id": attempt_id, "from": None, "to": "STARTING", "reason": None}]
    await api.post(f"/runs/{wire_id}/stop")
    later = (await api.get("/events", params={"after": found["next"]})).json()
    assert [move["to"] for event in later["items"] for move in event["moves"]] == ["STOPPING", "STOPPED"]
    assert (await api.get("/events", params={"after": -1})).status_code == 400
