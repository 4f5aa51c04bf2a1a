"""A journal: a file that one process appends lines to, and that others may take over once it is let go."""

import contextlib
import fcntl
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SUFFIX: Final = ".journal"


class Journal:
    """The present file of this process; made at the first line, locked while it is ours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path: Path | None = None
        self._fd = -1
        self._is_torn = False

    def append(self, line: bytes) -> None:
        """With one write: the line is in the page cache, or an OSError says that it is not."""
        if self._fd < 0:
            self._open()
        whole = b"\n" + line if self._is_torn else line  # what a full disk has cut short must not spoil the next
        written = os.write(self._fd, whole)
        self._is_torn = written != len(whole)
        if self._is_torn:
            raise OSError(f"only {written} of {len(whole)} bytes were written")

    def size(self) -> int:
        return os.fstat(self._fd).st_size if self._fd >= 0 else 0

    def let_go(self) -> None:
        """Nothing more is written to this file: from now on it is one that was left behind."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self.path, self._is_torn = -1, None, False

    def _open(self) -> None:
        """It gets its name when it is locked: nobody finds it in between."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.folder / f"{uuid.uuid4()}{SUFFIX}"
        aside = path.with_suffix(".new")
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            aside.rename(path)
        except BaseException:
            os.close(fd)
            raise
        self._fd, self.path, self._is_torn = fd, path, False


def left_behind(folder: Path, *, but: Path | None) -> list[Path]:
    """Journals that are not ours; some may be held by another process."""
    with contextlib.suppress(FileNotFoundError):
        return sorted(path for path in folder.iterdir() if path.suffix == SUFFIX and path != but)
    return []


@contextlib.contextmanager
def taken_over(path: Path) -> Iterator[bool]:
    """Whether the journal is ours to finish: nobody writes it, nobody else has finished it meanwhile."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        yield _locked(fd) and _is_still(path, fd)
    finally:
        os.close(fd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    lines: list[bytes]
    end: int  # where they end in the file
    is_last: bool
    is_cut: bool  # there is more, but not a whole line


def read_lines(path: Path, begin: int, most: int) -> Piece:
    """From `begin` on, as many whole lines as `most` bytes hold."""
    with path.open("rb") as file:
        file.seek(begin)
        data = file.read(most)
    is_last = len(data) < most
    length = data.rfind(b"\n") + 1
    if length == 0 and not is_last:
        length = most  # no line of ours is that long: pass it by
    lines = [line for line in data[:length].split(b"\n") if line]
    return Piece(lines=lines, end=begin + length, is_last=is_last, is_cut=length < len(data))


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still(path: Path, fd: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(fd).st_ino
    except FileNotFoundError:
        return False
