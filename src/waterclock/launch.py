"""Processes: `up` is a small parent that keeps an API process and an engine process alive; each can run alone.

The process that answers HTTP never waits on programs: those belong to the engine's supervisor, which outlives both.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from typing import IO, Any, Final

from waterclock import clock
from waterclock.compose import SCHEDULER, WORKER, EngineProcess, Folders, build_services
from waterclock.domain.errors import NotAllowed, Unavailable
from waterclock.firststart import first_start
from waterclock.settings import Settings, load
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url

log: Final = logging.getLogger("waterclock")

READY_FD: Final = "WATERCLOCK_READY_FD"  # where a child says that it serves
LIFELINE_FD: Final = "WATERCLOCK_LIFELINE_FD"  # closed when the parent is gone
ROLES: Final = ("api", "engine")
QUIET_SECONDS: Final = 10.0  # a child that lived this long may be restarted at once


def up(settings: Settings) -> int:
    """API, scheduler and worker in one process tree; `ready URL` on stdout once it serves."""
    asyncio.run(_prepare(settings))
    return asyncio.run(_parent(settings))


def api(settings: Settings) -> int:
    import uvloop  # for HTTP alone: it spawns processes more slowly than asyncio does

    return uvloop.run(_with_database(settings, _serve))


def scheduler(settings: Settings) -> int:
    return asyncio.run(_with_database(settings, _engine(frozenset({SCHEDULER}))))


def worker(settings: Settings) -> int:
    return asyncio.run(_with_database(settings, _engine(frozenset({WORKER}))))


def engine(settings: Settings) -> int:
    """Scheduler and worker in one process: what is due is pushed from one to the other without a detour."""
    return asyncio.run(_with_database(settings, _engine(frozenset({SCHEDULER, WORKER}))))


def migrate(settings: Settings) -> Sequence[str]:
    return asyncio.run(_migrate(settings))


def supervisor(settings: Settings) -> int:
    """Holds the programs of this host; detaches itself, so that it outlives whoever started it."""
    from waterclock.runners.supervisor.daemon import daemonise, run_supervisor
    from waterclock.supervision import StoreLeases

    folder = Folders(root=settings.data_dir.absolute()).supervisor
    daemonise(folder / "supervisor.log")
    run_supervisor(folder, StoreLeases(settings.database_url), ttl_seconds=settings.lease_seconds)
    return 0


# The parent


class _Child:
    """One role in a process of its own, started again when it dies."""

    def __init__(self, role: str, settings: Settings, *, ready: Callable[[str], None]) -> None:
        self.role = role
        self._settings = settings
        self._ready = ready
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False

    async def keep(self) -> None:
        pause = 0.0
        while not self._stopping:
            began = clock.monotonic()
            code = await self._run()
            if self._stopping:
                return
            pause = 0.2 if clock.monotonic() - began > QUIET_SECONDS else min(max(0.2, pause * 2), 5.0)
            log.error("the %s process ended with %s; again in %.1f s", self.role, code, pause)
            await asyncio.sleep(pause)

    def stop(self, number: int) -> None:
        self._stopping = True
        if self._process and self._process.returncode is None:
            self._process.send_signal(number)

    async def _run(self) -> int:
        ready_read, ready_write = os.pipe()
        life_read, life_write = os.pipe()
        environment = {**os.environ, **self._settings.to_environ(), READY_FD: str(ready_write), LIFELINE_FD: str(life_read)}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "waterclock.launch",
            self.role,
            env=environment,
            pass_fds=(ready_write, life_read),
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C is for the parent, who then tells us
        )
        os.close(ready_write)
        os.close(life_read)
        said = asyncio.create_task(self._hear(ready_read))
        try:
            return await self._process.wait()
        finally:
            said.cancel()
            os.close(life_write)

    async def _hear(self, fd: int) -> None:
        with os.fdopen(fd, "rb", buffering=0) as file:
            line = await _read_line(file)
        if line:
            self._ready(line)


async def _parent(settings: Settings) -> int:
    said: dict[str, str] = {}
    announced = False

    def ready(role: str, line: str) -> None:
        nonlocal announced
        said[role] = line
        if len(said) == len(ROLES) and not announced:
            announced = True
            print(f"ready {said['api']}", flush=True)

    children = [_Child(role, settings, ready=lambda line, role=role: ready(role, line)) for role in ROLES]  # type: ignore[misc]
    keepers = [asyncio.create_task(child.keep()) for child in children]
    signals = 0

    def stop(number: int) -> None:
        nonlocal signals
        signals += 1
        for child in children:
            child.stop(number if signals == 1 else signal.SIGKILL)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        asyncio.get_running_loop().add_signal_handler(number, stop, signal.SIGTERM)
    await asyncio.gather(*keepers)
    return 0


# The children


async def _serve(settings: Settings, database: Database, stopped: asyncio.Event) -> None:
    from waterclock.faces.serving import serve_faces

    await serve_faces(settings, database, build_services(settings, database), stopped, _say_ready)


def _engine(roles: frozenset[str]) -> Callable[[Settings, Database, asyncio.Event], Coroutine[Any, Any, None]]:
    async def run(settings: Settings, database: Database, stopped: asyncio.Event) -> None:
        with _only_worker(settings) if WORKER in roles else contextlib.nullcontext():
            process = EngineProcess(settings, database, roles)
            await process.start()
            _say_ready("engine")
            await stopped.wait()
            await process.stop()

    return run


async def _with_database(
    settings: Settings, run: Callable[[Settings, Database, asyncio.Event], Coroutine[Any, Any, None]]
) -> int:
    _log_to_stderr()
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        loop.add_signal_handler(number, _stop, stopped)
    _watch_lifeline(loop, stopped)
    async with _opened(settings) as database:
        await run(settings, database, stopped)
    return 0


def _stop(stopped: asyncio.Event) -> None:
    if stopped.is_set():  # asked twice: somebody is in a hurry, and a kill is safe at any time
        os._exit(1)
    stopped.set()


def _watch_lifeline(loop: asyncio.AbstractEventLoop, stopped: asyncio.Event) -> None:
    """Without its parent a child would hold the port for ever."""
    if LIFELINE_FD in os.environ:
        fd = int(os.environ.pop(LIFELINE_FD))

        def gone() -> None:
            loop.remove_reader(fd)
            stopped.set()

        loop.add_reader(fd, gone)


def _say_ready(what: str) -> None:
    if READY_FD in os.environ:
        with os.fdopen(int(os.environ.pop(READY_FD)), "w") as file:
            file.write(f"{what}\n")
    elif what.startswith("http"):
        print(f"ready {what}", flush=True)


@contextlib.contextmanager
def _only_worker(settings: Settings) -> Iterator[None]:
    """Two workers in one data directory would adopt each other's runs."""
    with (settings.data_dir / "worker.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise NotAllowed(f"another worker runs in {settings.data_dir.absolute()}: give this one its own --data-dir") from None
        yield


# The store and the first start


@contextlib.asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Database]:
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = database_from_url(settings.database_url)
    await database.open()
    try:
        await database.migrate()
        await first_start(build_services(settings, database).access, settings.data_dir)
        yield database
    finally:
        with contextlib.suppress(Unavailable):
            await database.close()


async def _prepare(settings: Settings) -> None:
    """What can be wrong is said here, by the parent, before any child starts."""
    _log_to_stderr()
    async with _opened(settings):
        pass


async def _migrate(settings: Settings) -> Sequence[str]:
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = database_from_url(settings.database_url)
    await database.open()
    try:
        return await database.migrate()
    finally:
        await database.close()


def _log_to_stderr() -> None:
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")


async def _read_line(file: IO[bytes]) -> str:
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    try:
        return (await reader.readline()).decode().strip()
    finally:
        transport.close()


_ROLES: Final = {"up": up, "api": api, "engine": engine, "supervisor": supervisor}

if __name__ == "__main__":
    sys.exit(_ROLES[sys.argv[1]](load({})))
