"""Results on this machine: only below the roots that an admin has named, wherever links point."""

import errno
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Never

from waterclock.runners.sql.folder import Sink
from waterclock.runners.sql.how import How
from waterclock.runners.sql.outputs import OutputFailed, Tag
from waterclock.runners.sql.places import Place
from waterclock.runners.sql.swapping import SwappedFolder

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TAKEN: Final = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR})
_BUFFER_BYTES: Final = 1024 * 1024


def local_folder(place: Place, *, how: How, tag: Tag, roots: Sequence[str]) -> SwappedFolder:
    tree = LocalTree(place, roots=roots)
    return SwappedFolder(tree, where=str(place), name=place.name, how=how, tag=tag)


class LocalTree:
    """Every call walks from the root to the folder through descriptors: no link that is put in the way is followed."""

    def __init__(self, place: Place, *, roots: Sequence[str]) -> None:
        self._where = str(place)
        self._parent = os.path.realpath(place.parent)
        self._root = _root_of(place, self._parent, roots)

    def names(self, folder: str = "") -> Sequence[str] | None:
        with self._failing():
            try:
                with self._opened() as parent:
                    fd = os.open(folder or ".", _FOLDER, dir_fd=parent)
                    try:
                        return os.listdir(fd)
                    finally:
                        os.close(fd)
            except FileNotFoundError:
                return None
            except NotADirectoryError:
                raise OutputFailed(f"{self._where} is a file or a link, and not the folder of a result") from None

    def make(self, folder: str) -> None:
        with self._failing(), self._opened(make=True) as parent:
            os.mkdir(folder, dir_fd=parent)

    def create(self, path: str) -> Sink:
        with self._failing(), self._opened() as parent:
            return _File(os.open(path, _NEW_FILE, 0o666, dir_fd=parent), self._where)

    def read(self, path: str) -> Iterator[bytes]:
        with self._failing(), self._opened() as parent:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        with self._failing(), os.fdopen(fd, "rb") as file:
            while piece := file.read(_BUFFER_BYTES):
                yield piece

    def rename(self, path: str, to: str) -> bool:
        with self._failing(), self._opened() as parent:
            try:
                os.rename(path, to, src_dir_fd=parent, dst_dir_fd=parent)
            except FileNotFoundError:
                return False
            except OSError as problem:
                if problem.errno in _TAKEN:
                    return False
                raise
            os.fsync(parent)
            return True

    def remove(self, path: str) -> None:
        with self._failing(), suppress(FileNotFoundError), self._opened() as parent:
            if stat.S_ISDIR(os.lstat(path, dir_fd=parent).st_mode):
                shutil.rmtree(path, dir_fd=parent)
            else:
                os.unlink(path, dir_fd=parent)

    @contextmanager
    def _opened(self, *, make: bool = False) -> Iterator[int]:
        if make:
            os.makedirs(self._root, exist_ok=True)
        fd = os.open(self._root, _FOLDER)
        try:
            for part in Path(self._parent).relative_to(self._root).parts:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=fd)
                below = os.open(part, _FOLDER, dir_fd=fd)
                os.close(fd)
                fd = below
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            _fail(self._where, problem)


class _File:
    def __init__(self, fd: int, where: str) -> None:
        self._file, self._where = os.fdopen(fd, "wb", buffering=_BUFFER_BYTES), where

    def write(self, data: bytes) -> object:
        try:
            return self._file.write(data)
        except OSError as problem:
            _fail(self._where, problem)

    def close(self) -> None:
        try:
            with self._file as file:
                file.flush()
                os.fsync(file.fileno())
        except OSError as problem:
            _fail(self._where, problem)


def _fail(where: str, problem: OSError) -> Never:
    raise OutputFailed(f"{where}: {problem.strerror or problem}") from None


def _root_of(place: Place, parent: str, roots: Sequence[str]) -> str:
    real = [os.path.realpath(root) for root in roots]
    found = next((root for root in real if parent == root or parent.startswith(root.rstrip("/") + "/")), None)
    if found is None:
        named = ", ".join(roots) or "none is"
        raise OutputFailed(
            f"{place} is not below a folder that file:// may name ({named}): "
            "choose another, or ask an admin to add one to the setting lake.roots"
        )
    return found
