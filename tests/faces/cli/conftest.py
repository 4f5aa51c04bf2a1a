"""A running server and the command line as people have it: a process of its own."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.faces.api.serving import PATIENCE_SECONDS, Served, served
from waterclock.faces.cli import main


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    code: int
    out: str
    err: str


class CommandLine:
    """`waterclock …` with an environment of its own: no token but that of the server's folder."""

    def __init__(self, server: Served, home: Path) -> None:
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "WATERCLOCK_SERVER": server.url,
            "WATERCLOCK_DATA_DIR": str(server.folder),
        }
        self.folder = home

    async def start(self, *args: str, **environ: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "waterclock",
            *args,
            env=self._environ | environ,
            cwd=self.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def __call__(self, *args: str, **environ: str) -> Said:
        return await ended(await self.start(*args, **environ))

    async def here(self, *args: str, given: str | bytes = "", **environ: str) -> Said:
        """Inside this process: the same but for its start, which takes most of the time."""
        runner = CliRunner(env={"WATERCLOCK_TOKEN": None, "XDG_CONFIG_HOME": None, **self._environ, **environ})
        with contextlib.chdir(self.folder):
            said = await asyncio.to_thread(runner.invoke, main, args, given)
        assert said.exception is None or isinstance(said.exception, SystemExit), said.exception
        return Said(code=said.exit_code, out=said.stdout, err=said.stderr)

    async def ok(self, *args: str) -> str:
        said = await self.here(*args)
        assert said.code == 0, said
        return said.out


async def ended(process: asyncio.subprocess.Process) -> Said:
    try:
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE_SECONDS)
    except TimeoutError:
        process.send_signal(signal.SIGKILL)
        raise
    assert process.returncode is not None
    return Said(code=process.returncode, out=out.decode(), err=err.decode())


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    folder = tmp_path / "data"
    folder.mkdir()
    async with served(folder) as running:
        yield running


@pytest.fixture
def wc(server: Served, tmp_path: Path) -> CommandLine:
    home = tmp_path / "home"
    home.mkdir()
    return CommandLine(server, home)
