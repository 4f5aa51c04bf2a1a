"""A job's own Python packages: one cached virtual environment for each set of them."""

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from waterclock.domain.errors import CannotRun
from waterclock.runners.virtualenv import digest, installing, making

DONE: Final = ".complete"
TAIL: Final = 2_000


class Venvs:
    """Makes each environment once, aside, and moves it into place; two workers never make the same one at a time."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def python_for(self, modules: str) -> str:
        wanted = parse_modules(modules)
        folder = self._root / digest(wanted)
        if not (folder / DONE).exists():
            async with _locked(self._root, folder.name):
                if not (folder / DONE).exists():
                    await _make(folder, wanted)
        return str(folder / "bin" / "python")


def parse_modules(modules: str) -> tuple[str, ...]:
    """Glue's form: names with versions, between commas. An option would be read by pip as its own."""
    wanted = tuple(word.strip() for word in modules.split(",") if word.strip())
    for word in wanted:
        if word.startswith("-"):
            raise CannotRun(f"--additional-python-modules: {word!r} is an option, not a package")
    if not wanted:
        raise CannotRun("--additional-python-modules names no package")
    return wanted


async def _make(folder: Path, wanted: tuple[str, ...]) -> None:
    """In its final place, since scripts in it name their own path; `.complete` comes last."""
    shutil.rmtree(folder, ignore_errors=True)
    await _call(*making(folder))
    await _call(*installing(folder, "--quiet", *wanted))
    (folder / DONE).touch()


async def _call(*argv: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        raise
    if process.returncode:
        text = output.decode(errors="replace").strip()[-TAIL:]
        raise CannotRun(f"cannot install the job's Python packages: {text}")


@contextlib.asynccontextmanager
async def _locked(root: Path, name: str) -> AsyncIterator[None]:
    """Across workers that share the folder; waiting must not hold up the loop."""
    fd = await asyncio.to_thread(_lock, root, name)
    try:
        yield
    finally:
        os.close(fd)


def _lock(root: Path, name: str) -> int:
    root.mkdir(parents=True, exist_ok=True)
    fd = os.open(root / f"{name}.lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd
