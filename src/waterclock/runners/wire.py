"""How the processes of the runner talk: JSON messages, each behind its length.

Standard json, not a faster one: file names that are not UTF-8 reach us as lone surrogates, and it carries them.
"""

import contextlib
import json
import os
import struct
from collections.abc import Iterator
from typing import Any, Final

Message = dict[str, Any]

PROTOCOL: Final = 1
MAX_MESSAGE_BYTES: Final = 256 * 1024 * 1024
_LENGTH: Final = struct.Struct(">I")
_READ_BYTES: Final = 64 * 1024


_to_json: Final = json.JSONEncoder(separators=(",", ":")).encode


class BrokenWire(Exception):
    """The other side sent what is no message; the connection is of no further use."""


def encode(message: Message) -> bytes:
    body = _to_json(message).encode("ascii")
    return _LENGTH.pack(len(body)) + body


class Decoder:
    """Bytes in as they come, whole messages out."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def messages(self) -> Iterator[Message]:
        """All that are whole; what is not taken from here stays for the next call."""
        while (message := self.next()) is not None:
            yield message

    def next(self) -> Message | None:
        if len(self._buffer) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._buffer)
        if length > MAX_MESSAGE_BYTES:
            raise BrokenWire(f"a message of {length} bytes")
        end = _LENGTH.size + length
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[_LENGTH.size : end])
        del self._buffer[:end]
        return _parse(body)


class Line:
    """A blocking connection by its bare number: in a fork that closes all numbers, no object can close one again."""

    __slots__ = ("_decoder", "fd")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._decoder = Decoder()

    def read(self) -> bool:
        """Take what is at hand, waiting for something; False when the other side has gone."""
        try:
            data = os.read(self.fd, _READ_BYTES)
        except ConnectionError:
            return False
        self._decoder.feed(data)
        return bool(data)

    def next(self) -> Message | None:
        """The next whole message of what was read."""
        return self._decoder.next()

    def send(self, *messages: Message) -> None:
        """All of them; that nobody is there any more is seen at the next read."""
        data = memoryview(b"".join([encode(message) for message in messages]))
        with contextlib.suppress(ConnectionError):
            while data:
                data = data[os.write(self.fd, data) :]


def _parse(body: bytes) -> Message:
    try:
        message = json.loads(body)
    except ValueError as error:
        raise BrokenWire(f"not JSON: {error}") from None
    if not isinstance(message, dict):
        raise BrokenWire("not an object")
    return message
