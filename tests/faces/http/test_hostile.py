"""Requests that no honest client sends, over a real socket: each is refused, early, and others are served meanwhile."""

import socket
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.faces.http.raw import exchange, request, sign, signed_call
from tests.faces.http.served import DEADLINE, Served
from waterclock.domain.rules import GUARDED
from waterclock.faces.http import connection as limits
from waterclock.faces.http.connection import HEAD_BYTES, HEAD_LINES

HUNDRED_MB = 100 * 1024 * 1024
TARGET = {"X-Amz-Target": "AWSGlue.CreateJob"}


def test_a_body_of_100_mb_is_refused_before_it_is_sent(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=DEADLINE) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % HUNDRED_MB)
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer


def test_a_client_that_sends_100_mb_all_the_same_reads_the_answer(served: Served) -> None:
    body = bytes(HUNDRED_MB)
    headers = sign(served, served.first.key, body, TARGET)
    answer = request(served, "POST", headers=headers, body=body)
    assert (answer.status, answer.body["__type"]) == (413, "RequestEntityTooLargeException")


def test_a_body_without_a_length_is_refused_where_it_grows_too_large(served: Served) -> None:
    taken = 0

    def pieces() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(1600):
            taken += 1
            yield bytes(65536)

    headers = {**TARGET, "Transfer-Encoding": "chunked"}
    answer = request(served, "POST", headers=headers, body=pieces(), chunked=True)
    assert (answer.status, answer.body["__type"]) == (413, "RequestEntityTooLargeException")


def test_a_body_of_the_greatest_size_is_read(served: Served) -> None:
    body = orjson.dumps({"JobName": "x" * (1024 * 1024 - 14)})
    assert len(body) == 1024 * 1024
    assert signed_call(served, served.first.key, "GetJob", body).body["__type"] == "InvalidInputException"
    assert signed_call(served, served.first.key, "GetJob", body + b" ").status == 413


@pytest.mark.parametrize(
    "head",
    [
        b"".join(b"x-%d: 1\r\n" % number for number in range(10_000)),
        b"".join(b"a: \r\n" for _ in range(HEAD_LINES + 1)),
        b"x: " + b"y" * (HEAD_BYTES + 1) + b"\r\n",
        b"x: " + b"y" * (16 * HEAD_BYTES),  # and no end of the line
        b"z" * (16 * HEAD_BYTES),
    ],
    ids=["10,000 lines", "one too many", "a long one", "an endless one", "an endless name"],
)
def test_a_head_that_is_too_large_is_431(served: Served, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=DEADLINE) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + head)
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 431 ")


def test_a_path_that_is_too_long_is_431(served: Served) -> None:
    assert exchange(served, b"GET /" + b"a" * HEAD_BYTES + b" HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 431 ")


def test_what_is_not_http_is_400(served: Served) -> None:
    for sent in (b"\x16\x03\x01\x02\x00\x01", b"SSH-2.0-x\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        assert exchange(served, sent).startswith(b"HTTP/1.1 400 ")


def test_a_body_that_does_not_arrive_is_408(tmp_path: Path) -> None:
    with Served(tmp_path, GUARDED, body_seconds=0.2) as served:
        answer = exchange(served, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"RequestTimeoutException" in answer


def test_a_head_that_does_not_arrive_is_408(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.2)
    with Served(tmp_path, GUARDED) as served:
        for sent in (b"", b"GET /healthz HT"):
            assert exchange(served, sent).startswith(b"HTTP/1.1 408 ")
        whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        first, _, second = exchange(served, whole + b"GET ").partition(b"ok\n")
        assert first.startswith(b"HTTP/1.1 200 ")
        assert second.startswith(b"HTTP/1.1 408 ")


def test_others_are_served_while_many_connections_say_nothing(served: Served) -> None:
    silent = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(200)]
    try:
        for connection in silent:
            connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
        assert signed_call(served, served.first.key, "GetJobs", {}).status == 200
    finally:
        for connection in silent:
            connection.close()


def test_two_requests_in_one_packet_are_both_answered(served: Served) -> None:
    whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
    answer = exchange(served, whole + b"\r\n" + whole + b"Connection: close\r\n\r\n")
    assert answer.count(b"HTTP/1.1 200 ") == 2
