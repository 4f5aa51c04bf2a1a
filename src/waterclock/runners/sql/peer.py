"""One connection of the host's, to a caller or an executor: messages both ways, and never a wait for either."""

import socket
from collections.abc import Iterator
from typing import Final

from waterclock.runners import wire

_READ_BYTES: Final = 256 * 1024
FULL_BYTES: Final = 1024 * 1024  # waiting for one that does not read: it is told no more of how far it is


class Peer:
    """The other side may stop, hang or die: what it has not read waits here."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._decoder = wire.Decoder()
        self._unsent = bytearray()
        self.is_gone = False

    def fileno(self) -> int:
        return self._connection.fileno()

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    @property
    def is_full(self) -> bool:
        return len(self._unsent) > FULL_BYTES

    def heard(self) -> Iterator[wire.Message]:
        """What it has sent; `is_gone` once it has hung up, or sent what is no message."""
        try:
            data = self._connection.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.is_gone = not data
        self._decoder.feed(data)
        try:
            yield from self._decoder.messages()
        except wire.BrokenWire:
            self.is_gone = True

    def send(self, message: wire.Message) -> None:
        self._unsent += wire.encode(message)
        self.flush()

    def flush(self) -> None:
        """As much as it takes; that it has gone is seen at the next read."""
        try:
            while self._unsent:
                del self._unsent[: self._connection.send(self._unsent)]
        except BlockingIOError:
            return
        except OSError:
            self._unsent.clear()

    def close(self) -> None:
        self._connection.close()
