"""What a program says of itself: one small file in its folder, replaced as a whole, read by its worker."""

import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from waterclock.domain.progress import LARGEST, LONGEST_REASON, Said

FILE: Final = "report.json"


class Reporter:
    """The program's side."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._said: dict[str, Any] = {}
        self._progress: dict[str, Any] = {}

    def phase(self, name: str) -> None:
        self._say(phase=name)

    def progress(self, **known: object) -> None:
        """Added to what was said before: rows_read, rows_written, bytes_written, …"""
        self._progress.update(known)
        self._say(progress=self._progress)

    def reason(self, text: str) -> None:
        self._say(reason=text[:LONGEST_REASON])

    def _say(self, **more: object) -> None:
        self._said.update(more)
        aside = self._path.with_suffix(".new")
        aside.write_text(json.dumps(self._said, default=str), encoding="utf-8")
        os.replace(aside, self._path)


def read(folder: Path) -> Said:
    """The worker's side: whatever the program made of the file, it is no more than a report that cannot be read."""
    with suppress(OSError, ValueError, RecursionError):
        fd = os.open(folder / FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                return Said.read(json.loads(file.read(LARGEST)))
    return Said()
