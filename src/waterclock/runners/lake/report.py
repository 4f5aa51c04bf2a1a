"""What a program says of itself: one small file in its folder, replaced as a whole, read by its worker."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

FILE: Final = "report.json"
LARGEST: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    phase: str | None = None
    progress: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None  # why it failed, in the words that the run is to show first


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
        self._say(reason=text)

    def _say(self, **more: object) -> None:
        self._said.update(more)
        aside = self._path.with_suffix(".new")
        aside.write_text(json.dumps(self._said, default=str), encoding="utf-8")
        os.replace(aside, self._path)


def read(folder: Path) -> Said:
    """The worker's side: whatever the program made of the file, it is no more than a report that cannot be read."""
    with suppress(OSError, ValueError, TypeError):
        fd = os.open(folder / FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(fd, "rb") as file:
            plain = json.loads(file.read(LARGEST))
        phase, progress, reason = plain.get("phase"), plain.get("progress"), plain.get("reason")
        return Said(
            phase=phase if isinstance(phase, str) else None,
            progress=progress if isinstance(progress, dict) else {},
            reason=reason if isinstance(reason, str) else None,
        )
    return Said()
