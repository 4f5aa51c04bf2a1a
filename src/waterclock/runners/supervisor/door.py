"""The supervisor's socket: workers knock, are heard as long as they show signs of life, and get every event."""

import asyncio
import logging
import os
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from waterclock import clock
from waterclock.runners import codec, wire
from waterclock.runners.base import Event
from waterclock.runners.supervisor.attempts import Attempts
from waterclock.runners.supervisor.supervisor import Supervisor
from waterclock.runners.worker_line import SOCKET_NAME

_LOG = logging.getLogger(__name__)
_UCRED: Final = struct.Struct("3i")


class Door:
    """All workers that are connected."""

    def __init__(self, attempts: Attempts, ttl_seconds: float) -> None:
        self._attempts = attempts
        self._ttl_seconds = ttl_seconds
        self._guests: set[Guest] = set()
        self._server: asyncio.Server | None = None
        self.supervisor: Supervisor | None = None
        self.left_at = clock.monotonic()

    async def open(self, state_dir: Path) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(lambda: Guest(self), sock=_listen(state_dir))

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for guest in list(self._guests):
            guest.close()

    @property
    def has_guests(self) -> bool:
        return bool(self._guests)

    def has_live_guest(self) -> bool:
        """A worker that was heard of lately: one that is stopped or hangs must not hold its runs for ever."""
        since = clock.monotonic() - self._ttl_seconds / 2
        return any(guest.heard_at >= since for guest in self._guests)

    def tell(self, events: Sequence[Event]) -> None:
        message = wire.encode({"events": [codec.event_to_plain(event) for event in events]})
        for guest in self._guests:
            guest.write(message)

    def welcome(self, guest: "Guest") -> wire.Message:
        """From here on it hears everything; what it missed it gets at once."""
        self._guests.add(guest)
        ended = [codec.event_to_plain(event) for event in self._attempts.ended()]
        return {"ttl_seconds": self._ttl_seconds, "pid": os.getpid(), "held": self.held(), "ended": ended}

    def held(self) -> list[codec.Plain]:
        return [codec.event_to_plain(attempt.presence()) for attempt in self._attempts]

    def leave(self, guest: "Guest") -> None:
        self._guests.discard(guest)
        self.left_at = clock.monotonic()


class Guest(asyncio.Protocol):
    """One worker's connection: questions in, one answer each."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._decoder = wire.Decoder()
        self._transport: asyncio.Transport | None = None
        self.heard_at = clock.monotonic()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if not _is_one_of_us(transport):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._door.leave(self)

    def data_received(self, data: bytes) -> None:
        self.heard_at = clock.monotonic()
        try:
            self._decoder.feed(data)
            for message in self._decoder.messages():
                self._answer(message)
        except (wire.BrokenWire, KeyError, TypeError, ValueError) as error:
            _LOG.warning("a worker sent what cannot be understood: %r", error)
            self.close()

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _answer(self, message: wire.Message) -> None:
        supervisor = self._door.supervisor
        assert supervisor is not None
        answer: wire.Message = {"id": message["id"]}
        match message["op"]:
            case "hello":
                answer |= self._door.welcome(self)
                answer["protocol"] = wire.PROTOCOL
            case "start":
                orders = [codec.order_from_plain(plain) for plain in message["orders"]]
                supervisor.start(orders, lambda: self.write(wire.encode(answer)))
                return
            case "stop":
                supervisor.stop(message["attempt_ids"])
            case "forget":
                supervisor.forget(message["attempt_ids"], lambda: self.write(wire.encode(answer)))
                return
            case "held":
                answer["held"] = self._door.held()
            case "ping":
                pass
            case other:
                raise ValueError(f"unknown request {other!r}")
        self.write(wire.encode(answer))


def _is_one_of_us(transport: asyncio.Transport) -> bool:
    """The same system user, or root: the socket's mode says so already, the kernel says it again."""
    connection = transport.get_extra_info("socket")
    _, uid, _ = _UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    return uid in (0, os.geteuid())


def _listen(state_dir: Path) -> socket.socket:
    """Bound through an open folder, because an address holds no more than 107 bytes of path."""
    folder = os.open(state_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        (state_dir / SOCKET_NAME).unlink(missing_ok=True)
        server = socket.socket(socket.AF_UNIX)
        old_mask = os.umask(0o177)
        server.bind(f"/proc/self/fd/{folder}/{SOCKET_NAME}")
        os.umask(old_mask)
    finally:
        os.close(folder)
    server.listen(64)
    return server
