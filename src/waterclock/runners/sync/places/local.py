"""Files of this machine: only below the roots that an admin has named, wherever links point."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from waterclock.runners.sync.places.globs import glob_of
from waterclock.runners.sync.places.place import CHUNK_BYTES, Found, Stream
from waterclock.runners.sync.places.walking import Entry, walk
from waterclock.runners.sync.source import Means, SourceFailed

_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe that nobody writes to is refused, not waited for


class LocalPlace:
    is_listed = True

    def __init__(self, config: Mapping[str, Any], means: Means) -> None:
        self._roots = [os.path.realpath(root) for root in means.roots]
        self._base = self._found(str(config.get("path") or ""), means.roots)
        self.where = f"file://{self._base}"

    def test(self) -> str:
        if self._base.is_file():
            return f"{self.where} is a file of {self._base.stat().st_size} bytes"
        return f"{self.where} is a folder with {len(list(self._entries(())))} entries"

    def find(self, pattern: str, *, most: int | None = None) -> Sequence[Found]:
        if self._base.is_file():
            if not glob_of(pattern).matches(self._base.name):
                return []
            found = os.stat(self._base)
            return [Found(name=self._base.name, version=_version(found), size=found.st_size)]
        return walk(glob_of(pattern), self._entries, most=most)

    def open(self, found: Found) -> Stream:
        path = self._base if self._base.is_file() else self._base / found.name
        try:
            fd = os.open(path, _FLAGS)
        except OSError as problem:
            raise SourceFailed(f"{found.name} cannot be read: {problem.strerror}") from None
        try:
            self._check(fd, found)
        except BaseException:
            os.close(fd)
            raise
        return _LocalStream(fd, found)

    def close(self) -> None: ...

    def _found(self, path: str, shown: Sequence[str]) -> Path:
        """An absolute path below a root, or a relative one that is looked for in each."""
        if "\0" in path:
            raise SourceFailed("path holds a NUL character")
        candidates = [Path(os.path.realpath(os.path.join(root, path))) for root in self._roots]
        found = next((each for each in candidates if self._is_within(str(each)) and each.exists()), None)
        if found is None:
            known = ", ".join(shown) or "none is set"
            raise SourceFailed(f"path {path!r} is nothing below a folder that jobs may read (lake.roots: {known})")
        return found

    def _is_within(self, real: str) -> bool:
        return any(real == root or real.startswith(root.rstrip("/") + "/") for root in self._roots)

    def _entries(self, folder: Sequence[str]) -> Iterator[Entry]:
        path = os.path.realpath(self._base.joinpath(*folder))
        if not self._is_within(path):
            return  # a link that leads out: what is there is not ours to name
        try:
            with os.scandir(path) as entries:
                yield from (entry for each in entries if (entry := _entry(each)) is not None)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as problem:
            raise SourceFailed(f"file://{path} cannot be listed: {problem.strerror}") from None

    def _check(self, fd: int, found: Found) -> None:
        """Of what was opened, not of its name: a link may have been put in the way meanwhile."""
        if not self._is_within(os.readlink(f"/proc/self/fd/{fd}")):
            raise SourceFailed(f"{found.name} leads out of the folders that jobs may read (lake.roots)")
        now = os.fstat(fd)
        if not stat.S_ISREG(now.st_mode):
            raise SourceFailed(f"{found.name} is no plain file")
        if found.version and _version(now) != found.version:
            raise SourceFailed(f"{found.name} was changed while it was read")


class _LocalStream:
    def __init__(self, fd: int, found: Found) -> None:
        self._file, self._found = os.fdopen(fd, "rb", buffering=0), found

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        data = self._file.read(size)
        if not data:
            self.check()
        return data

    def file(self) -> BinaryIO | None:
        return os.fdopen(os.dup(self._file.fileno()), "rb")

    def check(self) -> None:
        if self._found.version and _version(os.fstat(self._file.fileno())) != self._found.version:
            raise SourceFailed(f"{self._found.name} was changed while it was read")

    def close(self) -> None:
        self._file.close()


def _entry(each: "os.DirEntry[str]") -> Entry | None:
    """None for a link that points nowhere, or what is neither file nor folder."""
    try:
        found = each.stat()
    except OSError:
        return None
    if stat.S_ISDIR(found.st_mode):
        return Entry(name=each.name, is_folder=True)
    if stat.S_ISREG(found.st_mode):
        return Entry(name=each.name, is_folder=False, version=_version(found), size=found.st_size)
    return None


def _version(found: os.stat_result) -> str:
    return f"{found.st_mtime_ns}-{found.st_size}"
