"""The roots that chains' programs lie below: a script is copied with its own folder, and with nothing else.

A script directly in the root has the root's own files beside it, and none of its folders. Nothing is read from outside
the root, wherever links point and whoever changes them meanwhile.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from waterclock.domain.errors import CannotRun
from waterclock.runners.copying import CHUNK_BYTES, Copy

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Root(Protocol):
    def copy(self, script: PurePosixPath, to: Copy) -> None:
        """The script's folder, as it is now; `CannotRun` where there is no such folder or script. Not for the loop."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRoot:
    """A folder on this host; `setting` is where an administrator says which."""

    path: Path
    setting: str

    def copy(self, script: PurePosixPath, to: Copy) -> None:
        root = os.path.realpath(self.path)
        if not os.path.isdir(root):
            raise CannotRun(f"the folder of programs {self} does not exist on this worker")
        folder = self._folder(root, script)
        try:
            with _opened(root, folder) as fd:
                _Walk(root=root, folder=folder, to=to).add(fd, "")
        except OSError as problem:
            raise CannotRun(f"cannot copy the folder {str(script.parent)!r} below {self}: {problem}") from None
        if not os.path.lexists(f"{to.folder}/{script.name}"):
            raise missing_script(script, self)

    def _folder(self, root: str, script: PurePosixPath) -> str:
        """Where the script's folder really is, once it is known that both it and the script are below the root."""
        folder, file = (os.path.realpath(f"{root}/{each}") for each in (script.parent, script))
        for found in (folder, file):
            if not _is_below(found, root):
                raise CannotRun(f"the script {str(script)!r} leads out of {self}: to {found}")
        if not os.path.isdir(folder):
            raise missing_folder(script, self)
        if not os.path.isfile(file):
            raise missing_script(script, self)
        return folder

    def __str__(self) -> str:
        return f"{self.path} (setting {self.setting})"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Walk:
    """Through open descriptors: a folder that is replaced by a link under our eyes is not followed."""

    root: str
    folder: str
    to: Copy

    def add(self, fd: int, at: str) -> None:
        with os.scandir(fd) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # gone since it was listed
                    self._add(entry, fd, at + entry.name)

    def _add(self, entry: os.DirEntry[str], fd: int, name: str) -> None:
        if entry.is_symlink():
            self._add_link(name)
        elif entry.is_dir(follow_symlinks=False):
            if self.folder != self.root:
                self.to.add_folder(name)
                with _descriptor(entry.name, _FOLDER, fd) as below:
                    self.add(below, f"{name}/")
        elif entry.is_file(follow_symlinks=False):
            with _descriptor(entry.name, _FILE, fd) as file:
                self._add_file(name, file)
        else:
            raise CannotRun(f"{self.folder}/{name} is neither a file, a folder nor a link, and cannot be copied")

    def _add_file(self, name: str, fd: int) -> None:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise CannotRun(f"{self.folder}/{name} has been replaced while it was copied")
        self.to.add_file(name, _chunks(fd, found.st_size), mode=found.st_mode, modified_ns=found.st_mtime_ns)

    def _add_link(self, name: str) -> None:
        """To its counterpart in the copy; what lies elsewhere below the root is not copied, and stays where it is."""
        target = os.path.realpath(f"{self.folder}/{name}")
        if not _is_below(target, self.root):
            raise CannotRun(f"the link {self.folder}/{name} leads out of {self.root}, to {target}")
        if self.folder == self.root and os.path.isdir(target):
            return
        self.to.add_link(name, self._counterpart(name, target) if self._is_copied(target) else target)

    def _counterpart(self, name: str, target: str) -> str:
        return os.path.relpath(target, os.path.dirname(f"{self.folder}/{name}"))

    def _is_copied(self, path: str) -> bool:
        return os.path.dirname(path) == self.root if self.folder == self.root else _is_below(path, self.folder)


def script_path(script: str) -> PurePosixPath:
    """As a chain's command names it: below a root, and never out of it."""
    path = PurePosixPath(script)
    if "\0" in script:
        raise CannotRun("the script's name holds a NUL character")
    if path.is_absolute() or ".." in path.parts or not path.name:
        raise CannotRun(f"the script {script!r} must be a path below the folder of programs, such as folder/script.py")
    return path


def missing_folder(script: PurePosixPath, root: Root) -> CannotRun:
    return CannotRun(f"there is no folder {str(script.parent)!r} below {root}")


def missing_script(script: PurePosixPath, root: Root) -> CannotRun:
    where = "directly in" if script.parent == PurePosixPath() else f"in the folder {str(script.parent)!r} below"
    return CannotRun(f"there is no script {script.name!r} {where} {root}")


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


@contextmanager
def _opened(root: str, folder: str) -> Iterator[int]:
    """Step by step from the root: not even a folder above is followed where it has become a link."""
    fd = os.open(root, _FOLDER)
    try:
        for part in Path(folder).relative_to(root).parts:
            below = os.open(part, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


@contextmanager
def _descriptor(name: str, flags: int, folder: int) -> Iterator[int]:
    fd = os.open(name, flags, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)


def _chunks(fd: int, size: int) -> Iterator[bytes]:
    """As many bytes as it had when it was opened: a file that grows is not followed."""
    while size > 0 and (chunk := os.read(fd, min(size, CHUNK_BYTES))):
        size -= len(chunk)
        yield chunk
