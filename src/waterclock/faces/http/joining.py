"""A transport on which the head of an answer waits for its body: both leave in one packet, with one system call."""

import asyncio
from typing import Any, Final

HEAD: Final = b"HTTP/"


class Joining:
    """Stands before a transport. A head whose body does not come in the same turn of the loop goes alone."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head: bytes | None = None
        self.is_closing = transport.is_closing  # asked for at every request

    def write(self, data: bytes) -> None:
        if self._head is not None:
            head, self._head = self._head, None
            self._transport.write(head + data)
        elif data.startswith(HEAD):
            self._head = data
            self._loop.call_soon(self._let_go)
        else:
            self._transport.write(data)

    def write_whole(self, answer: bytes) -> None:
        """Head and body: there is nothing to wait for."""
        self._let_go()
        self._transport.write(answer)

    def write_eof(self) -> None:
        self._let_go()
        self._transport.write_eof()

    def close(self) -> None:
        self._let_go()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _let_go(self) -> None:
        if self._head is not None:
            head, self._head = self._head, None
            self._transport.write(head)
