"""The outbox: logs on a worker's disk that are to be shipped, each in a file whose name says all that this takes.

Nothing else has to be remembered: whoever starts here after a crash finds what the one before has not shipped.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waterclock.domain.log_name import log_day
from waterclock.domain.run import Attempt
from waterclock.runners.logs import LocalLog

_NAME: Final = re.compile(r"([0-9-]{10})\.([^.]+)\.([0-9]+)\.([0-9]+)\.log", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A log as it stands in the outbox."""

    path: Path
    attempt_id: int
    fence: int
    name: str  # in the log store
    size: int
    changed_at: int  # microseconds since 1970, by this host's clock


class Outbox:
    def __init__(self, root: Path) -> None:
        self._root = root

    def log(self, attempt: Attempt) -> Path:
        """All in one folder: none that is empty has to be removed while another file is put into it."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._root / f"{log_day(attempt.run_at)}.{attempt.wire_id}.{attempt.id}.{attempt.fence}.log"

    def outgoing(self) -> list[Outgoing]:
        """All that is there now."""
        try:
            with os.scandir(self._root) as entries:
                return list(_found(entries))
        except FileNotFoundError:
            return []

    @staticmethod
    def read(log: Outgoing, offset: int, limit: int) -> bytes:
        return LocalLog(path=log.path).read(offset, limit)[0]

    @staticmethod
    def remove(log: Outgoing) -> None:
        log.path.unlink(missing_ok=True)


def _found(entries: Iterator[os.DirEntry[str]]) -> Iterator[Outgoing]:
    for entry in entries:
        named = _NAME.fullmatch(entry.name)
        if named is None or not entry.is_file(follow_symlinks=False):
            continue
        found = entry.stat(follow_symlinks=False)
        yield Outgoing(
            path=Path(entry.path),
            attempt_id=int(named[3]),
            fence=int(named[4]),
            name=f"{named[1]}/{named[2]}.log",
            size=found.st_size,
            changed_at=found.st_mtime_ns // 1_000,
        )
