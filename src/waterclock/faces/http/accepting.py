"""Connections of a socket that several processes listen on: whoever has the fewest takes the next.

All of them hear of a new connection. One that has more than another leaves it to that one for a moment, and takes it
if it is still there: a process that is paused or just starting holds up nobody.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable
from typing import Final

from waterclock.faces.http.siblings import Siblings

DEFER_SECONDS: Final = 0.003
NO_ROOM_SECONDS: Final = 0.2  # where no more files may be opened

log: Final = logging.getLogger("waterclock")


class Accepting:
    def __init__(
        self,
        listening: socket.socket,
        new_protocol: Callable[[], asyncio.Protocol],
        siblings: Siblings,
        connected: Callable[[], int],
    ) -> None:
        """`connected`: how many connections there are now."""
        self._listening = listening
        self._new_protocol = new_protocol
        self._siblings = siblings
        self._connected = connected
        self._coming: set[asyncio.Task[object]] = set()
        self._loop = asyncio.get_running_loop()
        self._later: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._listening.setblocking(False)
        self._loop.add_reader(self._listening, self._heard)

    def stop(self) -> None:
        self._loop.remove_reader(self._listening)
        if self._later:
            self._later.cancel()

    def tell(self) -> None:
        """The others how many we have."""
        self._siblings.connections = self._connected() + len(self._coming)

    def _heard(self) -> None:
        self.tell()
        if self._siblings.is_busiest:
            self._rest(DEFER_SECONDS)
        else:
            self._accept()

    def _rest(self, seconds: float) -> None:
        """The socket stays readable as long as nobody has taken the connection."""
        self._loop.remove_reader(self._listening)
        self._later = self._loop.call_later(seconds, self._after)

    def _after(self) -> None:
        self._later = None
        self._accept()
        if self._later is None:
            self._loop.add_reader(self._listening, self._heard)

    def _accept(self) -> None:
        """One: the next is perhaps for somebody else."""
        try:
            accepted, _ = self._listening.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # somebody else was faster, or the caller has gone
        except OSError as problem:
            log.error("cannot accept a connection: %s", problem)
            self._rest(NO_ROOM_SECONDS)
            return
        accepted.setblocking(False)
        coming = self._loop.create_task(self._connect(accepted))
        self._coming.add(coming)
        coming.add_done_callback(self._coming.discard)
        self.tell()

    async def _connect(self, accepted: socket.socket) -> None:
        with contextlib.suppress(OSError):  # it was reset meanwhile
            await self._loop.connect_accepted_socket(self._new_protocol, accepted)
