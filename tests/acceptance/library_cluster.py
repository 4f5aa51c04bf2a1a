"""Programs of a user's that share a store through the library: started, killed, paused, and asked what became of it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.acceptance.library_ledger import Fire, Ledger, Line, Try, read_lines
from tests.acceptance.server import DEADLINE_SECONDS, REPO
from tests.stores.raw import rows
from waterclock import clock
from waterclock.chaos.evidence import END, START
from waterclock.domain.moment import Moment
from waterclock.domain.run import ENDED

FINAL: Final = ", ".join(f"'{state}'" for state in (*ENDED, "SKIPPED"))

Job = Mapping[str, Any]


class Process:
    """One program, with a scheduler in it."""

    def __init__(self, url: str, lease_seconds: float, jobs: Path, log: Path) -> None:
        self.log = log
        with log.open("a") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.acceptance.library_program", url, str(lease_seconds), str(jobs)],
                cwd=REPO,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self.pid = self._process.pid
        self._is_ready = False

    def await_ready(self) -> None:
        """It says so once, and may be asked as often as one likes."""
        assert self._process.stdout
        self._is_ready = self._is_ready or self._process.stdout.readline() == "ready\n"
        assert self._is_ready, self.log.read_text()

    def send(self, sign: signal.Signals) -> None:
        os.kill(self.pid, sign)

    def kill(self) -> None:
        """-9, unless it has ended by itself, which nobody asked for."""
        assert self._process.poll() is None, self.log.read_text()
        self._process.kill()
        self._close()

    def stop(self) -> None:
        """As its user would: it ends in order."""
        self._close()
        assert self._process.returncode == 0, self.log.read_text()

    def clean_up(self) -> None:
        self._process.kill()
        self._close()

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            pipe.close()
        self._process.wait(DEADLINE_SECONDS)


class Cluster:
    """The programs, the store that they share, and what is known of both."""

    def __init__(self, folder: Path, url: str, *, lease_seconds: float) -> None:
        self.url = url
        self.folder = folder
        self.evidence = folder / "evidence"
        self.killed: list[int] = []
        self._lease_seconds = lease_seconds
        self._started: list[Process] = []

    def start(self, *jobs: Job) -> Process:
        number = len(self._started)
        told = self.folder / f"jobs-{number}.json"
        told.write_text(json.dumps(jobs))
        process = Process(self.url, self._lease_seconds, told, self.folder / f"program-{number}.log")
        self._started.append(process)
        return process

    def job(self, work: str, *, lasts: float = 0, gate: Path | None = None, **options: Any) -> Job:
        call = [str(self.evidence), work, lasts, str(gate or "")]
        return {"id": work, "args": call, "replace_existing": True, **options}

    def kill(self, process: Process) -> None:
        process.kill()
        self.killed.append(process.pid)

    def pause(self, process: Process) -> None:
        """Longer than its lease, so that its runs are given up as those of a killed one are."""
        process.send(signal.SIGSTOP)
        self.killed.append(process.pid)

    def lines(self) -> list[Line]:
        return read_lines(self.evidence)

    def ends(self) -> list[Line]:
        return [line for line in self.lines() if line.event == END]

    def is_in_a_job(self, process: Process) -> bool:
        mine = [line for line in self.lines() if line.pid == process.pid]
        return {line.call for line in mine if line.event == START} > {line.call for line in mine if line.event == END}

    def is_quiet(self) -> bool:
        """Nothing will fire any more, and all that fired has ended."""
        (left,) = self.ask(
            "SELECT (SELECT COUNT(*) FROM triggers WHERE next_fire_at IS NOT NULL) AS triggers,"
            f" (SELECT COUNT(*) FROM runs WHERE state NOT IN ({FINAL})) AS runs,"
            " (SELECT COUNT(*) FROM bundles) AS bundles"
        )
        return left == {"triggers": 0, "runs": 0, "bundles": 0}

    def ledger(self, due: Mapping[str, Sequence[Moment]]) -> Ledger:
        return Ledger(
            fires=[
                Fire(
                    work=row["trigger_name"],
                    outcome=row["outcome"],
                    first_at=row["first_at"],
                    last_at=row["last_at"],
                    instants=row["instants"],
                )
                for row in self.ask("SELECT * FROM fires ORDER BY id")
            ],
            tries=self.tries(),
            lines=self.lines(),
            due=due,
            killed=self.killed,
            read_at=clock.wall_us(),
        )

    def tries(self) -> list[Try]:
        found = self.ask(
            "SELECT r.job_name, r.wire_id, r.run_at, r.retries, a.id, a.number, a.state, a.message, a.output, n.pid"
            " FROM attempts a JOIN runs r ON r.id = a.run_id AND r.run_at = a.run_at"
            " LEFT JOIN nodes n ON n.id = a.node ORDER BY a.id"
        )
        moves = [move for row in self.ask("SELECT moves FROM transitions") for move in json.loads(row["moves"])]
        ends = Counter(attempt_id for attempt_id, _, state, _ in moves if state in ENDED)
        return [
            Try(
                work=row["job_name"],
                run=row["wire_id"],
                number=row["number"],
                fire_at=row["run_at"],
                state=row["state"],
                message=row["message"],
                call=row["output"] and json.loads(row["output"]),
                pid=row["pid"],
                ends=ends[row["id"]],
                retries=row["retries"],
            )
            for row in found
        ]

    def ask(self, sql: str) -> list[dict[str, Any]]:
        return list(asyncio.run(rows(self.url, sql)))

    def errors(self) -> list[str]:
        """What the programs complained of. What they say of runs that they skip or decide is no complaint."""
        words = ("ERROR", "CRITICAL", "Traceback")
        logs = [process.log.read_text().splitlines() for process in self._started]
        return [line for log in logs for line in log if line.startswith(words)]

    def clean_up(self) -> None:
        for process in self._started:
            process.clean_up()


@contextmanager
def cluster(folder: Path, url: str, *, lease_seconds: float = 3) -> Iterator[Cluster]:
    found = Cluster(folder, url, lease_seconds=lease_seconds)
    try:
        yield found
    finally:
        found.clean_up()
