"""Pickles are read by a process of their own, row by row: one that kills it, or hangs, costs its own row alone."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any, BinaryIO, Final

from waterclock import clock
from waterclock.faces.cli.failure import Failure
from waterclock.faces.cli.importing.apscheduler.reading import Row

MODULE: Final = "waterclock.faces.library.unpickling"
START_SECONDS: Final = 60.0
ROW_SECONDS: Final = 30.0
CHUNK: Final = 1 << 16
STANDARD_ERROR: Final = 2
LAST_SECONDS: Final = 1.0  # for a process that has closed its end to be gone, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a row: a job, as `waterclock.faces.library.importing` writes it, or why there is none."""

    row: Row
    job: Mapping[str, Any] | None = None
    reason: str | None = None


def unpickled(rows: Sequence[Row], *, serializer: str, row_seconds: float = ROW_SECONDS) -> Iterator[Answer]:
    """One for each row, in their order, as they come."""
    done = 0
    with TemporaryFile() as file:
        for row in rows:
            state = b64encode(row.state).decode()
            file.write(json.dumps({"id": row.id, "next_at": row.next_at, "state": state}).encode() + b"\n")
        while done < len(rows):
            with Child(file, done, serializer, row_seconds) as child:
                for answer in child.answers(rows[done:]):
                    done += 1
                    yield answer


class Child:
    """One process, from its first row to the end, or to the row that it does not survive."""

    def __init__(self, rows: BinaryIO, first: int, serializer: str, row_seconds: float) -> None:
        self._first, self._seconds = first, row_seconds
        self._heard = b""
        self._answers, theirs = os.pipe()
        rows.seek(0)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE, str(theirs), str(first), serializer],
                stdin=rows,
                stdout=STANDARD_ERROR,
                pass_fds=[theirs],
                start_new_session=True,
            )
        finally:
            os.close(theirs)
        os.set_blocking(self._answers, False)
        self._ended = os.pidfd_open(self._process.pid)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._answers, selectors.EVENT_READ)
        self._selector.register(self._ended, selectors.EVENT_READ)

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._kill()
        self._selector.close()
        os.close(self._ended)
        os.close(self._answers)

    def answers(self, rows: Sequence[Row]) -> Iterator[Answer]:
        """Until all are answered, or one is lost: its answer is the last."""
        try:
            ready = self._line(START_SECONDS)
        except TimeoutError as silence:
            raise Failure(f"the process that reads pickles did not start: {silence}") from None
        if ready is None:
            raise Failure(f"the process that reads pickles did not start: {self._how_it_ended()}")
        for place, row in enumerate(rows, self._first):
            try:
                line = self._line(self._seconds)
            except TimeoutError:
                yield Answer(row=row, reason=f"reading it took longer than {self._seconds:g} s, and was given up")
                return
            if line is None:
                yield Answer(row=row, reason=f"reading it ended its process: {self._how_it_ended()}")
                return
            answer = _answer(row, place, line)
            yield answer or Answer(row=row, reason="its process answered with something else")
            if answer is None:
                return

    def _line(self, seconds: float) -> bytes | None:
        """None: there will be no more. TimeoutError where it is silent for too long."""
        until = clock.monotonic() + seconds
        while b"\n" not in self._heard:
            if not self._selector.select(max(0.0, until - clock.monotonic())):
                raise TimeoutError(f"no answer within {seconds:g} s")
            try:
                chunk = os.read(self._answers, CHUNK)
            except BlockingIOError:  # it has ended, and somebody whom it has left behind holds the pipe
                return None
            if not chunk:
                return None
            self._heard += chunk
        line, _, self._heard = self._heard.partition(b"\n")
        return line

    def _how_it_ended(self) -> str:
        """Not yet waited for: its number must not be another's when it is killed."""
        self._selector.unregister(self._answers)
        ended = self._selector.select(LAST_SECONDS)
        told = os.waitid(os.P_PIDFD, self._ended, os.WEXITED | os.WNOWAIT) if ended else None
        if told is None:
            return "it closed what it was to answer on"
        if told.si_code == os.CLD_EXITED:
            return f"exit code {told.si_status}"
        return f"signal {signal.Signals(told.si_status).name}"

    def _kill(self) -> None:
        """It, and whatever it has started in its session."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _answer(row: Row, place: int, line: bytes) -> Answer | None:
    """None for what nobody but the pickle's own code can have written."""
    try:
        match json.loads(line):
            case {"row": int(told), "job": dict(job)} if told == place:
                return Answer(row=row, job=job)
            case {"row": int(told), "reason": str(reason)} if told == place:
                return Answer(row=row, reason=reason)
    except ValueError:
        pass
    return None
