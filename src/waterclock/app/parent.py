"""The parent of `waterclock up`, and of several API processes: keeps them alive, and tells when all of them serve."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Final

from waterclock.faces.http.listening import INHERITED_FD, address_of, bind
from waterclock.faces.http.siblings import NUMBER, PAGE_FD, mark_gone, new_page
from waterclock.settings import Settings

log: Final = logging.getLogger("waterclock")

READY_FD: Final = "WATERCLOCK_READY_FD"  # where a child says that it serves
LIFELINE_FD: Final = "WATERCLOCK_LIFELINE_FD"  # closed when the parent is gone
API: Final = "api"
AGAIN_SECONDS: Final = 0.2  # after the death of a child that has served
LONGEST_PAUSE_SECONDS: Final = 5.0  # between tries to start one that dies before it serves
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)


class Child:
    """One process of a role, started again when it dies."""

    def __init__(
        self,
        role: str,
        settings: Settings,
        ready: Callable[["Child", str], None],
        *,
        inherits: Mapping[str, int] | None = None,
        told: Mapping[str, str] | None = None,
        gone: Callable[[], None] = lambda: None,
    ) -> None:
        self.role = role
        self._settings = settings
        self._inherits = inherits or {}  # open files, by the name that tells the child their number
        self._told = told or {}  # what else is in its environment
        self._ready = ready
        self._gone = gone
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()
        self._served = False

    async def keep(self) -> None:
        pause = 0.0
        while not self._stopping.is_set():
            self._served = False
            code = await self._run()
            if self._stopping.is_set():
                return
            pause = AGAIN_SECONDS if self._served else min(max(AGAIN_SECONDS, pause * 2), LONGEST_PAUSE_SECONDS)
            log.error("the %s process ended with %s; again in %.1f s", self.role, code, pause)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()

    def stop(self, number: int) -> None:
        self._stopping.set()
        if self._process and self._process.returncode is None:
            self._process.send_signal(number)

    async def _run(self) -> int:
        ready_read, ready_write = os.pipe()
        life_read, life_write = os.pipe()
        fds = {READY_FD: ready_write, LIFELINE_FD: life_read, **self._inherits}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "waterclock.app.launch",
            self.role,
            env={
                **os.environ,
                **self._settings.to_environ(),
                **{name: str(fd) for name, fd in fds.items()},
                **self._told,
            },
            pass_fds=tuple(fds.values()),
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C is for the parent, who then tells us
        )
        os.close(ready_write)
        os.close(life_read)
        hearing = asyncio.create_task(self._hear(ready_read))
        try:
            return await self._process.wait()
        finally:
            hearing.cancel()
            os.close(life_write)
            self._gone()

    async def _hear(self, fd: int) -> None:
        with os.fdopen(fd, "rb", buffering=0) as file:
            line = await _read_line(file)
        if line:
            self._served = True
            self._ready(self, line)


async def keep_all(settings: Settings, roles: Sequence[str], say_ready: Callable[[str], None]) -> int:
    """Until a signal says stop; a second one says at once. `say_ready` is told the address once all of them serve."""
    serving: set[Child] = set()

    def ready(child: Child, line: str) -> None:
        told = len(serving) == len(children)
        serving.add(child)
        if not told and len(serving) == len(children):
            say_ready(address)

    with bind(settings.host, settings.port) as listening, _shared(settings.api_processes) as page:
        address = address_of(listening, settings.host)
        children = [Child(role, settings, ready) for role in roles if role != API]
        children += [_api(settings, ready, listening, page, number) for number in range(settings.api_processes)]
        await _keep(children)
    return 0


def _api(
    settings: Settings, ready: Callable[[Child, str], None], listening: socket.socket, page: int, number: int
) -> Child:
    return Child(
        API,
        settings,
        ready,
        inherits={INHERITED_FD: listening.fileno(), PAGE_FD: page},
        told={NUMBER: str(number)},
        gone=lambda: mark_gone(page, number),
    )


@contextlib.contextmanager
def _shared(count: int) -> Iterator[int]:
    page = new_page(count)
    for number in range(count):
        mark_gone(page, number)
    try:
        yield page
    finally:
        os.close(page)


async def _keep(children: Sequence[Child]) -> None:
    asked: list[int] = []

    def stop(number: int) -> None:
        asked.append(number)
        for child in children:
            child.stop(signal.SIGTERM if len(asked) == 1 else signal.SIGKILL)

    for number in SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, stop, number)
    await asyncio.gather(*(child.keep() for child in children))


async def _read_line(file: IO[bytes]) -> str:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    try:
        return (await reader.readline()).decode().strip()
    finally:
        transport.close()
