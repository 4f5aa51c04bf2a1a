"""The file in which a program finds its job's bookmark and leaves the next: in its own folder, under its own user.

What it left is read with care: the program may have put anything in its place. Whether it wrote the file at all is told
by its time, which was set to a moment that is known again after a restart.
"""

import errno
import os
import stat
from pathlib import Path
from typing import Final

from waterclock.domain.bookmark import MOST_BYTES, Left, refusal_of
from waterclock.domain.moment import Moment

_NAME: Final = ".bookmark"
_NS_PER_US: Final = 1_000


def path_in(folder: Path) -> Path:
    return folder / _NAME


def place(folder: Path, content: str, made_at: Moment) -> None:
    """For the folder's owner. A file that an earlier try left there is replaced, a link is never followed."""
    path = path_in(folder)
    path.unlink(missing_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        owner = os.stat(folder)
        if owner.st_uid != os.geteuid():
            os.fchown(fd, owner.st_uid, owner.st_gid)
        file.write(content.encode())
        file.flush()
        os.utime(fd, ns=(made_at * _NS_PER_US, made_at * _NS_PER_US))


def take(folder: Path, made_at: Moment) -> Left:
    """What the program left: nothing where it did not touch the file, or took it away."""
    try:
        fd = os.open(f"{folder}/{_NAME}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return _taken(fd, os.stat(folder).st_uid, made_at)
        finally:
            os.close(fd)
    except (FileNotFoundError, NotADirectoryError):
        return Left()
    except OSError as problem:
        return Left(refused=_why(problem))


def _taken(fd: int, owner: int, made_at: Moment) -> Left:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != owner:
        return Left(refused="it is not a file of its own")
    if found.st_mtime_ns == made_at * _NS_PER_US:
        return Left()
    if found.st_size > MOST_BYTES:
        return Left(refused=f"it has {found.st_size} bytes; the most is {MOST_BYTES}")
    with open(fd, "rb", closefd=False) as file:
        return _read(file.read(MOST_BYTES + 1))


def _read(data: bytes) -> Left:
    try:
        content = data.decode()
    except UnicodeDecodeError:
        return Left(refused="it is not UTF-8")
    why = refusal_of(content)
    return Left(refused=f"it {why}") if why else Left(content=content)


def _why(problem: OSError) -> str:
    return "it is a link" if problem.errno == errno.ELOOP else f"it cannot be read: {problem.strerror}"
