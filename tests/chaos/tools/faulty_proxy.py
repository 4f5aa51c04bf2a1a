"""A proxy between a client and its server, in a thread of its own: by chance it breaks, refuses or forgets to answer.

What it decides comes from a seed, in the order in which requests arrive.
"""

import asyncio
import contextlib
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.chaos.tools.wires import Wire, wire_of
from tests.services.server import free_port

PIECE = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """Of each connection, commit or statement, from 0 to 1."""

    connect: float = 0  # refused
    before_commit: float = 0  # cut, and the server never hears of the commit
    after_commit: float = 0  # cut once the server has answered, and the client never hears of it
    refuse: float = 0  # the statement is answered with one of `codes`, and never reaches the server
    codes: tuple[str, ...] = ()


NO_FAULTS = Chances()


class FaultyProxy:
    """`url` leads through it to the server; `chances` may be changed at any time, `done` counts what it did."""

    def __init__(self, url: str, seed: int) -> None:
        parts = urlsplit(url)
        assert parts.port is not None
        self.port = free_port()
        self.url = url.replace(f":{parts.port}", f":{self.port}", 1)
        self.chances = NO_FAULTS
        self.done: Counter[str] = Counter()
        self._to = parts.port
        self._wire = wire_of(url)
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._pairs: set[_Pair] = set()

    def hold(self) -> None:
        """From now on it accepts, and nothing passes, as on a network that has gone: TCP keeps what is on its way."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def let_go(self) -> None:
        self._loop.call_soon_threadsafe(self._flowing.set)

    def cut(self) -> None:
        """Every connection, as a dying server would."""
        self._loop.call_soon_threadsafe(self._cut_all)

    def strikes(self, what: str, chance: float) -> bool:
        if not chance:
            return False
        is_hit = self._random.random() < chance
        self.done[what] += is_hit
        return is_hit

    def code(self) -> str:
        return self._random.choice(self.chances.codes)

    async def flow(self) -> None:
        await self._flowing.wait()

    # Its thread

    def serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._take, "127.0.0.1", self.port))
        ready.set()
        self._loop.run_forever()
        server.close()
        self._cut_all()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _cut_all(self) -> None:
        for pair in tuple(self._pairs):
            pair.cut()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.strikes("connections refused", self.chances.connect):
            writer.transport.abort()
            return
        pair = _Pair(self, self._wire(), writer)
        self._pairs.add(pair)
        try:
            await pair.serve(reader, self._to)
        finally:
            self._pairs.discard(pair)


class _Pair:
    """One connection, and ours to the server."""

    def __init__(self, proxy: FaultyProxy, wire: Wire, client: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._wire = wire
        self._client = client
        self._server: asyncio.StreamWriter | None = None
        self._deaf = False  # the server's next answer is not for the client

    async def serve(self, reader: asyncio.StreamReader, port: int) -> None:
        with contextlib.suppress(OSError, asyncio.CancelledError):
            answers, self._server = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(self._up(reader, self._server), self._down(answers))
        self.cut()

    def cut(self) -> None:
        for writer in (self._client, self._server):
            if writer is not None:
                writer.transport.abort()

    async def _up(self, reader: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
        while data := await reader.read(PIECE):
            await self._proxy.flow()
            for request in self._wire.requests(data):
                self._pass(request, server)
        server.close()

    def _pass(self, request: bytes, server: asyncio.StreamWriter) -> None:
        chances, strikes = self._proxy.chances, self._proxy.strikes
        if self._wire.refusable(request) and strikes("statements refused", chances.refuse):
            self._client.write(self._wire.refusal(request, self._proxy.code()))
            return
        if self._wire.commits(request):
            if strikes("cut before a commit", chances.before_commit):
                self.cut()
                return
            self._deaf = strikes("cut after a commit", chances.after_commit)
        server.write(request)

    async def _down(self, answers: asyncio.StreamReader) -> None:
        while data := await answers.read(PIECE):
            await self._proxy.flow()
            self._wire.heard(data)
            if self._deaf:
                self.cut()
                return
            self._client.write(data)
        self._client.close()


@contextmanager
def faulty_proxy(url: str, *, seed: int) -> Iterator[FaultyProxy]:
    proxy, ready = FaultyProxy(url, seed), threading.Event()
    thread = threading.Thread(target=proxy.serve, args=(ready,), name="faulty-proxy", daemon=True)
    thread.start()
    ready.wait()
    try:
        yield proxy
    finally:
        proxy.end()
        thread.join(10)
