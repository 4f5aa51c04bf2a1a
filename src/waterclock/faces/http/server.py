"""The server that runs the app: uvicorn on a socket of ours, until it is told to stop."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from waterclock.faces.http.accepting import Accepting
from waterclock.faces.http.connection import Connection
from waterclock.faces.http.listening import bind
from waterclock.faces.http.siblings import Siblings

KEEP_ALIVE_SECONDS: Final = 60
GRACE_SECONDS: Final = 10


async def serve(
    app: ASGIApp,
    *,
    host: str = "127.0.0.1",
    port: int = 8470,
    sock: socket.socket | None = None,
    ready: Callable[[int], None] | None = None,
    stop: asyncio.Event | None = None,
    grace_seconds: int = GRACE_SECONDS,
    siblings: Siblings | None = None,
) -> None:
    """Serves until `stop` is set, then finishes what is being answered. `ready` is told the real port, once it serves.

    With `siblings` that listen on the same socket it takes its share of the connections.

    Signals are the caller's. Run it in uvloop: `uvloop.run(serve(app))`.
    """
    listening = sock or bind(host, port)
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",  # our own app logs what went wrong, once
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=grace_seconds,
    )
    server = _Server(config, ready) if siblings is None or siblings.is_alone else _Sharing(config, ready, siblings)
    stopper = asyncio.create_task(_stop_when(stop, server)) if stop else None
    try:
        await server.serve(sockets=[listening])
    finally:
        if stopper:
            stopper.cancel()
        listening.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[int], None] | None) -> None:
        super().__init__(config)
        self._ready = ready

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._ready and sockets:
            self._ready(sockets[0].getsockname()[1])


class _Sharing(_Server):
    """One of several on one socket."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[int], None] | None, siblings: Siblings) -> None:
        super().__init__(config, None)
        self._siblings = siblings
        self._told = ready
        self._accepting: Accepting | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])  # the accepting is ours
        assert sockets
        (listening,) = sockets
        connections = self.server_state.connections
        self._accepting = Accepting(listening, self._new_protocol, self._siblings, lambda: len(connections))
        self._accepting.start()
        if self._told:
            self._told(listening.getsockname()[1])

    async def on_tick(self, counter: int) -> bool:
        if self._accepting:
            self._accepting.tell()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._accepting:
            self._accepting.stop()
        await super().shutdown(sockets)

    def _new_protocol(self) -> asyncio.Protocol:
        return Connection(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)


async def _stop_when(stop: asyncio.Event, server: _Server) -> None:
    await stop.wait()
    server.should_exit = True
