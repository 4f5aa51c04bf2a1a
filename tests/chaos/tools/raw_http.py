"""HTTP as bytes: a request is what it is told to be, and the answer is read by hand."""

import socket
import time
from dataclasses import dataclass
from typing import Final

PATIENCE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`status` 0: the connection was closed without one."""

    status: int
    body: bytes
    seconds: float


class Wire:
    """One connection to a port of this host, opened anew whenever the server has closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def ask(self, sent: bytes) -> Answer:
        began = time.monotonic()
        status, body = self._exchange(sent)
        return Answer(status=status, body=body, seconds=time.monotonic() - began)

    def close(self) -> None:
        if self._socket:
            self._socket.close()
            self._socket = None

    def _exchange(self, sent: bytes) -> tuple[int, bytes]:
        for _ in range(2):  # a kept connection may be gone by now
            fresh = self._socket is None
            if self._socket is None:
                self._socket = socket.create_connection(("127.0.0.1", self._port), PATIENCE_SECONDS)
            try:
                self._socket.sendall(sent)
                return self._read(self._socket)
            except ConnectionError:
                self.close()
                if fresh:
                    return 0, b""
        return 0, b""

    def _read(self, connection: socket.socket) -> tuple[int, bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            data += _some(connection)
        head, _, body = data.partition(b"\r\n\r\n")
        fields = {
            name.strip().lower(): value.strip() for name, _, value in (_parts(line) for line in head.split(b"\r\n"))
        }
        while len(body) < int(fields.get(b"content-length", b"0")):
            body += _some(connection)
        if fields.get(b"connection", b"").lower() == b"close":
            self.close()
        return int(head.split()[1]), body


def request(method: str, target: bytes, headers: list[tuple[bytes, bytes]], body: bytes = b"") -> bytes:
    """With its length, unless a header says another."""
    lines = [method.encode() + b" " + target + b" HTTP/1.1"]
    lines += [name + b": " + value for name, value in headers]
    if not any(name.lower() == b"content-length" for name, _ in headers):
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join((*lines, b"", b"")) + body


def _parts(line: bytes) -> tuple[bytes, bytes, bytes]:
    return line.partition(b":")


def _some(connection: socket.socket) -> bytes:
    data = connection.recv(65_536)
    if not data:
        raise ConnectionResetError("closed")
    return data
