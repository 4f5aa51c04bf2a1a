"""Workers over HTTP: what a worker asks through its client is done by a real server, and what is refused says why."""

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faces.api.serving import PATIENCE_SECONDS, Served, served
from waterclock import clock
from waterclock.app.http_work import HttpWork
from waterclock.app.remote_worker import handed_over
from waterclock.app.server_address import servers_of, token_of
from waterclock.app.server_answers import WrongServer
from waterclock.app.server_line import ServerLine
from waterclock.app.supervision import HttpLeases, leases_of
from waterclock.domain.access import Role
from waterclock.domain.claim import Claimant, Claimed
from waterclock.domain.errors import (
    CannotRun,
    Forbidden,
    InvalidInput,
    NotAllowed,
    NotSent,
    ServerLost,
    Unauthenticated,
)
from waterclock.domain.lake import LakeKind, LakeTable, TableFormat
from waterclock.domain.lake_sync import PROBE, SourceKind
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.progress import Report
from waterclock.domain.run import Attempt, RunState
from waterclock.faces.work_messages import HEADER, PROTOCOL
from waterclock.settings import Settings, load
from waterclock.stores.base import Topic, Tx
from waterclock.stores.ops.lake_tables import create_table
from waterclock.stores.ops.nodes import NO_PULSE, Node
from waterclock.stores.ops.rows import loaded

VALUE = "hunter2-the-second"
ME = Claimant(node="node far", host="host far")
RECORD = Node(id=ME.node, host=ME.host, name="rack", duties=("worker",), queues=("default",), version="1", pid=1)
Answering = Callable[[bytes], Awaitable[bytes | None]]


@asynccontextmanager
async def working(token: str, *servers: str, lease: float = 60, **more: Any) -> AsyncIterator[HttpWork]:
    line = ServerLine(Settings(server=",".join(servers), token=token, lease_seconds=lease, **more))
    try:
        yield HttpWork(line, ME.host)
    finally:
        await line.close()


@pytest.fixture
async def token(server: Served) -> str:
    return await server.token_of("rack", Role.WORKER)


@pytest.fixture
async def work(server: Served, token: str) -> AsyncIterator[HttpWork]:
    async with working(token, server.url) as found:
        await found.beat(RECORD, 0, NO_PULSE)
        yield found


async def test_a_run_goes_from_claim_to_end_over_http(server: Served, work: HttpWork) -> None:
    held = await _claimed(server, work, arguments={"--url": "{{secret:warehouse}}"})
    attempt = held.attempt
    assert held.spec.kind == "python"
    assert await work.values(attempt, ["warehouse"]) == {"warehouse": VALUE}
    assert (await work.masks(attempt, ["warehouse"])).text(f"it is {VALUE}") == "it is ***"
    assert await work.ship(attempt.id, attempt.fence, 0, b"line one\n", last=False) == 9
    assert await work.ship(attempt.id, attempt.fence, 0, b"line one\n", last=False) == 9
    begun = Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=7, log_path="/tmp/here")
    assert await work.record([begun], []) == frozenset()
    assert await work.renew([(attempt.id, attempt.fence), (999, 1)], 60) == {attempt.id}
    assert await work.stopping(ME.node) == ()
    (adopted,) = await work.adopt(ME, ttl_seconds=60)
    assert adopted.attempt.pid == 7
    said = "bad \0 and \udc80 bytes"
    ended = Outcome(attempt_id=attempt.id, fence=attempt.fence, state=RunState.FAILED, exit_code=3, message=said)
    await work.record([], [ended])
    assert await work.ship(attempt.id, attempt.fence, 9, b"two", last=True) == 12
    run = (await server.client.get(f"/runs/{attempt.wire_id}")).json()
    assert (run["state"], run["exit_code"], run["message"]) == ("FAILED", 3, "bad \ufffd and ? bytes")
    assert (await server.client.get(f"/runs/{attempt.wire_id}/log")).json()["text"] == "line one\ntwo"
    await work.leave(ME.node)


async def test_ends_that_are_too_much_for_one_call_go_in_several(server: Served, work: HttpWork) -> None:
    held = [await _claimed(server, work) for _ in range(3)]
    ends = [
        Outcome(attempt_id=each.attempt.id, fence=each.attempt.fence, state=RunState.SUCCEEDED, message="é" * 600_000)
        for each in held
    ]
    begun = [Beginning(attempt_id=each.attempt.id, fence=each.attempt.fence, pid=7) for each in held]
    assert await work.record(begun, ends) == frozenset()
    for each in held:
        assert (await server.client.get(f"/runs/{each.attempt.wire_id}")).json()["state"] == "SUCCEEDED"


async def test_how_far_a_run_has_come_is_told_over_http(server: Served, work: HttpWork) -> None:
    attempt = (await _claimed(server, work)).attempt
    key: dict[str, Any] = {"attempt_id": attempt.id, "fence": attempt.fence}
    assert await work.report([Report(**key, phase="building")]) == frozenset()  # it has not begun
    await work.record([Beginning(**key, pid=7)], [])
    assert await work.report([Report(**key, phase="building", progress={"rows_read": 1})]) == {attempt.id}
    assert (await server.client.get(f"/runs/{attempt.wire_id}")).json()["phase"] == "building"
    assert await _progress(server, attempt) == {"rows_read": 1}


async def test_what_a_run_said_last_is_there_when_it_has_begun_and_ended_in_one_go(
    server: Served, work: HttpWork
) -> None:
    attempt = (await _claimed(server, work)).attempt
    key: dict[str, Any] = {"attempt_id": attempt.id, "fence": attempt.fence}
    end = Outcome(**key, state=RunState.SUCCEEDED, progress='{"rows_read": 9}')
    assert await work.record([Beginning(**key, pid=7)], [end]) == frozenset()
    assert (await server.client.get(f"/runs/{attempt.wire_id}")).json()["state"] == "SUCCEEDED"
    assert await _progress(server, attempt) == {"rows_read": 9}


async def test_the_tables_of_its_organisation_come_with_a_query_over_http(server: Served, work: HttpWork) -> None:
    table = LakeTable(name="abc", format=TableFormat.PARQUET, path="/data/abc")
    await server.database.write(create_table, org_id=1, creator="ann", table=table)
    assert (await _claimed(server, work, kind=LakeKind.SQL)).tables == (table,)
    assert (await _claimed(server, work)).tables == ()
    assert sorted(len(each.tables) for each in await work.adopt(ME, ttl_seconds=60)) == [0, 1]


async def test_the_sources_of_a_probe_come_with_it_over_http(server: Served, work: HttpWork) -> None:
    config = {"path": "/lake/shop.db", "options": {"a": [1, None, True]}}
    row = {"id": 1, "org_id": 1, "name": "shop", "kind": "sqlite", "owner": "ann", "creator": "ann"}

    async def insert(tx: Tx) -> None:
        await tx.run("insert_lake_source", {**row, "config": json.dumps(config), "now": 7})

    await server.database.write(insert)
    held = await _claimed(server, work, kind=PROBE, arguments={"--source": "1"})
    (found,) = held.sources
    assert (found.id, found.kind, found.config) == (1, SourceKind.SQLITE, config)


async def test_two_take_turns_over_http(server: Served, work: HttpWork) -> None:
    first, second = (await _claimed(server, work)).attempt, (await _claimed(server, work)).attempt
    assert await work.lock(first.id, first.fence, ["hdfs://lake/one", "hdfs://lake/other"]) is None
    why = await work.lock(second.id, second.fence, ["hdfs://lake/other"])
    assert why == f"job {first.job_name} is writing to hdfs://lake/other"
    assert (await server.client.get(f"/runs/{second.wire_id}")).json()["wait_reason"] == why
    ended = Outcome(attempt_id=first.id, fence=first.fence, state=RunState.FAILED)
    await work.record([], [ended])
    assert await work.lock(second.id, second.fence, ["hdfs://lake/other"]) is None
    with pytest.raises(NotAllowed):
        await work.lock(first.id, first.fence, ["hdfs://lake/other"])


async def test_a_run_that_is_due_wakes_those_who_wait(server: Served, work: HttpWork) -> None:
    await work.hear()  # what was before is not news
    heard, silent = asyncio.Event(), asyncio.Event()
    work.listen(Topic.ATTEMPTS, heard.set)
    work.listen(Topic.STOPS, silent.set)
    waiting = asyncio.create_task(work.hear())
    await _run(server)
    async with asyncio.timeout(PATIENCE_SECONDS / 2):  # sooner than the question would be answered anyway
        await waiting
    assert heard.is_set()
    assert not silent.is_set()


async def test_what_rings_between_two_questions_is_told_with_the_second(server: Served, work: HttpWork) -> None:
    await work.hear()
    heard = asyncio.Event()
    work.listen(Topic.ATTEMPTS, heard.set)
    await _run(server)
    async with asyncio.timeout(PATIENCE_SECONDS / 2):
        await work.hear()
        await heard.wait()


async def test_a_server_that_is_to_stop_keeps_nobody_waiting(tmp_path: Path) -> None:
    stopping = asyncio.Event()
    async with (
        served(tmp_path, stopping=stopping) as server,
        working(await server.token_of("rack", Role.WORKER), server.url) as work,
    ):
        await work.hear()
        waiting = asyncio.create_task(work.hear())
        await asyncio.sleep(0)
        stopping.set()
        async with asyncio.timeout(PATIENCE_SECONDS / 2):
            await waiting


async def test_who_is_refused_is_told_why(server: Served, token: str) -> None:
    async with working("wct_nobody", server.url) as work:
        with pytest.raises(Unauthenticated, match="unknown, revoked or expired"):
            await work.beat(RECORD, 0, NO_PULSE)
    async with working(await server.token_of("eve", Role.VIEWER), server.url) as work:
        with pytest.raises(Forbidden, match=r"eve.* \(viewer\) may not .*--role worker"):
            await work.beat(RECORD, 0, NO_PULSE)
    async with working(token, server.url) as work:
        await work.beat(RECORD, 0, NO_PULSE)
        held = await _claimed(server, work, arguments={"--url": "{{secret:unset}}"})
        with pytest.raises(CannotRun, match="there is no secret 'unset'"):
            await work.values(held.attempt, ["unset"])
        with pytest.raises(NotAllowed, match="is not this worker's"):
            await work.ship(held.attempt.id, held.attempt.fence + 1, 0, b"x", last=False)


async def test_another_protocol_is_refused_with_who_is_to_be_upgraded(server: Served, token: str) -> None:
    async with server.as_user(token) as worker:
        for spoken, upgrade in ((PROTOCOL + 1, "server"), (0, "worker")):
            answer = await worker.post("/work/leave", json={}, headers={HEADER: str(spoken)})
            assert (answer.status_code, answer.json()["error"]["type"]) == (409, "wrong_protocol")
            assert f"upgrade the {upgrade}" in answer.json()["error"]["message"]


MALFORMED: tuple[tuple[str, bytes, str | None], ...] = (
    ("/work/leave", b"{", None),
    ("/work/leave", b'{"host": "h"}', "node"),
    ("/work/claim", b'{"claimant": {"node": "n"}, "limit": 1, "ttl_seconds": 1, "until": 1}', "claimant.host"),
    (
        "/work/claim",
        b'{"claimant": {"node": "n", "host": "h", "labels": ["a b"]}, "limit": 1, "ttl_seconds": 1, "until": 1}',
        "labels",
    ),
    ("/work/renew", b'{"host": "h", "held": [[1, "2"]], "ttl_seconds": 1}', "held[0][1]"),
    ("/work/renew", b'{"host": "h", "held": [], "ttl_seconds": 1e9}', "ttl_seconds"),
    ("/work/lock", b'{"host": "h", "attempt_id": 1, "fence": 1, "destinations": []}', "destinations"),
)


async def test_a_malformed_question_is_refused_with_its_field(server: Served, token: str) -> None:
    async with server.as_user(token) as worker:
        for path, body, field in MALFORMED:
            answer = await worker.post(path, content=body, headers={HEADER: str(PROTOCOL)})
            assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_input"), answer.text
            assert answer.json()["error"]["field"] == field
        unversioned = await worker.post("/work/leave", json={"host": "h", "node": "n"})
    assert (unversioned.status_code, unversioned.json()["error"]["field"]) == (400, HEADER)


async def test_the_audit_has_what_secrets_were_given_and_not_every_beat(server: Served, work: HttpWork) -> None:
    held = await _claimed(server, work, arguments={"--url": "{{secret:warehouse}}"})
    await work.values(held.attempt, ["warehouse"])

    async def rows() -> list[dict[str, Any]]:
        found = (await server.client.get("/audit", params={"user": "rack"})).json()["items"]
        return list(found)

    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (found := await rows()):
            await asyncio.sleep(0.05)
    assert [row["action"] for row in found] == ["POST /api/v1/work/secrets"]
    assert found[0]["resource"] == f"attempt {held.attempt.id}/warehouse"


# Servers that do not behave


@asynccontextmanager
async def pretending(answering: Answering) -> AsyncIterator[str]:
    """Whatever is asked there is answered so; None closes the connection without a word."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(length[1])) if length else b""
        if (answer := await answering(head + body)) is not None:
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def answers(status: str, body: str) -> Answering:
    async def answer(head: bytes) -> bytes:
        return f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n{body}".encode()

    return answer


def without_reports(asked: list[dict[str, Any]], status: str, said: str) -> Answering:
    """What it answers to a report; the rest it remembers."""

    async def answer(request: bytes) -> bytes | None:
        head, _, body = request.partition(b"\r\n\r\n")
        if b"/work/report" in head.splitlines()[0]:
            return await answers(status, said)(head)
        asked.append(json.loads(body))
        return await answers("200 OK", '{"attempt_ids": []}')(head)

    return answer


async def test_a_server_of_the_release_before_is_told_of_ends_as_it_knows_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It refuses a field that it does not know; at the first address nobody answers."""
    asked: list[dict[str, Any]] = []
    old = without_reports(asked, "404 Not Found", OLD)
    async with pretending(old) as address, working("t", "http://127.0.0.1:1", address) as work:
        assert await work.report([Report(attempt_id=1, fence=1, phase="building")]) == {1}  # nobody says it again
        await work.record([Beginning(attempt_id=1, fence=1)], [ENDED])
    (outcome,) = asked[-1]["outcomes"]
    assert (outcome["message"], "progress" in outcome) == ("why", False)
    assert not caplog.records


async def test_with_a_server_of_the_release_before_there_are_no_locks_which_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with pretending(answers("404 Not Found", OLD)) as address, working("t", address) as work:
        assert await work.lock(1, 1, ["hdfs://lake/one"]) is None
    assert "attempt 1 writes without a lock" in caplog.text


async def test_of_two_servers_the_one_that_knows_reports_is_told(server: Served, token: str) -> None:
    old = without_reports([], "404 Not Found", OLD)
    async with pretending(old) as address, working(token, server.url, address) as work:
        await work.beat(RECORD, 0, NO_PULSE)
        attempt = (await _claimed(server, work)).attempt
        key: dict[str, Any] = {"attempt_id": attempt.id, "fence": attempt.fence}
        await work.record([Beginning(**key, pid=7)], [])
        work._line._at = 1
        assert await work.report([Report(**key, progress={"rows_read": 1})]) == {attempt.id}
    assert await _progress(server, attempt) == {"rows_read": 1}


async def test_an_end_does_not_wait_for_a_report_that_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    asked: list[dict[str, Any]] = []
    refusal = '{"error": {"type": "invalid_input", "message": "progress: too long", "field": "progress"}}'
    async with pretending(without_reports(asked, "400 Bad Request", refusal)) as address, working("t", address) as work:
        await work.record([], [ENDED])
    assert asked[-1]["outcomes"][0]["message"] == "why"
    (warning,) = caplog.records
    assert "progress: too long" in warning.getMessage()


ENDED = Outcome(attempt_id=1, fence=1, state=RunState.FAILED, message="why", progress='{"rows_read": 9}')
OLD = '{"error": {"type": "not_found", "message": "path \'/api/v1/work/beat\' not found", "field": null}}'


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        ("404 Not Found", OLD, "is of a release without workers over HTTP: upgrade it"),
        ("404 Not Found", "<html>", "answered 404: is it a waterclock server?"),
        ("200 OK", "<html>", "is not JSON"),
    ],
)
async def test_what_is_no_server_of_ours_is_said_to_be_none(status: str, body: str, words: str) -> None:
    async with pretending(answers(status, body)) as address, working("t", address) as work:
        with pytest.raises(WrongServer, match=words):
            await work.beat(RECORD, 0, NO_PULSE)


async def test_the_next_server_is_asked_where_one_does_not_answer(
    server: Served, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def silent(head: bytes) -> None:
        return None

    async with (
        pretending(silent) as mute,
        pretending(answers("502 Bad Gateway", "")) as proxy,
        working(token, "http://127.0.0.1:1", mute, proxy, server.url) as work,
    ):
        await work.beat(RECORD, 0, NO_PULSE)
        await work.stopping(ME.node)
    assert not caplog.records


async def test_calls_that_meet_the_same_dead_server_at_once_all_find_the_next(server: Served, token: str) -> None:
    async with working(token, "http://127.0.0.1:1", server.url) as work:
        await asyncio.gather(*(work.beat(RECORD, 0, NO_PULSE) for _ in range(4)), return_exceptions=True)
        for _ in range(3):
            work._line._at = 0
            await asyncio.gather(*(work.stopping(ME.node) for _ in range(5)))


async def test_an_outage_is_told_once_and_its_end_too(
    server: Served, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "waterclock.worker")
    well = False

    async def forward(head: bytes) -> bytes | None:
        return await answers("200 OK", '{"skew_us": 0}')(head) if well else None

    async with pretending(forward) as address, working(token, address) as work:
        for _ in range(3):
            with pytest.raises(ServerLost) as lost:
                await work.beat(RECORD, 0, NO_PULSE)
            assert lost.value.is_told
        well = True
        await work.beat(RECORD, 0, NO_PULSE)
    said = [record.getMessage() for record in caplog.records if record.name == "waterclock.worker"]
    assert [("trying again" in each, each.startswith(address)) for each in said] == [(True, True), (False, True)]


async def test_a_claim_whose_answer_is_lost_is_not_asked_twice_and_then_given_back(server: Served, token: str) -> None:
    """It reached the server; only its answer did not reach us."""
    done: list[int] = []

    async def relay(request: bytes) -> None:
        head, _, body = request.partition(b"\r\n\r\n")
        if b"/work/claim" in head:
            async with server.as_user(token) as passed_on:
                answer = await passed_on.post("/work/claim", content=body, headers={HEADER: str(PROTOCOL)})
            done.append(len(answer.json()["claimed"]))

    async with pretending(relay) as mute, working(token, mute, server.url, lease=0.6) as work:
        await work.beat(RECORD, 0, NO_PULSE)  # answered by the second one, from which it goes on
        work._line._at = 0
        run = await _run(server)
        with pytest.raises(ServerLost):
            await work.claim(ME, limit=1, ttl_seconds=60)
        assert done == [1]
        await work.give_back(ME, [])
        (held,) = (await work.claim(ME, limit=1, ttl_seconds=60)).claimed
        assert (held.attempt.wire_id, held.attempt.fence) == (run, 2)


async def test_a_claim_that_reached_nobody_is_asked_at_the_next_server(server: Served, token: str) -> None:
    async with working(token, server.url, "http://127.0.0.1:1") as work:
        await work.beat(RECORD, 0, NO_PULSE)
        work._line._at = 1
        await _run(server)
        assert len((await work.claim(ME, limit=1, ttl_seconds=60)).claimed) == 1
        work._clock = (0, clock.monotonic())
        with pytest.raises(ServerLost, match="too late"):
            await work.claim(ME, limit=1, ttl_seconds=60)
    async with working(token, "http://127.0.0.1:1") as work:
        work._clock = (0, 0.0)
        with pytest.raises(NotSent):
            await work.claim(ME, limit=1, ttl_seconds=60)


async def test_a_token_that_is_replaced_in_its_file_is_used_at_once(server: Served, token: str, tmp_path: Path) -> None:
    file = tmp_path / "worker.token"
    file.write_text("wct_old\n")
    line = ServerLine(Settings(server=server.url, token_file=str(file)))
    work = HttpWork(line, ME.host)
    line.is_patient = True
    with pytest.raises(ServerLost, match="unknown, revoked or expired"):
        await work.beat(RECORD, 0, NO_PULSE)
    file.write_text(f"{token}\n")
    await work.beat(RECORD, 0, NO_PULSE)
    await line.close()


async def test_a_supervisor_renews_over_http_where_its_last_worker_asked(
    server: Served, token: str, work: HttpWork, tmp_path: Path
) -> None:
    """It outlives its worker: the next one may be started with another address and another token."""
    held = (await _claimed(server, work)).attempt
    data = tmp_path / "worker"
    data.mkdir()
    (data / "host-id").write_text(ME.host)
    settings = handed_over(Settings(data_dir=data, server="http://127.0.0.1:1", token="wct_old"))
    assert "wct_old" not in str(settings.to_environ())
    leases = leases_of(load({}, settings.to_environ()))
    assert isinstance(leases, HttpLeases)
    with pytest.raises(NotSent):
        await leases.renew([(held.id, held.fence)], 60)
    handed_over(Settings(data_dir=data, server=server.url, token=token))
    assert await leases.renew([(held.id, held.fence), (held.id + 1, 1)], 60) == {held.id}
    assert {path.name: path.stat().st_mode & 0o777 for path in data.glob("worker.*")} == {
        "worker.servers": 0o600,
        "worker.token": 0o600,
    }


@pytest.mark.parametrize("address", ["ftp://host", "host:8470", "http://", "http://host:99999", " , "])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="server"):
        servers_of(address)


def test_a_worker_without_a_token_is_told_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="--token-file"):
        token_of(Settings(server="http://host"))
    with pytest.raises(InvalidInput, match="cannot read the token"):
        token_of(Settings(server="http://host", token_file=str(tmp_path / "none")))
    (tmp_path / "empty").touch()
    with pytest.raises(InvalidInput, match="token_file: is no token"):
        token_of(Settings(server="http://host", token_file=str(tmp_path / "empty")))


async def _run(server: Served, **job: Any) -> str:
    api: httpx.AsyncClient = server.client
    await api.put("/secrets/warehouse", json={"value": VALUE})
    name = f"load {len((await api.get('/jobs')).json()['items'])}"
    made = await api.post("/jobs", json={"name": name, "kind": "python", "max_concurrent": 0, **job})
    assert made.is_success, made.text
    return str((await api.post("/runs", json={"job": name})).json()["id"])


async def _progress(server: Served, attempt: Attempt) -> dict[str, Any]:
    async def read(tx: Tx) -> dict[str, Any]:
        (row,) = await tx.fetch("newest_attempts_of_runs", {"run_ids": [attempt.run_id]})
        return loaded(row["progress"])

    return await server.database.read(read)


async def _claimed(server: Served, work: HttpWork, **job: Any) -> Claimed:
    await _run(server, **job)
    (held,) = (await work.claim(ME, limit=1, ttl_seconds=60)).claimed
    return held
