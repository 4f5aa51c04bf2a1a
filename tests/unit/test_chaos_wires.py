"""The wires that chaos stands in: requests are whole, commits are known, nothing is lost where bytes come in pieces."""

import struct

import pytest

from tests.chaos.tools.wires import FLUSH, READY, MysqlWire, PostgresWire, Wire

STARTUP = struct.pack("!ii", 9, 196_608) + b"\0"
ENCRYPTION = struct.pack("!ii", 8, 80_877_103)
SYNC = b"S\0\0\0\x04"


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def packet(body: bytes, number: int = 0) -> bytes:
    return struct.pack("<I", len(body))[:3] + bytes([number]) + body


STATEMENT = message(b"B", b"a bind") + message(b"E", b"an execute") + SYNC
COMMIT = message(b"Q", b"NOTIFY waterclock, 'x'; COMMIT\0")
POSTGRES = [ENCRYPTION, STARTUP, message(b"Q", b"BEGIN\0"), STATEMENT, COMMIT]
MYSQL = [packet(b"a login", 1), packet(b"\x03SELECT 1"), packet(b"\x03COMMIT")]


@pytest.mark.parametrize(("wire", "requests"), [(PostgresWire(), POSTGRES), (MysqlWire(), MYSQL)])
def test_requests_are_whole_however_their_bytes_arrive(wire: Wire, requests: list[bytes]) -> None:
    found = [request for byte in b"".join(requests) for request in wire.requests(bytes([byte]))]
    assert found == requests
    assert [wire.commits(request) for request in found] == [False] * (len(requests) - 1) + [True]


def test_only_what_takes_locks_or_sees_rows_is_refused() -> None:
    postgres, mysql = PostgresWire(), MysqlWire()
    assert [postgres.refusable(request) for request in POSTGRES] == [False, False, False, True, True]
    assert [mysql.refusable(request) for request in MYSQL] == [False, True, False]
    assert not mysql.refusable(packet(b"\x03SELECT VERSION() AS version"))


def test_a_refused_statement_leaves_its_transaction_failed() -> None:
    wire = PostgresWire()
    wire.heard(b"C....BEGIN\0" + READY + b"T")
    assert wire.refusal(STATEMENT, "40P01").endswith(READY + b"E")
    assert b"C40P01\0" in wire.refusal(STATEMENT, "40P01")


def test_who_only_flushes_is_told_of_the_end_by_the_server() -> None:
    assert READY not in PostgresWire().refusal(message(b"P", b"a parse") + FLUSH, "40001")


def test_a_refusal_of_mysql_answers_the_packet_that_asked() -> None:
    said = MysqlWire().refusal(packet(b"\x03UPDATE runs"), "1213/40001")
    assert said[3] == 1
    assert said[4:13] == b"\xff" + struct.pack("<H", 1213) + b"#40001"
