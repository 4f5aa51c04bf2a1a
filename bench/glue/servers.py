"""Who answers Glue calls: our API without a worker, moto_server, a bare stub; each is gone at the end of its block."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.contest.contestant import BenchProblem
from bench.glue.calls import Address
from bench.harness import ROOT, data_dir, store, waterclock
from bench.peers.venvs import interpreter
from waterclock.stores import Database, database_from_url
from waterclock.stores.ops.nodes import queue_sizes

READY_SECONDS = 30.0
STUB = ["--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "error"]


class Kept:
    """How many runs a store holds whose start was acknowledged; where nothing is durable, nobody asks."""

    def __init__(self, url: str = "") -> None:
        self._url = url

    def check(self, acknowledged: int) -> None:
        """Every run is there, once; nobody was there to run them."""
        if self._url and (kept := asyncio.run(_live_runs(database_from_url(self._url)))) != acknowledged:
            raise BenchProblem(f"{acknowledged} starts were acknowledged, but {kept} runs are kept")


@contextlib.contextmanager
def ours(kind: str, processes: int) -> Iterator[tuple[Address, Kept]]:
    """Durable and signed; `processes` share one port."""
    several = {"api_processes": processes} if processes > 1 else {}
    with (
        data_dir() as folder,
        store(kind, folder) as url,
        waterclock("api", folder, url, auth="keys", **several) as said,
    ):
        yield _address(said, folder), Kept(url)


@contextlib.contextmanager
def moto() -> Iterator[tuple[Address, Kept]]:
    """In memory, and signatures are not checked."""
    with _serving([str(interpreter("moto").parent / "moto_server"), "-H", "127.0.0.1", "-p"]) as address:
        yield address, Kept()


@contextlib.contextmanager
def stub(processes: int) -> Iterator[tuple[Address, Kept]]:
    several = ["--workers", str(processes)] if processes > 1 else []
    with _serving([sys.executable, "-m", "uvicorn", "bench.limits.stub:app", *STUB, *several, "--port"]) as address:
        yield address, Kept()


@contextlib.contextmanager
def _serving(command: Sequence[str]) -> Iterator[Address]:
    """A server that is told its port as the last word."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*command, str(port)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        _wait_for(port, command[0])
        yield Address(host="127.0.0.1", port=port)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_for(port: int, name: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise BenchProblem(f"{os.path.basename(name)} did not start within {READY_SECONDS:g} s")


def _address(said: str, folder: Path) -> Address:
    lines = dict(line.split(" = ") for line in (folder / "credentials").read_text().splitlines() if " = " in line)
    host, _, port = said.removeprefix("http://").partition(":")
    return Address(host=host, port=int(port), key=lines["aws_access_key_id"], secret=lines["aws_secret_access_key"])


async def _live_runs(database: Database) -> int:
    await database.open()
    try:
        return sum((await database.read(queue_sizes)).values())
    finally:
        await database.close()
