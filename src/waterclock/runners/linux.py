"""What Linux offers and the standard library does not: prctl, a bare fork, and the bytes behind /proc/self/environ."""

import ctypes
import os
import signal
from typing import Final, NoReturn

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NAME: Final = 15
_PR_SET_CHILD_SUBREAPER: Final = 36
_STAT_ENV_START: Final = 47  # of the fields behind the command's closing bracket
_STAT_ENV_END: Final = 48

_libc: Final = ctypes.PyDLL(None, use_errno=True)  # it keeps the interpreter's lock, without which none may fork
_bare_fork: Final = _libc.fork
_bare_prctl: Final = _libc.prctl
_bare_sigmask: Final = _libc.pthread_sigmask
_NO_SIGNALS: Final = bytes(128)  # a sigset_t
_SIG_SETMASK: Final = int(signal.SIG_SETMASK)
_SIGKILL: Final = int(signal.SIGKILL)


def fork() -> int:
    """A fork without Python's hooks around it, for a process that has one thread and holds no lock.

    The hooks make new the locks that other threads may have held, and copy a hundred pages doing so. One of them does
    more: it gives the fork random numbers of its own, and that is for the fork to do here.
    """
    pid: int = _bare_fork()
    if pid < 0:
        _fail()
    return pid


def become_subreaper() -> None:
    """Orphans below this process become its children, however often they forked or left their session."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def unblock_signals() -> None:
    """All of them; without the names of those that were blocked, which the library's own way looks up."""
    _bare_sigmask(_SIG_SETMASK, _NO_SIGNALS, None)


def die_with_parent() -> None:
    """A belt beside the braces: lost on setuid programs, and grandchildren do not have it."""
    _prctl(_PR_SET_PDEATHSIG, _SIGKILL)


def name_process(name: bytes) -> None:
    """What ps and top show; the kernel takes 15 bytes of it."""
    _bare_prctl(_PR_SET_NAME, name, 0, 0, 0)


def _prctl(option: int, value: int) -> None:
    if _bare_prctl(option, value, 0, 0, 0) != 0:
        _fail()


def _fail() -> NoReturn:
    code = ctypes.get_errno()
    raise OSError(code, os.strerror(code))


class EnvironmentSlot:
    """The memory that others read as /proc/<pid>/environ of this process.

    A fork that never executes keeps its parent's: a warm program would carry no token, and a search for the leftovers
    of a dead supervisor would miss it. Writing the token here marks the fork and all that it forks.
    """

    __slots__ = ("_size", "_start")

    def __init__(self) -> None:
        with open("/proc/self/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
        self._start = int(fields[_STAT_ENV_START])
        self._size = int(fields[_STAT_ENV_END]) - self._start

    def image(self, entries: list[str]) -> bytes:
        """What is to be seen there; what does not fit is left out, entry by entry."""
        data = b""
        for entry in entries:
            encoded = os.fsencode(entry) + b"\0"
            if len(data) + len(encoded) <= self._size:
                data += encoded
        return data.ljust(self._size, b"\0")

    def write(self, image: bytes) -> None:
        ctypes.memmove(self._start, image, self._size)
