"""The parent of `waterclock up`: keeps a process for each role alive, and tells when all of them serve."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Final

from waterclock.faces.http.listening import INHERITED_FD, bind
from waterclock.settings import Settings

log: Final = logging.getLogger("waterclock")

READY_FD: Final = "WATERCLOCK_READY_FD"  # where a child says that it serves
LIFELINE_FD: Final = "WATERCLOCK_LIFELINE_FD"  # closed when the parent is gone
ROLES: Final = ("api", "engine")
AGAIN_SECONDS: Final = 0.2  # after the death of a child that has served
LONGEST_PAUSE_SECONDS: Final = 5.0  # between tries to start one that dies before it serves
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)


class Child:
    """One role in a process of its own, started again when it dies."""

    def __init__(
        self, role: str, settings: Settings, ready: Callable[[str, str], None], inherits: Mapping[str, int]
    ) -> None:
        self.role = role
        self._settings = settings
        self._inherits = inherits  # open files, by the name that tells the child their number
        self._ready = ready
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
            env={**os.environ, **self._settings.to_environ(), **{name: str(fd) for name, fd in fds.items()}},
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

    async def _hear(self, fd: int) -> None:
        with os.fdopen(fd, "rb", buffering=0) as file:
            line = await _read_line(file)
        if line:
            self._served = True
            self._ready(self.role, line)


async def keep_all(settings: Settings) -> int:
    """Until a signal says stop; a second one says at once."""
    said: dict[str, str] = {}

    def ready(role: str, line: str) -> None:
        told = len(said) == len(ROLES)
        said[role] = line
        if not told and len(said) == len(ROLES):
            print(f"ready {said['api']}", flush=True)

    with bind(settings.host, settings.port) as listening:
        inherits = {"api": {INHERITED_FD: listening.fileno()}}
        await _keep([Child(role, settings, ready, inherits.get(role, {})) for role in ROLES])
    return 0


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
