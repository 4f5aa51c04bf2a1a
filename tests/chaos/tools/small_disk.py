"""A small disk of its own, to be filled up: a tmpfs, which root may mount."""

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.chaos.scenario import Unsupported

FILLER: Final = "filler"
PIECE: Final = b"\0" * 65_536


class Disk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """Until not one byte more fits."""
        with (self.folder / FILLER).open("ab", buffering=0) as file, _full_at_last():
            while True:
                if file.write(PIECE) < len(PIECE):
                    file.write(PIECE)

    def use_up_names(self) -> None:
        """Until not one file more can be made."""
        folder = self.folder / f"{FILLER}s"
        with _full_at_last():
            folder.mkdir(exist_ok=True)
            for number in range(1_000_000):
                (folder / str(number)).touch()

    def free(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            (self.folder / FILLER).unlink()
        for path in (self.folder / f"{FILLER}s").glob("*"):
            path.unlink()


@contextmanager
def _full_at_last() -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise


@contextmanager
def small_disk(folder: Path, *, megabytes: int, names: int = 20_000) -> Iterator[Disk]:
    """Mounted at the folder, which is made where it is missing, with room for so many files and folders."""
    if os.geteuid() != 0:
        raise Unsupported("only root may mount a small disk to fill it")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    options = f"size={megabytes}m,nr_inodes={names},mode=700"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "waterclock-chaos", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        raise Unsupported(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
