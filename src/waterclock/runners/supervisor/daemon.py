"""The supervisor as a process: detached from whoever started it, alone in its state directory, gone when not needed."""

import asyncio
import contextlib
import fcntl
import logging
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from waterclock import clock
from waterclock.runners import cgroup, linux, proc
from waterclock.runners.base import End, Leases
from waterclock.runners.cgroup import Cgroup
from waterclock.runners.supervisor import recovery
from waterclock.runners.supervisor.attempts import Attempt, Attempts
from waterclock.runners.supervisor.door import Door
from waterclock.runners.supervisor.journal import Journal
from waterclock.runners.supervisor.renewer import Renewer
from waterclock.runners.supervisor.supervisor import Supervisor
from waterclock.runners.supervisor.zygote import Zygote
from waterclock.runners.worker_line import SOCKET_NAME

_LOG = logging.getLogger(__name__)
_TICK_SECONDS: Final = 0.25
_WAITING_TICK_SECONDS: Final = 0.005
_GROUP_PATIENCE_TICKS: Final = 400


def daemonise(log_path: Path) -> None:
    """Return in a process of its own session that nobody waits for; the caller's process exits at once."""
    for _ in range(2):
        if os.fork() > 0:
            os._exit(0)
        with contextlib.suppress(PermissionError):
            os.setsid()
    os.chdir("/")
    os.umask(0o077)
    null = os.open(os.devnull, os.O_RDWR)
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def run_supervisor(
    state_dir: Path,
    leases: Leases,
    *,
    ttl_seconds: float = 60.0,
    idle_seconds: float = 30.0,
    use_cgroups: bool = True,
) -> None:
    """Supervise until no worker is connected and nothing is alive; at once back when another already does."""
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _lock(state_dir) as is_ours:
        if is_ours:
            linux.become_subreaper()
            linux.name_process(b"wc-supervisor")
            files = _raise_open_files()
            group = cgroup.make_root(state_dir) if use_cgroups else None
            asyncio.run(_Life(state_dir, leases, ttl_seconds, idle_seconds, group, files).live())


def _raise_open_files() -> tuple[int, int]:
    """A descriptor per keeper is more than the usual soft limit allows; what programs get stays as it was."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    return before


@contextlib.contextmanager
def _lock(state_dir: Path) -> Iterator[bool]:
    """Whether we are the only supervisor here; the kernel lets go of it when we die."""
    fd = os.open(state_dir / "supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(fd)


class _Life:
    """From recovery to exit."""

    def __init__(
        self,
        state_dir: Path,
        leases: Leases,
        ttl_seconds: float,
        idle_seconds: float,
        group: Cgroup | None,
        open_files: tuple[int, int],
    ) -> None:
        self._state_dir = state_dir
        self._ttl_seconds = ttl_seconds
        self._idle_seconds = idle_seconds
        self._group = group
        self._open_files = open_files
        self._attempts = Attempts()
        self._door = Door(self._attempts, ttl_seconds)
        self._supervisor = self._recovered()
        self._door.supervisor = self._supervisor
        self._renewer = Renewer(leases, ttl_seconds, self._supervisor, self._to_renew)
        self._is_leaving = False
        self._wake = asyncio.Event()

    async def live(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCHLD, self._supervisor.bury)
        loop.add_signal_handler(signal.SIGTERM, self._leave)
        loop.add_signal_handler(signal.SIGQUIT, self._leave)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        await self._door.open(self._state_dir)
        renewing = asyncio.ensure_future(self._renewer.run())
        while not self._is_done():
            if self._is_leaving:
                self._end_all()
            self._supervisor.tick()
            self._supervisor.remind(clock.monotonic() - self._ttl_seconds / 3)
            await self._rest(clock.monotonic() + _TICK_SECONDS)
        renewing.cancel()
        (self._state_dir / SOCKET_NAME).unlink(missing_ok=True)
        self._door.close()
        self._supervisor.close()
        await self._leave_no_group()

    async def _rest(self, until: float) -> None:
        while not self._wake.is_set() and (left := until - clock.monotonic()) > 0:
            self._supervisor.provide()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_WAITING_TICK_SECONDS if self._supervisor.has_waiting else left):
                    await self._wake.wait()
        self._wake.clear()

    async def _leave_no_group(self) -> None:
        """Keepers that are no longer needed take a moment to go."""
        for _ in range(_GROUP_PATIENCE_TICKS):
            if self._group is None or self._group.remove():
                return
            await asyncio.sleep(_WAITING_TICK_SECONDS)

    def _recovered(self) -> Supervisor:
        """Nothing of a predecessor's is left once this returns, and what it did not tell is ours to tell."""
        ends_dir = self._state_dir / "ends"
        ends_dir.mkdir(mode=0o700, exist_ok=True)
        path, boot = self._state_dir / "journal", proc.boot_id()
        for trace in recovery.recover(Journal.read(path), boot, ends_dir, self._group):
            self._attempts.add(
                Attempt(
                    attempt_id=trace.attempt_id,
                    fence=trace.fence,
                    token=trace.token,
                    lease_until=clock.monotonic(),
                    begun=trace.begun,
                    ended=trace.ended,
                )
            )
        book = Journal(path, boot)
        book.begin_anew(self._attempts.records())
        zygote = Zygote(ends_dir, self._group, self._open_files)
        zygote.start()
        return Supervisor(self._attempts, book, zygote, self._door.tell)

    def _to_renew(self) -> list[Attempt]:
        """What is alive, and what ended but is not yet stored; nothing while no worker is there to store it."""
        if not self._door.has_live_guest():
            return []
        return [attempt for attempt in self._attempts if not attempt.is_refused]

    def _leave(self) -> None:
        """Told to go: what runs is ended in peace, and whoever asks later hears of it."""
        self._is_leaving = True
        self._wake.set()

    def _end_all(self) -> None:
        self._supervisor.stop([attempt.attempt_id for attempt in self._attempts.alive()], End.LOST)

    def _is_done(self) -> bool:
        if self._attempts.alive():
            return False
        if self._is_leaving:
            return True
        return not self._door.has_guests and clock.monotonic() - self._door.left_at > self._idle_seconds
