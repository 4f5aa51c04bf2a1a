"""Processes: `up` is a small parent that keeps an API process and an engine process alive; each can run alone.

The process that answers HTTP never waits on programs: those belong to the engine's supervisor, which outlives both.
Each process imports what its own role needs, and no more: that is most of the time that it takes to start.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import stat
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from typing import Any, Final

from waterclock.app.folders import Folders
from waterclock.app.parent import LIFELINE_FD, READY_FD, SIGNALS, keep_all
from waterclock.domain.errors import NotAllowed, Unavailable
from waterclock.faces.http.listening import is_inherited
from waterclock.settings import DATABASE, Settings, load
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url

log: Final = logging.getLogger("waterclock")


def up(settings: Settings) -> int:
    """API, scheduler and worker in one process tree; `ready URL` on stdout once it serves."""
    return _kept(settings, "api", "engine")


def api(settings: Settings) -> int:
    """One process, or a parent of several on one socket."""
    if settings.api_processes > 1 and not is_inherited():
        return _kept(settings, "api")
    import uvloop  # for HTTP alone: it spawns processes more slowly than asyncio does

    return uvloop.run(_with_database(settings, _serve))


def scheduler(settings: Settings) -> int:
    return asyncio.run(_with_database(settings, _engine("scheduler")))


def worker(settings: Settings) -> int:
    """Over a database; or for a server over HTTP, where the settings name one and a token for it."""
    if settings.is_remote:
        return asyncio.run(_remote_worker(settings))
    return asyncio.run(_with_database(settings, _engine("worker")))


def engine(settings: Settings) -> int:
    """Scheduler and worker in one process: what is due is pushed from one to the other without a detour."""
    return asyncio.run(_with_database(settings, _engine("scheduler", "worker")))


def migrate(settings: Settings) -> Sequence[str]:
    return asyncio.run(_migrate(settings))


def supervisor(settings: Settings) -> int:
    """Holds the programs of this host; detaches itself, so that it outlives whoever started it."""
    from waterclock.app.supervision import leases_of
    from waterclock.runners.supervisor.daemon import daemonise, run_supervisor

    folder = Folders(root=settings.data_dir.absolute()).supervisor
    daemonise(folder / "supervisor.log")
    run_supervisor(folder, leases_of(settings), ttl_seconds=settings.lease_seconds)
    return 0


# The parent


def _kept(settings: Settings, *roles: str) -> int:
    asyncio.run(_prepare(settings))
    return asyncio.run(keep_all(settings, roles, _say_ready))


# The children


async def _serve(settings: Settings, database: Database, stopped: asyncio.Event) -> None:
    from waterclock.app.compose import build_services
    from waterclock.app.first_start import first_start
    from waterclock.app.serving import serve_faces

    services = build_services(settings, database)
    await first_start(services.access, settings.data_dir)
    await serve_faces(settings, database, services, stopped, _say_ready)


def _engine(*roles: str) -> Callable[[Settings, Database, asyncio.Event], Coroutine[Any, Any, None]]:
    async def run(settings: Settings, database: Database, stopped: asyncio.Event) -> None:
        from waterclock.app.engine_process import WORKER, EngineProcess

        with _only_worker(settings) if WORKER in roles else contextlib.nullcontext():
            process = EngineProcess(settings, database, frozenset(roles))
            await process.start()
            _say_ready("engine")
            await stopped.wait()
            await process.stop()

    return run


async def _remote_worker(settings: Settings) -> int:
    """A start that waits for its server ends when it is told to."""
    from waterclock.app.remote_worker import RemoteWorker

    stopped = _told_to_stop()
    _have_folder(settings)
    with _only_worker(settings):
        process = RemoteWorker(settings)
        starting = asyncio.create_task(process.start())
        waiting = asyncio.create_task(stopped.wait())
        await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            return 0
        await starting
        _say_ready("engine")
        await waiting
        await process.stop()
    return 0


async def _with_database(
    settings: Settings, run: Callable[[Settings, Database, asyncio.Event], Coroutine[Any, Any, None]]
) -> int:
    stopped = _told_to_stop()
    async with _opened(settings) as database:
        await run(settings, database, stopped)
    return 0


def _told_to_stop() -> asyncio.Event:
    _log_to_stderr()
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, _stop, stopped)
    _watch_lifeline(loop, stopped)
    return stopped


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
            raise NotAllowed(
                f"another worker runs in {settings.data_dir.absolute()}: give this one its own --data-dir"
            ) from None
        yield


# The store


def _have_folder(settings: Settings) -> None:
    """Ours alone, but that programs of another user are let through to their own folders in it."""
    folder = settings.data_dir
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if settings.worker_user and os.geteuid() == 0:
        folder.chmod(folder.stat().st_mode | stat.S_IXOTH)


def _have_store(settings: Settings) -> None:
    """Where it lies in that folder, nobody else reads it."""
    _have_folder(settings)
    if not settings.db:
        (settings.data_dir / DATABASE).touch(mode=0o600)


@contextlib.asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Database]:
    _have_store(settings)
    database = database_from_url(settings.database_url)
    await database.open()
    try:
        await database.migrate()
        yield database
    finally:
        with contextlib.suppress(Unavailable):
            await database.close()


async def _prepare(settings: Settings) -> None:
    """What can be wrong is said here, by the parent, before any child starts."""
    from waterclock.app.compose import build_services
    from waterclock.app.first_start import first_start

    _log_to_stderr()
    async with _opened(settings) as database:
        await first_start(build_services(settings, database).access, settings.data_dir)


async def _migrate(settings: Settings) -> Sequence[str]:
    _have_store(settings)
    database = database_from_url(settings.database_url)
    await database.open()
    try:
        return await database.migrate()
    finally:
        await database.close()


def _log_to_stderr() -> None:
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)  # a worker over HTTP asks all the time


_ROLES: Final = {"up": up, "api": api, "engine": engine, "supervisor": supervisor}

if __name__ == "__main__":
    sys.exit(_ROLES[sys.argv[1]](load({})))
