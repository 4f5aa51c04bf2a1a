"""Debian's Redis with `appendonly yes` and its default fsync, once a second: less than PostgreSQL promises."""

import contextlib
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator

from bench.contest.contestant import BenchProblem
from bench.harness import ROOT

READY_SECONDS = 20.0


@contextlib.contextmanager
def redis() -> Iterator[str]:
    """The URL of an empty one, inside the block."""
    binary, environment = _installed()
    with tempfile.TemporaryDirectory(prefix="bench-redis-") as folder, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        settings = ["--port", str(port), "--bind", "127.0.0.1", "--appendonly", "yes", "--save", "", "--dir", folder]
        process = subprocess.Popen([binary, *settings], env=environment, stdout=subprocess.DEVNULL)
        try:
            _wait_for(port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.wait(30)


def _installed() -> tuple[str, dict[str, str]]:
    done = subprocess.run(
        [str(ROOT / "tools/debian-packages"), "redis", "usr/bin/redis-server", "redis-server"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BenchProblem("Debian's redis-server cannot be had: .cache/redis.why says why")
    tree = ROOT / ".cache/redis"
    libraries = ":".join(str(path) for path in tree.glob("usr/lib/*-linux-gnu"))
    return str(tree / "usr/bin/redis-server"), {**os.environ, "LD_LIBRARY_PATH": libraries}


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise BenchProblem(f"redis did not start within {READY_SECONDS:g} s")
