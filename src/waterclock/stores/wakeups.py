"""Wake-ups on one host: a datagram to every process that listens. Lost ones cost a poll, never a run."""

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import Callable, Iterable
from pathlib import Path

from waterclock.stores.base import Topic


class Listeners:
    """Who in this process wants to hear of which topic."""

    def __init__(self) -> None:
        self._heard: dict[Topic, list[Callable[[], None]]] = {topic: [] for topic in Topic}

    def add(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]:
        self._heard[topic].append(heard)

        def remove() -> None:
            with contextlib.suppress(ValueError):
                self._heard[topic].remove(heard)

        return remove

    def tell(self, topics: Iterable[Topic]) -> None:
        for topic in topics:
            for heard in tuple(self._heard[topic]):
                heard()


class LocalWakeups:
    """A unix socket per process in one folder; to wake is to send to all of them. No folder: this process only."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._listeners = Listeners()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._socket: socket.socket | None = None
        self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._mine = f"{os.getpid()}-{secrets.token_hex(4)}.sock"
        self._directory: int | None = None

    def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        if self._folder is None:
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(self._address(self._mine))
        self._loop.add_reader(self._socket, self._receive)

    def close(self) -> None:
        if self._socket and self._loop and self._folder:
            self._loop.remove_reader(self._socket)
            self._socket.close()
            self._socket = None
            (self._folder / self._mine).unlink(missing_ok=True)
        if self._directory is not None:
            os.close(self._directory)
            self._directory = None
        self._sender.close()

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]:
        return self._listeners.add(topic, heard)

    def send(self, topics: set[Topic]) -> None:
        """Called from the writer's thread, after the commit."""
        if not topics or self._loop is None:
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody here listens any more
            self._loop.call_soon_threadsafe(self._listeners.tell, topics)
        if self._directory is not None:
            message = ",".join(topics).encode()
            for name in os.listdir(self._directory):
                if name != self._mine:
                    self._send_to(name, message)

    def _send_to(self, name: str, message: bytes) -> None:
        try:
            self._sender.sendto(message, self._address(name))
        except ConnectionRefusedError:  # its process is gone
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=self._directory)
        except OSError:
            pass  # a full queue means that it is about to look anyway

    def _address(self, name: str) -> str:
        """Through the open folder: a unix address holds 107 bytes, a data directory's path may be longer."""
        return f"/proc/self/fd/{self._directory}/{name}"

    def _receive(self) -> None:
        topics: set[Topic] = set()
        with contextlib.suppress(BlockingIOError):
            while self._socket:
                topics.update(Topic(word) for word in self._socket.recv(256).decode().split(",") if word in set(Topic))
        self._listeners.tell(topics)
