"""One connection from a worker to its supervisor: messages both ways, a greeting first."""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

from waterclock.domain.errors import Unavailable
from waterclock.runners import wire

SOCKET_NAME: Final = "supervisor.sock"
CONNECT_SECONDS: Final = 15.0


class WorkerLine(asyncio.Protocol):
    """Lives as long as the connection; says once that it is lost."""

    def __init__(self, heard: Callable[[wire.Message], None], lost: Callable[["WorkerLine"], None]) -> None:
        self._heard, self._lost = heard, lost
        self._decoder = wire.Decoder()
        self._transport: asyncio.Transport | None = None
        self._greeting: asyncio.Future[wire.Message] = asyncio.get_running_loop().create_future()
        self._greeting_id = 0

    async def greet(self, number: int) -> wire.Message:
        self._greeting_id = number
        self.send({"op": "hello", "id": number})
        async with asyncio.timeout(CONNECT_SECONDS):
            greeting = await self._greeting
        if greeting["protocol"] != wire.PROTOCOL:
            self.close()
            raise Unavailable(f"the supervisor speaks protocol {greeting['protocol']}, not {wire.PROTOCOL}")
        return greeting

    def send(self, message: wire.Message) -> None:
        if self._transport is not None:
            self._transport.write(wire.encode(message))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._decoder.feed(data)
        for message in self._decoder.messages():
            if message.get("id") == self._greeting_id and not self._greeting.done():
                self._greeting.set_result(message)
            else:
                self._heard(message)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if not self._greeting.done():
            self._greeting.set_exception(ConnectionResetError("the supervisor hung up"))
        self._lost(self)


def connect(state_dir: Path) -> socket.socket:
    """Through an open folder, because an address holds no more than 107 bytes of path."""
    folder = os.open(state_dir, os.O_RDONLY | os.O_DIRECTORY)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(f"/proc/self/fd/{folder}/{SOCKET_NAME}")
    except OSError:
        connection.close()
        raise
    finally:
        os.close(folder)
    connection.setblocking(False)
    return connection
