"""When jobs began, noted by the no-op itself: in the memory of its process, or in a file that several share."""

import os
import struct
import time
from pathlib import Path

MARKS_FILE = "BENCH_MARKS"  # in the environment: the file of all processes that take part
WIDTH = struct.calcsize("d")

begins: list[float] = []


def mark() -> None:
    """The no-op, in a process that is also the one who looks."""
    begins.append(time.time())


def nth(number: int) -> float | None:
    """When the n-th began, once it has."""
    return begins[number] if number < len(begins) else None


def count() -> int:
    return len(begins)


def clear() -> None:
    begins.clear()


class FileMarks:
    """One append of eight bytes for each job, by whichever process runs it."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)

    @classmethod
    def of_environment(cls) -> "FileMarks":
        return cls(Path(os.environ[MARKS_FILE]))

    def mark(self) -> None:
        os.write(self._file, struct.pack("d", time.time()))

    def count(self) -> int:
        return os.fstat(self._file).st_size // WIDTH

    def clear(self) -> None:
        os.ftruncate(self._file, 0)

    def nth(self, number: int) -> float | None:
        found = os.pread(self._file, WIDTH, number * WIDTH)
        return float(struct.unpack("d", found)[0]) if len(found) == WIDTH else None

    def all(self) -> list[float]:
        found = os.pread(self._file, self.count() * WIDTH, 0)
        return [moment for (moment,) in struct.iter_unpack("d", found)]
