"""A copy of a folder while it is made: counted, so that none is without end, and given to the user of programs.

Its folder is ours alone until it is whole: nobody can put a link in our way while we write, perhaps as root.
"""

import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.errors import CannotRun

MOST_ENTRIES: Final = 10_000
MOST_BYTES: Final = 256 * 1024 * 1024
DEEPEST: Final = 100
CHUNK_BYTES: Final = 1024 * 1024

_WRITABLE: Final = 0o600  # a program may change its own copy, whatever the original allows
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True, kw_only=True)
class Copy:
    """Names are relative to `folder`, with slashes."""

    folder: str
    owner: tuple[int, int] | None = None  # user and group, where they are not ours
    abandoned: threading.Event = field(default_factory=threading.Event)  # nobody waits for it any more
    entries: int = 0
    size: int = 0

    def add_folder(self, name: str) -> None:
        self._count(name)
        path = self._path(name)
        os.mkdir(path, 0o700)
        self._give(path)

    def add_link(self, name: str, target: str) -> None:
        self._count(name)
        path = self._path(name)
        os.symlink(target, path)
        self._give(path)

    def add_file(self, name: str, chunks: Iterable[bytes], *, mode: int, modified_ns: int | None = None) -> None:
        self._count(name)
        fd = os.open(self._path(name), _NEW, (mode & 0o777) | _WRITABLE)
        try:
            for chunk in chunks:
                self._count_bytes(len(chunk))
                _write(fd, chunk)
            if modified_ns is not None:  # what was compiled beside it stays valid
                os.utime(fd, ns=(modified_ns, modified_ns))
            if self.owner:
                os.fchown(fd, *self.owner)
        finally:
            os.close(fd)

    def check(self, *, entries: int, size: int) -> None:
        """Of what is known beforehand: before any of it is fetched."""
        if self.entries + entries > MOST_ENTRIES:
            raise CannotRun(f"its folder has more than {MOST_ENTRIES} entries, and is copied for every run")
        if self.size + size > MOST_BYTES:
            raise CannotRun(f"its folder has more than {MOST_BYTES} bytes, and is copied for every run")

    def _count(self, name: str) -> None:
        if self.abandoned.is_set():
            raise CannotRun("stopped while its folder was copied")
        if name.count("/") > DEEPEST:
            raise CannotRun(f"its folder holds others that lie more than {DEEPEST} deep: {name[:80]}…")
        self.check(entries=1, size=0)
        self.entries += 1

    def _count_bytes(self, size: int) -> None:
        if self.abandoned.is_set():
            raise CannotRun("stopped while its folder was copied")
        self.check(entries=0, size=size)
        self.size += size

    def _path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def _give(self, path: str) -> None:
        if self.owner:
            os.chown(path, *self.owner, follow_symlinks=False)


def _write(fd: int, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(fd, rest) :]
