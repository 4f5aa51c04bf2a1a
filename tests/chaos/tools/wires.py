"""What a proxy must know of a wire: where a request ends, which request commits, how a refusal looks. Pure."""

import struct
from collections.abc import Callable, Mapping
from typing import Final, Protocol
from urllib.parse import urlsplit

STARTUP: Final = 196_608  # of PostgreSQL's protocol 3.0; what comes before it asks for encryption or a cancellation
ENDS: Final = b"SQXHpdcf"  # messages of PostgreSQL after which the server has something to answer
FLUSH: Final = b"H\0\0\0\x04"
READY: Final = b"Z\0\0\0\x05"  # and one byte for the state
QUERY: Final = 3  # MySQL's COM_QUERY
READS_AND_WRITES: Final = (b"SELECT", b"INSERT", b"UPDATE", b"DELETE", b"WITH")
GREETING: Final = b"SELECT VERSION()"  # asked once for each connection: no lock is taken, none can be refused


class Wire(Protocol):
    """One connection's; it is shown everything that passes."""

    def requests(self, data: bytes) -> list[bytes]:
        """The client's bytes cut where a whole request ends; what is left is kept until more comes."""
        ...

    def heard(self, data: bytes) -> None:
        """The server's bytes, as they come."""
        ...

    def commits(self, request: bytes) -> bool: ...

    def refusable(self, request: bytes) -> bool:
        """Whether it is a statement that takes locks or sees rows: one that a database may choose to roll back."""
        ...

    def refusal(self, request: bytes, code: str) -> bytes:
        """The server's answer to it, had it failed so."""
        ...


class PostgresWire:
    def __init__(self) -> None:
        self._held = b""
        self._greeted = False
        self._state = b"I"  # what the server said last: idle, in a transaction, in one that failed

    def requests(self, data: bytes) -> list[bytes]:
        self._held += data
        found = []
        while end := self._end():
            found.append(self._held[:end])
            self._held = self._held[end:]
        return found

    def heard(self, data: bytes) -> None:
        if data[-6:-1] == READY:
            self._state = data[-1:]

    def commits(self, request: bytes) -> bool:
        return request[:1] == b"Q" and request.rstrip(b"\0").endswith(b"COMMIT")

    def refusable(self, request: bytes) -> bool:
        return request[:1] in (b"P", b"B") or self.commits(request)

    def refusal(self, request: bytes, code: str) -> bytes:
        fields = b"".join(
            kind + text.encode() + b"\0"
            for kind, text in ((b"S", "ERROR"), (b"V", "ERROR"), (b"C", code), (b"M", "refused by the test"))
        )
        error = b"E" + struct.pack("!i", len(fields) + 5) + fields + b"\0"
        if request.endswith(FLUSH):  # the client asks for the end of its request itself, and the server will tell it
            return error
        return error + READY + (b"E" if self._state == b"T" else b"I")

    def _end(self) -> int:
        """Of the first request that is whole; 0 while there is none."""
        at = 0
        while len(self._held) >= at + 4 + self._greeted:
            kind = self._held[at : at + 1]
            start = at + self._greeted
            at = start + int.from_bytes(self._held[start : start + 4])
            if len(self._held) < at:
                return 0
            if not self._greeted:
                self._greeted = int.from_bytes(self._held[start + 4 : start + 8]) == STARTUP
                return at
            if kind in ENDS:
                return at
        return 0


class MysqlWire:
    def __init__(self) -> None:
        self._held = b""

    def requests(self, data: bytes) -> list[bytes]:
        self._held += data
        found = []
        while len(self._held) >= 4 and len(self._held) >= (end := 4 + int.from_bytes(self._held[:3], "little")):
            found.append(self._held[:end])
            self._held = self._held[end:]
        return found

    def heard(self, data: bytes) -> None:
        """Nothing that we need."""

    def commits(self, request: bytes) -> bool:
        return _asked(request) == b"COMMIT"

    def refusable(self, request: bytes) -> bool:
        asked = _asked(request)
        return asked.startswith(READS_AND_WRITES) and not asked.startswith(GREETING)

    def refusal(self, request: bytes, code: str) -> bytes:
        number, _, state = code.partition("/")
        said = b"\xff" + struct.pack("<H", int(number)) + b"#" + state.encode() + b"refused by the test"
        return struct.pack("<I", len(said))[:3] + bytes([request[3] + 1]) + said


class HttpWire:
    """Only of calls that ask for something to be done; a request may come in pieces, its head is the first."""

    def requests(self, data: bytes) -> list[bytes]:
        return [data]

    def heard(self, data: bytes) -> None:
        """Nothing that we need."""

    def commits(self, request: bytes) -> bool:
        return request.startswith(b"POST ")

    def refusable(self, request: bytes) -> bool:
        return False

    def refusal(self, request: bytes, code: str) -> bytes:
        raise AssertionError("HTTP calls are not refused on their way")


WIRES: Final[Mapping[str, Callable[[], Wire]]] = {"postgresql": PostgresWire, "mysql": MysqlWire, "http": HttpWire}


def wire_of(url: str) -> Callable[[], Wire]:
    """How to begin with a new connection to what the URL names."""
    return WIRES[urlsplit(url).scheme]


def _asked(request: bytes) -> bytes:
    """The text of a query, where the packet is one."""
    is_query = request[3] == 0 and request[4:5] == bytes([QUERY])
    return request[5:].lstrip() if is_query else b""
