"""A userspace proxy in front of a database: it can go silent (half-open), cut connections, and lose one answer."""

import asyncio
import contextlib
from collections.abc import Callable

from tests.services.server import free_port


class Proxy:
    """`silent` swallows bytes in both directions; `losing` drops the server's answers to what holds those bytes."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.port = free_port()
        self.silent = False
        self.refusing = False
        self.losing: Callable[[bytes], bool] | None = None
        self.lost = asyncio.Event()
        self._pairs: set[_Pair] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def close(self) -> None:
        self.cut()
        if self._server:
            self._server.close()

    def cut(self) -> None:
        """Every connection, as a dying server would."""
        for pair in tuple(self._pairs):
            pair.cut()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusing:
            writer.transport.abort()
            return
        pair = _Pair(self, writer)
        self._pairs.add(pair)
        try:
            await pair.serve(reader, self._to)
        finally:
            self._pairs.discard(pair)


class _Pair:
    def __init__(self, proxy: Proxy, client: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._client = client
        self._server: asyncio.StreamWriter | None = None
        self._deaf = False

    async def serve(self, reader: asyncio.StreamReader, port: int) -> None:
        answers, self._server = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await asyncio.gather(self._up(reader, self._server), self._down(answers))
        self.cut()

    def cut(self) -> None:
        for writer in (self._client, self._server):
            if writer is not None:
                writer.transport.abort()

    async def _up(self, reader: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            if self._proxy.losing is not None and self._proxy.losing(data):
                self._deaf = True
            if not self._proxy.silent:
                server.write(data)
        server.close()

    async def _down(self, answers: asyncio.StreamReader) -> None:
        while data := await answers.read(65_536):
            if self._deaf:  # the server has answered, so it is done: the client shall never know
                self._proxy.lost.set()
                self.cut()
                return
            if not self._proxy.silent:
                self._client.write(data)
        self._client.close()
