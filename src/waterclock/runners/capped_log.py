"""A program's output on its way to disk: the kernel moves it from the pipe to the file, up to a cap.

Python never sees the bytes. Past the cap, or when the disk refuses them, the rest is moved to /dev/null, so that the
program never blocks on its own output, and one line in the file says so.
"""

import contextlib
import errno
import os
from typing import Final

_STEP_BYTES: Final = 1024 * 1024
_STEPS: Final = 16  # before the keeper looks at its clock and its orders again
_COPY_BYTES: Final = 64 * 1024


def marker(cap_bytes: int) -> bytes:
    """The line that ends a log which was cut."""
    return f"\n[waterclock: the log is full at {cap_bytes} bytes; what came after was discarded]\n".encode()


def _open(path: str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        return os.open(path, flags, 0o640)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return os.open(path, flags, 0o640)


class CappedLog:
    """One file, never longer than its cap, the marker included."""

    __slots__ = ("_cap", "_file", "_null", "_room", "trouble")

    def __init__(self, path: str, cap_bytes: int) -> None:
        self._file = _open(path)
        self._null = -1
        self._cap = cap_bytes
        self._room = max(0, cap_bytes - len(marker(cap_bytes)))
        self.trouble: str | None = None

    def take(self, pipe: int) -> bool:
        """Move what is at hand from a non-blocking pipe; False once no writer is left."""
        try:
            return all(self._move(pipe) for _ in range(_STEPS))
        except BlockingIOError:
            return True

    def close(self) -> None:
        os.close(self._file)
        if self._null >= 0:
            os.close(self._null)

    def _move(self, pipe: int) -> bool:
        if self._room > 0:
            moved = self._keep(pipe)
            self._room -= moved
            return moved > 0 or self.trouble is not None
        if self._null < 0:
            self._null = os.open(os.devnull, os.O_WRONLY)
        moved = os.splice(pipe, self._null, _STEP_BYTES)
        if moved and self._room == 0:
            self._mark()
        return moved > 0

    def _keep(self, pipe: int) -> int:
        try:
            return os.splice(pipe, self._file, min(self._room, _STEP_BYTES))
        except BlockingIOError:
            raise
        except OSError as error:
            if error.errno == errno.EINVAL:  # a file system that cannot splice
                return self._copy(pipe)
            return self._refuse(error)

    def _copy(self, pipe: int) -> int:
        data = os.read(pipe, min(self._room, _COPY_BYTES))
        try:
            return os.write(self._file, data) if data else 0
        except OSError as error:
            return self._refuse(error)

    def _refuse(self, error: OSError) -> int:
        """The disk is full or failing: the program goes on, its further output does not stay."""
        self.trouble = f"its log is incomplete: {error.strerror}"
        self._mark()
        return 0

    def _mark(self) -> None:
        """Once, where the kept bytes end."""
        self._room = -1
        with contextlib.suppress(OSError):
            os.write(self._file, marker(self._cap))
