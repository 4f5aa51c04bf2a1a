"""What a supervisor did, line by line, so that its successor knows what may be alive and what was not yet told.

A line is in the page cache before its effect happens: it survives the death of every process of ours. It is never
synced: a host that lost power has no process left, and what it held is decided by its leases.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from waterclock.runners import codec
from waterclock.runners.base import Begun, Ended
from waterclock.runners.proc import Process

Record = dict[str, Any]

_LARGE_BYTES: Final = 4 * 1024 * 1024


@dataclass(slots=True, kw_only=True)
class Trace:
    """What the journal says of one attempt that was not forgotten."""

    attempt_id: int
    fence: int
    token: list[str]
    keeper: Process | None = None
    begun: Begun | None = None
    ended: Ended | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    boot: str | None
    traces: Mapping[int, Trace]


def started(attempt_id: int, fence: int, token: list[str]) -> Record:
    return {"start": [attempt_id, fence, token]}


def given(attempt_id: int, keeper: Process) -> Record:
    return {"keeper": [attempt_id, keeper.pid, keeper.started_at]}


def begun(event: Begun) -> Record:
    return {"begun": codec.event_to_plain(event)}


def ended(event: Ended) -> Record:
    return {"ended": codec.event_to_plain(event)}


def forgotten(attempt_ids: Iterable[int]) -> Record:
    return {"forget": list(attempt_ids)}


def replay(lines: Iterable[str]) -> Past:
    """Pure: the state that these lines leave. A line cut short by a crash is as if it had not been written."""
    boot: str | None = None
    traces: dict[int, Trace] = {}
    for line in lines:
        with contextlib.suppress(ValueError):
            record = json.loads(line)
            boot = record.get("boot", boot)
            _apply(record, traces)
    return Past(boot=boot, traces=traces)


def _apply(record: Record, traces: dict[int, Trace]) -> None:
    match record:
        case {"start": [attempt_id, fence, token]}:
            traces[attempt_id] = Trace(attempt_id=attempt_id, fence=fence, token=token)
        case {"keeper": [attempt_id, pid, started_at]} if attempt_id in traces:
            traces[attempt_id].keeper = Process(pid, started_at)
        case {"begun": plain} if plain["attempt_id"] in traces:
            traces[plain["attempt_id"]].begun = codec.begun_from_plain(plain)
        case {"ended": plain} if plain["attempt_id"] in traces:
            traces[plain["attempt_id"]].ended = codec.ended_from_plain(plain)
        case {"forget": attempt_ids}:
            for attempt_id in attempt_ids:
                traces.pop(attempt_id, None)


class Journal:
    """Lines are gathered and written together; `flush` comes before the effects."""

    def __init__(self, path: Path, boot: str) -> None:
        self._path, self._boot = path, boot
        self._lines: list[str] = []
        self._fd = -1
        self._size = self._limit = 0
        self._is_torn = False

    @staticmethod
    def read(path: Path) -> Past:
        try:
            return replay(path.read_text().splitlines())
        except FileNotFoundError:
            return Past(boot=None, traces={})

    def add(self, record: Record) -> None:
        self._lines.append(json.dumps(record, separators=(",", ":")))

    def flush(self) -> None:
        """All or, on an OSError, none: the lines stay for the next time, behind whatever part of them was written."""
        if not self._lines:
            return
        data = ("\n" * self._is_torn + "\n".join(self._lines) + "\n").encode()
        self._is_torn = True
        _write_all(self._fd, data)
        self._is_torn = False
        self._lines.clear()
        self._size += len(data)

    @property
    def is_large(self) -> bool:
        return self._size > self._limit

    def begin_anew(self, records: Iterable[Record]) -> None:
        """Replace the file by these records alone."""
        aside = self._path.with_suffix(".new")
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        lines = [json.dumps(record, separators=(",", ":")) for record in ({"boot": self._boot}, *records)]
        data = ("\n".join(lines) + "\n").encode()
        _write_all(fd, data)
        os.rename(aside, self._path)
        self.close()
        self._fd, self._size, self._limit = fd, len(data), 2 * len(data) + _LARGE_BYTES
        self._lines.clear()
        self._is_torn = False

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
