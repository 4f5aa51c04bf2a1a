"""One role of the cluster in a process and a data directory of its own: killed, paused and started again at will."""

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.acceptance.server import DEADLINE_SECONDS, REPO, until
from tests.acceptance.server import alive as is_alive
from waterclock.app.parent import READY_FD

KEYS: Final = "secret.keys"


class Process:
    """`waterclock ROLE`; what it holds (supervisor, keepers, programs) outlives a `kill`, as it would on a host."""

    def __init__(self, role: str, folder: Path, settings: Mapping[str, object], *, keys: Path | None = None) -> None:
        self.role = role
        self.folder = folder
        self.log = folder.with_suffix(".log")
        self.settings = {**settings, "data_dir": folder}
        self.module = "waterclock"  # a test's own entry point, where it wants to stand between
        self.arguments: tuple[str, ...] = ()  # after the role
        self.prefix: tuple[str, ...] = ()  # before the interpreter: another network namespace, another clock
        self.extra: dict[str, str] = {}  # of the environment
        self._keys = keys
        self._process: subprocess.Popen[bytes] | None = None
        self._ready: int | None = None
        self._has_said = False

    def __repr__(self) -> str:
        return f"{self.role} {self.folder.name}"

    @property
    def pid(self) -> int:
        assert self._process, f"{self!r} was never started"
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def environment(self) -> dict[str, str]:
        given = {f"WATERCLOCK_{name.upper()}": str(value) for name, value in self.settings.items()}
        return {**os.environ, **given, "PYTHONPATH": str(REPO), **self.extra}

    def start(self, *, wait: bool = True) -> None:
        """On the same folder as before; with `wait=False` somebody else waits, or nobody."""
        assert not self.alive, f"{self!r} runs already"
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._keys and not (self.folder / KEYS).exists():
            shutil.copy(self._keys, self.folder / KEYS)  # as docs/secrets.md says
        self._close()
        self._has_said = False
        self._ready, writing = os.pipe()
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [*self.prefix, sys.executable, "-m", self.module, self.role, *self.arguments],
                env={**self.environment, READY_FD: str(writing)},
                pass_fds=(writing,),
                cwd=self.folder.parent,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a Ctrl-C is for the runner, which cleans up
            )
        os.close(writing)
        if wait:
            self.await_ready()

    def await_ready(self) -> None:
        assert self._ready is not None
        if self._has_said:
            return
        readable, _, _ = select.select([self._ready], [], [], DEADLINE_SECONDS)
        self._has_said = bool(os.read(self._ready, 1)) if readable else False
        assert self._has_said, f"{self!r} did not start:\n{self.errors()[-800:]}"

    @property
    def is_up(self) -> bool:
        """Whether it lives and has said that it serves."""
        if self._ready is not None and select.select([self._ready], [], [], 0)[0]:
            self._has_said = bool(os.read(self._ready, 1)) or self._has_said
        return self.alive and self._has_said

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL, to this process alone; returns when it is gone."""
        assert self._process
        self._process.kill()
        self._process.wait(DEADLINE_SECONDS)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Asked to end, and waited for: its exit code."""
        assert self._process
        self.send(number)
        return self._process.wait(DEADLINE_SECONDS)

    def wait(self, seconds: float = DEADLINE_SECONDS) -> int:
        assert self._process
        return self._process.wait(seconds)

    def pause(self) -> None:
        """SIGSTOP, and it has stopped."""
        self.send(signal.SIGSTOP)
        until(lambda: state_of(self.pid) == "T", f"{self!r} does not stop")

    def resume(self) -> None:
        self.send(signal.SIGCONT)

    def errors(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def pids(self, command: str = "") -> list[int]:
        """Of every process that carries this data directory, with `command` (its words joined by NUL) in its own."""
        token = f"WATERCLOCK_DATA_DIR={self.folder}\0".encode()
        return [
            pid for pid in processes() if token in read(pid, "environ") and command.encode() in read(pid, "cmdline")
        ]

    def supervisors(self) -> list[int]:
        """The process that holds this worker's programs; it outlives the worker."""
        return self.pids("waterclock.app.launch\0supervisor")

    def clean_up(self) -> None:
        """Nothing that carries the data directory lives on."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while (self.alive or self.pids()) and time.monotonic() < deadline:
            kill_all([*self.pids(), *([self.pid] if self.alive else [])])
            time.sleep(0.01)
        self._close()

    def _close(self) -> None:
        if self._ready is not None:
            os.close(self._ready)
            self._ready = None


def kill_all(pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and is_alive(int(name))]


def read(pid: int, file: str) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{file}").read_bytes()
    return b""


def state_of(pid: int) -> str:
    """R, S, D, T (stopped), Z; empty where there is none."""
    fields = read(pid, "stat").rpartition(b")")[2].split()
    return fields[0].decode() if fields else ""
