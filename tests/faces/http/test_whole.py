"""Calls that arrive whole are answered past ASGI: nobody notices it, however the bytes come and whatever goes wrong."""

import asyncio
import socket
from typing import Any

import orjson
import pytest
import uvicorn
from starlette.types import Scope

from tests.faces.http.raw import sign
from tests.faces.http.served import DEADLINE, Served
from waterclock.domain.audit import Entry
from waterclock.faces.http import connection as limits
from waterclock.faces.http.app import App
from waterclock.faces.http.connection import Connection
from waterclock.faces.http.exchange import Answer
from waterclock.faces.http.metrics import Metrics

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"
BODY = b"{}"


def call(served: Served, action: str = "GetJob", name: str = "none") -> tuple[bytes, bytes]:
    """Head and body of a signed call."""
    body = orjson.dumps({"JobName": name})
    headers = sign(served, served.first.key, body, {"X-Amz-Target": f"AWSGlue.{action}"})
    lines = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    return f"POST / HTTP/1.1\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode(), body


def connected(served: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.port), timeout=DEADLINE)


def received(connection: socket.socket, answers: int = 1) -> bytes:
    """What comes, until it holds so many answers that nothing of the kind was found."""
    seen = b""
    while seen.count(b"EntityNotFoundException") < answers:
        more = connection.recv(65536)
        assert more, seen
        seen += more
    return seen


def test_a_body_that_does_not_come_soon_is_read_as_others_are(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WHOLE_SECONDS", 0.0)
    head, body = call(served)
    with connected(served) as connection:
        for part in (head[:40], head[40:], body[:3], body[3:]):
            connection.sendall(part)
            served.run(asyncio.sleep(0.01))  # so that it comes by itself
        assert received(connection).startswith(b"HTTP/1.1 400 ")


def test_calls_that_come_at_once_on_one_connection_are_answered_in_their_order(served: Served) -> None:
    calls = b"".join(head + body for head, body in (call(served, name=name) for name in ("one", "two", "three")))
    with connected(served) as connection:
        connection.sendall(calls)
        seen = received(connection, 3)
    assert [seen.index(name) for name in (b"one", b"two", b"three")] == sorted(
        seen.index(name) for name in (b"one", b"two", b"three")
    )


def test_a_caller_who_goes_away_before_the_body_has_come_is_recorded(served: Served) -> None:
    head, _ = call(served, "StopCrawler")
    before = len(served.audit)
    with connected(served) as connection:
        connection.sendall(head)
        served.run(asyncio.sleep(0.01))

    async def recorded() -> None:
        while len(served.audit) == before:
            await asyncio.sleep(0.01)

    served.run(asyncio.wait_for(recorded(), DEADLINE))
    assert served.audit[-1].status == 408


class Wire:
    """A transport that keeps what was written."""

    def __init__(self) -> None:
        self.written = b""
        self.is_closed = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.is_closed.set()

    def is_closing(self) -> bool:
        return self.is_closed.is_set()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)}.get(name, default)


class Face:
    """A Glue face that answers when it is told to."""

    def __init__(self, problem: Exception | None = None) -> None:
        self._problem = problem
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def __call__(self, *_: Any) -> None:
        raise AssertionError("it came by ASGI")

    async def reply(self, scope: Scope, body: bytes) -> Answer:
        scope["waterclock.face"] = "glue"
        self.asked.set()
        await self.may_answer.wait()
        if self._problem:
            raise self._problem
        return Answer(status=200, headers=b"x: y\r\n", body=body)


class Server:
    """One connection to an app with that face."""

    def __init__(self, face: Face, *, keep_alive: int = 60) -> None:
        self.audit: list[Entry] = []
        app = App(face, None, Metrics(), self.audit.append)  # type: ignore[arg-type]  # of no other face
        config = uvicorn.Config(
            app, log_config=None, lifespan="off", ws="none", proxy_headers=False, timeout_keep_alive=keep_alive
        )
        config.load()
        self.state = uvicorn.Server(config).server_state
        self.connection = Connection(config=config, server_state=self.state, app_state={})
        self.wire = Wire()
        self.connection.connection_made(self.wire)  # type: ignore[arg-type]

    async def settled(self) -> None:
        async with asyncio.timeout(DEADLINE):
            while self.state.tasks:
                await asyncio.sleep(0)


async def test_a_head_and_its_body_may_come_in_many_packets() -> None:
    face = Face()
    face.may_answer.set()
    server = Server(face)
    for byte in HEAD + BODY:
        server.connection.data_received(bytes([byte]))
    await server.settled()
    assert server.wire.written.startswith(b"HTTP/1.1 200 ")
    assert server.wire.written.endswith(b"x: y\r\ncontent-length: 2\r\n\r\n{}")
    assert not server.wire.is_closing()


async def test_what_nobody_foresaw_is_told_without_details_recorded_and_closes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    face = Face(RuntimeError("a secret"))
    server = Server(face)
    face.may_answer.set()
    server.connection.data_received(HEAD + BODY)
    await server.settled()
    head, _, body = server.wire.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 500 ")
    assert b"\r\nconnection: close" in head
    assert b"a secret" not in body
    assert server.wire.is_closing()
    assert [entry.status for entry in server.audit] == [500]
    assert [record.name for record in caplog.records] == ["waterclock.faces.http.problems"]


async def test_a_server_that_stops_answers_what_has_come_and_says_that_it_closes() -> None:
    face = Face()
    server = Server(face)
    server.connection.data_received(HEAD + BODY)
    await face.asked.wait()
    server.connection.shutdown()
    assert not server.wire.is_closing()
    face.may_answer.set()
    await server.settled()
    assert server.wire.written.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close\r\n" in server.wire.written
    assert server.wire.is_closing()


async def test_a_caller_who_has_gone_is_written_nothing_but_recorded() -> None:
    face = Face()
    server = Server(face)
    server.connection.data_received(HEAD + BODY)
    await face.asked.wait()
    server.wire.close()
    server.connection.connection_lost(None)
    face.may_answer.set()
    await server.settled()
    assert server.wire.written == b""
    assert [entry.status for entry in server.audit] == [200]


async def test_a_connection_that_rests_for_too_long_is_closed_and_one_that_works_is_not() -> None:
    face = Face()
    face.may_answer.set()
    server = Server(face, keep_alive=0)
    server.connection.data_received(HEAD + BODY)
    await server.settled()
    face.may_answer.clear()
    face.asked.clear()
    server.connection.data_received(HEAD + BODY)  # before anybody has looked whether it rests
    await face.asked.wait()
    async with asyncio.timeout(DEADLINE):
        while server.connection._rest_timer is not None:  # until somebody has looked
            await asyncio.sleep(0)
    assert not server.wire.is_closing()
    face.may_answer.set()
    async with asyncio.timeout(DEADLINE):
        await server.wire.is_closed.wait()
    assert server.wire.written.count(b"HTTP/1.1 200 ") == 2
