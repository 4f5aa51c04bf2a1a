"""Syncs as a worker has them run, from a process that has DuckDB: each run an attempt, its bookmark kept if it ends."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.lake.writers import numbers
from tests.services.account import dying_with_us
from tests.services.server import wait_until
from waterclock.domain.lake_sync import SyncMode
from waterclock.runners import bookmark_file
from waterclock.runners.lake import order as orders
from waterclock.runners.lake import report
from waterclock.runners.lake.order import Order
from waterclock.runners.sync.destinations import Own, destinations_of

PROGRAM: Final = Path(__file__).with_name("sync_program.py")
PATIENCE_SECONDS: Final = 60.0
BATCH_ROWS: Final = 500
SOURCE: Final = 1
DESTINATION: Final = 2  # where that is a database, which is a source as well


class Process:
    """A fork of the program: see sync_program.py."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE_SECONDS)
        self._socket.connect(str(path))
        self._line = self._socket.makefile("rw", encoding="utf-8")
        self.pid = int(self._line.readline())

    def ask(self, do: str, **more: object) -> None:
        print(json.dumps({"do": do, **more}), file=self._line, flush=True)

    def answer(self) -> Any:
        """None where it was killed."""
        text = self._line.readline()
        if not text:
            return None
        answer = json.loads(text)
        assert "failed" not in answer, answer["failed"]
        return answer["done"]

    def await_stop(self) -> None:
        """It has come to its point, and stopped."""
        wait_until(lambda: _state_of(self.pid) in ("T", ""), "the sync to stop at its point")

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        with suppress(OSError):
            self._line.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self._socket.close()


class Program:
    """Forks of one process that has imported everything, each as fresh as the first."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._path = folder / "syncs.sock"
        self.log = folder / "syncs.log"
        with self.log.open("wb") as log:
            program = dying_with_us(python, "-P", PROGRAM, self._path)
            self._mother = subprocess.Popen(program, cwd=folder, stdout=log, stderr=log)
        wait_until(self._is_ready, "the program of syncs", self.log.read_text)

    def take(self) -> Process:
        return Process(self._path)

    def ask(self, do: str, **more: object) -> Any:
        process = self.take()
        try:
            process.ask(do, **more)
            return process.answer()
        finally:
            process.close()

    def _is_ready(self) -> bool:
        assert self._mother.poll() is None, self.log.read_text()
        return self._path.exists()

    def close(self) -> None:
        self._mother.kill()
        self._mother.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """`code` is None where it was killed."""

    code: int | None
    points: tuple[str, ...] = ()
    reason: str = ""
    progress: Mapping[str, Any]


class Sync:
    """One job. `sources` are what its order names: `{id: (kind, config)}`; `order` is the rest of its surroundings."""

    def __init__(
        self,
        program: Program,
        folder: Path,
        task: Mapping[str, Any],
        sources: Mapping[int, tuple[str, Mapping[str, Any]]],
        **order: Any,
    ) -> None:
        self._program, self._folder, self._job = program, folder, next(numbers)
        self._kind = task.get("class_name", "sync_db_job")
        self._mode = SyncMode(task.get("sync_mode", SyncMode.FULL))
        self._task = {"source_id": SOURCE, "sync_mode": self._mode, **task}
        self._sources = tuple(
            {"id": number, "kind": kind, "config": config} for number, (kind, config) in sources.items()
        )
        self._order = order
        self.bookmark: str | None = None

    def run(self, at: int = 0) -> Ended:
        """To its end, or to its death at the point with that number; what it left is kept where it succeeded."""
        process, folder = self.begin(at, signal.SIGKILL)
        return self.end(process, folder)

    def begin(self, at: int, with_signal: signal.Signals) -> tuple[Process, Path]:
        attempt = next(numbers)
        folder = self._folder / f"attempt{attempt}"
        folder.mkdir(parents=True)
        process = self._program.take()
        process.ask(
            "run", order=str(self._ordered(attempt, folder)), at=at, signal_=int(with_signal), batch_rows=BATCH_ROWS
        )
        return process, folder

    def end(self, process: Process, folder: Path) -> Ended:
        answer = process.answer()
        process.close()
        said = report.read(folder)
        left = bookmark_file.path_in(folder)
        if answer and answer["code"] == 0 and left.exists():
            self.bookmark = left.read_text()
        return Ended(
            code=answer and answer["code"],
            points=tuple(answer["points"]) if answer else (),
            reason=said.reason or "",
            progress=said.progress or {},
        )

    def _ordered(self, attempt: int, folder: Path) -> Path:
        own = Own(clickhouse=self._order.get("clickhouse", {}).get("url", ""))
        order = Order(
            kind=self._kind,
            job_id=self._job,
            run_id=f"r{attempt}",
            attempt_id=attempt,
            task={**self._task, "destinations": destinations_of(self._task, self._mode, own)},
            cache=str(self._folder / "cache"),
            sources=self._sources,
            bookmark=self.bookmark,
            **{"allows_private": True, **self._order},
        )
        return orders.write(folder, order)


def _state_of(pid: int) -> str:
    """As /proc has it; empty where there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""
