"""The log store: where logs lie that more than one host reads, in a folder that they share, or in a bucket.

A log grows by pieces that say where they belong. A piece that comes twice is written once, so whoever ships may
repeat whatever was not answered; and no piece is taken that would leave a gap, so what can be read is always a
beginning of what the program wrote.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from waterclock.domain.errors import Unavailable
from waterclock.domain.log_name import checked_name
from waterclock.runners.logs import inside

GROWING: Final = ".part"  # behind the name of a file that may still grow
_TRIES: Final = 3  # to find a log that is being finished while it is looked for


class LogStore(Protocol):
    """`Unavailable` where it does not answer; names are as `log_name` makes them, and are checked."""

    def append(self, name: str, offset: int, data: bytes) -> int:
        """How many bytes there are now. What is there is not written again; after a gap nothing is."""
        ...

    def put(self, name: str, data: bytes) -> int:
        """All of a log at once, which is finished by that, unless it was before; how many bytes there are now."""
        ...

    def read(self, name: str, offset: int, limit: int) -> tuple[bytes, int]:
        """Up to `limit` bytes from there, and how many there are in all; of a log that is not there, none."""
        ...

    def size(self, name: str) -> int: ...

    def finish(self, name: str) -> None:
        """No more comes. Said twice, it is done once."""
        ...

    def is_finished(self, name: str) -> bool: ...

    def remove(self, names: Iterable[str]) -> None: ...


def take(store: LogStore, name: str, offset: int, data: bytes, *, last: bool) -> int:
    """A piece of a log, `last` when no more comes; how many bytes there are now."""
    if last and offset == 0:
        return store.put(name, data)
    there = store.append(name, offset, data)
    if last and there >= offset + len(data):
        store.finish(name)
    return there


class StoredLog:
    """One log in a store, as `runners.logs` reads it."""

    look_seconds: float = 0.5  # a look costs a request, and a worker ships no more often

    def __init__(self, store: LogStore, name: str) -> None:
        self._store = store
        self._name = checked_name(name)

    def read(self, offset: int, limit: int) -> tuple[bytes, int]:
        return self._store.read(self._name, offset, limit)

    def is_finished(self) -> bool:
        return self._store.is_finished(self._name)


class FileLogStore:
    """A folder. A log that may still grow has another name, so that its end is one rename."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def append(self, name: str, offset: int, data: bytes) -> int:
        with self._told():
            if (finished := self._size(self._path(name))) is not None:
                return finished
            there = self._size(self._growing(name)) or 0
            if there < offset or there >= offset + len(data):
                return there
            self._write(self._growing(name), there, data[there - offset :], is_new=there == 0)
            return offset + len(data)

    def put(self, name: str, data: bytes) -> int:
        there = self.append(name, 0, data)
        self.finish(name)
        return there

    def read(self, name: str, offset: int, limit: int) -> tuple[bytes, int]:
        with self._told():
            for path in (self._path(name), self._growing(name)) * _TRIES:
                with suppress(FileNotFoundError), path.open("rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    file.seek(min(offset, size))  # no file system seeks everywhere
                    return file.read(max(0, min(limit, size - offset))), size
            return b"", 0

    def size(self, name: str) -> int:
        return self.read(name, 0, 0)[1]

    def finish(self, name: str) -> None:
        with self._told():
            if self.is_finished(name):
                return
            growing = self._growing(name)
            self._write(growing, self._size(growing) or 0, b"", is_new=True)  # one that wrote nothing is finished, too
            _to_disk(growing)  # whoever shipped it will now remove his own
            with suppress(FileNotFoundError):  # somebody else was quicker
                growing.rename(self._path(name))
            _to_disk(growing.parent)

    def is_finished(self, name: str) -> bool:
        with self._told():
            return self._size(self._path(name)) is not None

    def remove(self, names: Iterable[str]) -> None:
        with self._told():
            for name in names:
                self._growing(name).unlink(missing_ok=True)
                self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return inside(self._root, Path(checked_name(name)))

    def _growing(self, name: str) -> Path:
        return inside(self._root, Path(f"{checked_name(name)}{GROWING}"))

    def _write(self, path: Path, offset: int, data: bytes, *, is_new: bool) -> None:
        """At its place, not at the end: a piece that two write at once is the same bytes in the same place."""
        if is_new:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | (os.O_CREAT if is_new else 0), 0o640)
        try:
            while data:
                written = os.pwrite(file, data, offset)
                offset, data = offset + written, data[written:]
        finally:
            os.close(file)

    @staticmethod
    def _size(path: Path) -> int | None:
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return None

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise Unavailable(f"the log store {self._root} (setting logs.store): {problem}") from problem


def _to_disk(path: Path) -> None:
    with suppress(FileNotFoundError):
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
