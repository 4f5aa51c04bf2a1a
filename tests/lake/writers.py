"""Outputs as an executor uses them, from a process that has pyarrow; what they refuse is raised with their words."""

import itertools
import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.services.server import wait_until

PLAIN: Final = {"id": "int64", "name": "string"}
LARGE: Final[list[tuple[int, str]]] = [(number, "x" * 1000) for number in range(1000)]  # a megabyte
numbers: Final = itertools.count(1)  # of attempts, folders, buckets and databases: each only once


class OutputRefused(Exception):
    """What the outputs said."""


class Writer:
    """A process that has pyarrow: see writing.py."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._line = self._socket.makefile("rw", encoding="utf-8")
        self._pid = int(self._line.readline())

    def tell(self, do: str, **more: object) -> Any:
        print(json.dumps({"do": do, **more}), file=self._line, flush=True)
        answer = json.loads(self._line.readline() or '{"failed": "the writer has died"}')
        if "failed" in answer:
            raise OutputRefused(answer["failed"])
        return answer["done"]

    def kill(self) -> None:
        with suppress(ProcessLookupError, OSError):
            os.kill(self._pid, signal.SIGKILL)
            self._line.read()  # until it is dead
        self.close()

    def close(self) -> None:
        with suppress(OSError):
            self._line.close()
        self._socket.close()


class Writers:
    """Forks of one process that has imported everything, each as fresh as the first."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._path = folder / "writers.sock"
        self._mother = subprocess.Popen([python, Path(__file__).with_name("writing.py"), self._path], cwd=folder)
        wait_until(self._path.exists, "the writers")

    def take(self) -> Writer:
        return Writer(self._path)

    def close(self) -> None:
        self._mother.kill()
        self._mother.wait()


class Outputs:
    """One list of outputs, in the order's surroundings; every run of it is an attempt of its own."""

    def __init__(
        self, writers: Writers, given: Sequence[Mapping[str, Any]], order: Mapping[str, Any], job: int
    ) -> None:
        self._writers, self._given, self._order, self._job = writers, given, order, job
        self._writer = writers.take()

    def begin(self, columns: Mapping[str, str], rows: Sequence[Sequence[object]], *, times: int = 1) -> None:
        """Up to where it could be committed."""
        self.make()
        self.tell("sweep")
        self.tell("open", columns=columns)
        self.tell("write", rows=rows, times=times)

    def make(self, *, attempt: int | None = None) -> int:
        attempt = next(numbers) if attempt is None else attempt
        self.tell("make", outputs=self._given, attempt=attempt, job=self._job, order=self._order)
        return attempt

    def put(self, columns: Mapping[str, str], rows: Sequence[Sequence[object]], *, times: int = 1) -> Any:
        """A whole run; what was refused is aborted, as an executor does it."""
        try:
            self.begin(columns, rows, times=times)
            return self.tell("commit")
        except OutputRefused:
            self.tell("abort")
            raise

    def tell(self, do: str, **more: object) -> Any:
        return self._writer.tell(do, **more)

    def kill(self) -> None:
        """-9; the next call is answered by another process."""
        self._writer.kill()
        self._writer = self._writers.take()

    def die(self, calls: int) -> None:
        """-9, by itself, before so many more calls of whatever it writes to."""
        self.tell("die", calls=calls)

    def close(self) -> None:
        self._writer.close()
