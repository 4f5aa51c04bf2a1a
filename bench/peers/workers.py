"""A peer's worker in a process of its own, as its documentation has it: its program again, with the word `work`."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from bench.peers.marks import MARKS_FILE, FileMarks

READY_SECONDS = 30.0


@contextlib.contextmanager
def worker(module: str, url: str, command: Sequence[str] = ()) -> Iterator[FileMarks]:
    """The marks of its jobs; it runs until the end of the block. `command`: where it is not `MODULE work --url URL`."""
    with tempfile.TemporaryDirectory(prefix="bench-marks-") as folder:
        marks = FileMarks(Path(folder) / "marks")
        process = subprocess.Popen(
            list(command) or [sys.executable, "-m", module, "work", "--url", url],
            env={**os.environ, MARKS_FILE: str(Path(folder) / "marks")},
            stdout=subprocess.DEVNULL,
        )
        try:
            yield marks
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Marks(Protocol):
    """Of a file that processes share, or `bench.peers.marks` itself."""

    def count(self) -> int: ...

    def clear(self) -> None: ...


def warm_up(submit: Callable[[], object], marks: Marks) -> None:
    """Returns when the worker has run its first job; the marks are empty again, and it is idle."""
    submit()
    deadline = time.monotonic() + READY_SECONDS
    while not marks.count():
        if time.monotonic() > deadline:
            raise SystemExit(f"the worker ran nothing within {READY_SECONDS:g} s")
        time.sleep(0.01)
    time.sleep(0.5)
    marks.clear()
