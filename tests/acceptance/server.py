"""`waterclock up` in processes of its own, with everything a test wants to do to it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

REPO = Path(__file__).resolve().parents[2]
DEADLINE_SECONDS = 60.0


class Server:
    """Started, killed and started again on the same data directory, store and port."""

    def __init__(self, folder: Path, url: str = "", **settings: object) -> None:
        self.data = folder / "data"
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._errors = folder / "server.log"
        self._settings = {"db": url, "port": self.port, "data_dir": self.data, **settings}
        self.process: subprocess.Popen[str] | None = None

    @property
    def environment(self) -> dict[str, str]:
        given = {f"WATERCLOCK_{name.upper()}": str(value) for name, value in self._settings.items()}
        return {**os.environ, **given, "PYTHONPATH": str(REPO), "WATERCLOCK_SERVER": self.address}

    def start(self) -> None:
        with self._errors.open("a") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "waterclock", "up"],
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout
        line = self.process.stdout.readline().strip()
        assert line == f"ready {self.address}", f"{line!r}\n{self.errors()}"

    def errors(self) -> str:
        return self._errors.read_text() if self._errors.exists() else ""

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(DEADLINE_SECONDS)
        if self.process and self.process.stdout:
            self.process.stdout.close()

    def kill_everything(self) -> None:
        """-9 to every process of ours: parent, API, engine, supervisor, zygote, keepers, programs."""
        until(lambda: not self._kill_all(), "a killed process lives")
        if self.process:
            self.process.wait(DEADLINE_SECONDS)

    def _kill_all(self) -> int:
        found = self.pids()
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(found)

    def kill(self, role: str) -> None:
        """-9 to the process of one role (`api`, `engine`); the parent starts it again."""
        (pid,) = self.pids(f"waterclock.app.launch\0{role}\0")
        self.kill_one(pid)

    def kill_one(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        until(lambda: not alive(pid), f"process {pid} lives after SIGKILL")

    def pids(self, command: str = "") -> list[int]:
        """Those that carry our data directory in their environment, with `command` in their command line."""
        token = f"WATERCLOCK_DATA_DIR={self.data}\0".encode()
        mine = [pid for pid in _processes() if pid != os.getpid() and token in _read(pid, "environ")]
        return [pid for pid in mine if command.encode() in _read(pid, "cmdline")]

    def glue(self, *, retries: int = 5) -> Any:
        lines = (self.data / "credentials").read_text().splitlines()
        keys = dict(line.split(" = ") for line in lines if " = " in line)
        config = Config(retries={"total_max_attempts": retries, "mode": "standard"}, read_timeout=20)
        return boto3.Session(**keys, region_name="us-east-1").client("glue", endpoint_url=self.address, config=config)

    def cli(self, *arguments: str, **more: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "waterclock", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
            **more,
        )


@contextmanager
def running(folder: Path, url: str = "", **settings: object) -> Iterator[Server]:
    server = Server(folder, url, **settings)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        server.kill_everything()


def until(
    condition: Callable[[], Any], otherwise: str, seconds: float = DEADLINE_SECONDS, *, pause: float = 0.02
) -> Any:
    """Ask again until it holds; a test fails at the deadline, it never sleeps for a fixed time."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, otherwise
        time.sleep(pause)
    return answer


def alive(pid: int) -> bool:
    """A zombie has ended."""
    stat = _read(pid, "stat")
    return bool(stat) and stat.rpartition(b")")[2].split()[0] != b"Z"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and alive(int(name))]


def _read(pid: int, file: str) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{file}").read_bytes()
    return b""
