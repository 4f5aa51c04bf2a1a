"""A server of our own: started, stopped, killed and started again on the same port and data."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import psutil

from tests.services.account import as_account, dying_with_us, new_folder

DEADLINE_SECONDS: Final = 60.0

# A server dies with the thread that started it, so that no killed test run leaves one behind: this one lives as we do.
_SPAWNER: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="server-spawner")


class ServerFailed(Exception):
    """It ended, or did not answer in time; with the end of its log."""


class Server(ABC):
    """Has its own folder, port and log; `with` starts it, and in the end kills it and removes the folder."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = new_folder(name)
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._log = self.folder.parent / "log"

    @abstractmethod
    def _prepare(self) -> None:
        """Make the data folder; called once, before the first start."""

    def _furnish(self) -> None:  # noqa: B027 -- most need nothing
        """What a new server needs once it serves; called once, after the first start."""

    @abstractmethod
    def _command(self) -> Sequence[str | Path]: ...

    @abstractmethod
    def _is_ready(self) -> bool: ...

    def _as_its_user(self, *argv: str | Path) -> list[str]:
        return as_account(*argv)

    def _environment(self) -> Mapping[str, str]:
        return {}

    @property
    def pid(self) -> int:
        assert self._process is not None, f"{self.name} is not running"
        return self._process.pid

    def start(self) -> None:
        """Returns once it serves."""
        assert self._process is None, f"{self.name} runs already"
        first = not any(self.folder.iterdir())
        if first:
            self._prepare()
        self._process = _SPAWNER.submit(self._spawn).result()
        wait_until(self._is_ready_or_dead, f"{self.name} to serve on port {self.port}", self._tail)
        if first:
            self._furnish()

    def stop(self, with_signal: signal.Signals = signal.SIGINT) -> None:
        """Ask it to end, and wait until it has."""
        process = self._taken()
        process.send_signal(with_signal)
        process.wait(DEADLINE_SECONDS)

    def kill(self) -> None:
        """kill -9 of all its processes at once, as a power cut would; returns when none is left."""
        process = self._taken()
        process.send_signal(signal.SIGSTOP)  # no new children while we list them
        doomed = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        for member in doomed:
            kill_if_there(member)
        process.wait(DEADLINE_SECONDS)
        wait_until(lambda: not any(map(is_alive, doomed)), f"{self.name}'s processes to be gone", self._tail)

    def restart(self) -> None:
        """Start again on the same data and port, after a stop or a kill, or by stopping it first."""
        if self._process is not None:
            self.stop()
        self.start()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.remove()

    def remove(self) -> None:
        """Nothing of it is left, neither process nor file."""
        if self._process is not None and self._process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder.parent, ignore_errors=True)

    def _taken(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, f"{self.name} is not running"
        process, self._process = self._process, None
        return process

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._as_its_user(
                    *dying_with_us(*self._command())
                ),  # in this order: a change of user clears the signal
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=self._full_environment(),
                start_new_session=True,
            )

    def _run(self, *command: str | Path) -> None:
        """Run a program of the server's to its end; ServerFailed with what it said where it fails."""
        done = subprocess.run(
            self._as_its_user(*command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self._full_environment(),
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        if done.returncode:
            raise ServerFailed(f"{Path(command[0]).name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")

    def _full_environment(self) -> dict[str, str]:
        return {"PATH": os.defpath, "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "TZ": "UTC", **self._environment()}

    def _is_ready_or_dead(self) -> bool:
        assert self._process is not None
        if (code := self._process.poll()) is not None:
            self._process = None
            raise ServerFailed(f"{self.name} ended with exit code {code} before it served\n{self._tail()}")
        return self._is_ready()

    def _tail(self) -> str:
        return self._log.read_text(errors="replace")[-4000:] if self._log.exists() else ""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def wait_until(condition: Callable[[], bool], what: str, explain: Callable[[], str] = str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise ServerFailed(f"waited {DEADLINE_SECONDS:g} s for {what}\n{explain()}")
        time.sleep(0.01)


def kill_if_there(process: psutil.Process) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.kill()


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
