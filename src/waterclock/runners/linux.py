"""What Linux offers and the standard library does not: prctl, and the bytes behind /proc/self/environ."""

import ctypes
import os
import signal
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NAME: Final = 15
_PR_SET_CHILD_SUBREAPER: Final = 36
_STAT_ENV_START: Final = 47  # of the fields behind the command's closing bracket
_STAT_ENV_END: Final = 48

_libc: Final = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Orphans below this process become its children, however often they forked or left their session."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """A belt beside the braces: lost on setuid programs, and grandchildren do not have it."""
    _prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def name_process(name: str) -> None:
    """What ps and top show."""
    buffer = ctypes.create_string_buffer(os.fsencode(name)[:15])
    _libc.prctl(_PR_SET_NAME, buffer, 0, 0, 0)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
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

    def write(self, entries: list[str]) -> None:
        """Replace what is seen there; what does not fit is left out, entry by entry."""
        data = b""
        for entry in entries:
            encoded = os.fsencode(entry) + b"\0"
            if len(data) + len(encoded) <= self._size:
                data += encoded
        ctypes.memset(self._start, 0, self._size)
        ctypes.memmove(self._start, data, len(data))
