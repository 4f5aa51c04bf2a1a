"""What the programs of lake jobs leave for the next: whole or not there, used by one at a time, bounded in size.

An entry is a folder, `kind/digest`, with a lock beside it. It is made under another name and renamed, and renamed
again before it is removed: who is killed at any moment leaves nothing that could be taken for an entry.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 10 * 1024**3

_LOCK: Final = ".lock"
_ASIDE: Final = ".new-"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    path: Path
    used_ns: int
    size: int


def digest_of(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:32]


class Cache:
    """One folder, shared by all programs of a worker; each has this class over it for itself."""

    def __init__(self, root: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self._root = root
        self._most_bytes = most_bytes

    @contextmanager
    def held(self, kind: str, digest: str) -> Iterator[Path]:
        """Where the entry is, or would be: nobody else uses, makes or removes it meanwhile."""
        folder = self._root / kind
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / digest
        fd = _lock(path)
        try:
            shutil.rmtree(_aside(path), ignore_errors=True)  # of one that was killed
            yield path
            if path.exists():
                os.utime(path)
        finally:
            os.close(fd)

    def shared(self, kind: str, digest: str) -> Path | None:
        """The entry, where there is one: nobody removes it while this process lives, whatever program it becomes."""
        path = self._root / kind / digest
        fd = _locked(path, fcntl.LOCK_SH) if path.exists() else None
        if fd is None:
            return None
        if not path.exists():
            os.close(fd)
            return None
        os.set_inheritable(fd, True)
        os.utime(path)
        return path

    def prune(self) -> None:
        """Those that were used least lately go, until all the others together are small enough."""
        self.sweep()
        entries = sorted(self._entries(), key=lambda entry: entry.used_ns)
        excess = sum(entry.size for entry in entries) - self._most_bytes
        for entry in entries:
            if excess <= 0:
                return
            if _drop(entry.path):
                excess -= entry.size

    def _entries(self) -> Iterator[_Entry]:
        for path in self._root.glob("*/[!.]*"):
            with suppress(FileNotFoundError):  # dropped by another program
                if path.is_dir() and _lock_of(path).exists():
                    yield _Entry(path=path, used_ns=path.stat().st_mtime_ns, size=_size(path))

    def sweep(self) -> None:
        """What those have left who were killed while they made an entry."""
        for aside in self._root.glob(f"*/{_ASIDE}*"):
            _drop(aside.with_name(aside.name.removeprefix(_ASIDE)), only_aside=True)


@contextmanager
def made(path: Path) -> Iterator[Path]:
    """For the one who holds the entry: a folder to fill, which becomes the entry when all has gone well."""
    aside = _aside(path)
    aside.mkdir(mode=0o700)
    try:
        yield aside
        os.rename(aside, path)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def discard(path: Path) -> None:
    """For the one who holds the entry: at once no entry any more, then gone."""
    with suppress(FileNotFoundError):
        os.rename(path, _aside(path))
    shutil.rmtree(_aside(path), ignore_errors=True)


def _drop(path: Path, *, only_aside: bool = False) -> bool:
    """Not while somebody uses it."""
    fd = _try_lock(path)
    if fd is None:
        return False
    try:
        shutil.rmtree(_aside(path), ignore_errors=True)
        if not only_aside:
            discard(path)
        if not path.exists():
            os.unlink(_lock_of(path))
    except FileNotFoundError:
        return False
    finally:
        os.close(fd)
    return True


def _lock(path: Path) -> int:
    fd = _try_lock(path)
    if fd is None:
        print("waiting for another run that needs the same", flush=True)
    while fd is None:
        fd = _locked(path, fcntl.LOCK_EX)
    return fd


def _try_lock(path: Path) -> int | None:
    try:
        return _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None


def _locked(path: Path, how: int) -> int | None:
    """None when the file was removed, with its entry, while we waited for it: its lock protects nothing any more."""
    fd = os.open(_lock_of(path), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, how)
        if os.fstat(fd).st_nlink:
            return fd
    except BaseException:
        os.close(fd)
        raise
    os.close(fd)
    return None


def _lock_of(path: Path) -> Path:
    return path.with_name(path.name + _LOCK)


def _aside(path: Path) -> Path:
    return path.with_name(_ASIDE + path.name)


def _size(folder: Path) -> int:
    return sum(_size_of(f"{at}/{name}") for at, _, names in os.walk(folder) for name in names)


def _size_of(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:  # removed meanwhile
        return 0
