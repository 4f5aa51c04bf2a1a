"""What is known of a cluster from outside: what its programs wrote, what the store holds, and which processes live."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from tests.chaos.process import processes, read
from tests.stores.raw import rows
from waterclock.chaos.checker import History
from waterclock.chaos.evidence import Mark
from waterclock.chaos.evidence import read as read_marks
from waterclock.domain.moment import Moment
from waterclock.domain.run import ENDED
from waterclock.stores.opening import database_from_url

T = TypeVar("T")


class Seen:
    """Asks beside the cluster, never through it."""

    def __init__(self, url: str, evidence: Path) -> None:
        self.url = url
        self.evidence = evidence
        self.called: dict[str, str] = {}  # the work of each call that was answered, by its run

    def marks(self) -> list[Mark]:
        return read_marks(self.evidence)

    def ask(self, sql: str) -> list[dict[str, Any]]:
        return list(asyncio.run(rows(self.url, sql)))

    def write(self, operation: Callable[..., Awaitable[T]], **values: Any) -> T:
        """An operation of the store's, beside the cluster."""

        async def run() -> T:
            database = database_from_url(self.url)
            await database.open()
            try:
                return await database.write(operation, **values)
            finally:
                await database.close()

        return asyncio.run(run())

    def stored(self) -> dict[tuple[str, int], str]:
        found = self.ask("SELECT wire_id, number, state FROM attempts")
        return {(row["wire_id"].partition("_attempt_")[0], row["number"]): row["state"] for row in found}

    def skipped(self) -> dict[str, list[tuple[Moment, Moment]]]:
        found: dict[str, list[tuple[Moment, Moment]]] = {}
        for row in self.ask("SELECT trigger_name, first_at, last_at FROM fires WHERE outcome = 'SKIPPED'"):
            found.setdefault(row["trigger_name"], []).append((row["first_at"], row["last_at"]))
        return found

    def failed(self, *reasons: str) -> dict[str, list[Moment]]:
        """The instants and calls whose run is FAILED in the store, with the reason: one of these, or any."""
        found: dict[str, list[Moment]] = {}
        sql = "SELECT wire_id, job_name, run_at, message FROM runs WHERE state = 'FAILED' AND message IS NOT NULL"
        for row in self.ask(sql):
            if reasons and not any(reason in row["message"] for reason in reasons):
                continue
            found.setdefault(self.called.get(row["wire_id"], row["job_name"]), []).append(row["run_at"])
        return found

    def unbegun(self, history: History) -> list[tuple[str, Moment]]:
        """What was due and is FAILED, and whose program never began: a worker died between the claim and the start."""
        ran = {(mark.work, mark.fire_at) for mark in history.starts} | {(mark.work, 0) for mark in history.starts}
        return [
            (work, at)
            for work, instants in history.failed.items()
            for at in instants
            if (work, 0 if work in history.calls else at) not in ran
        ]

    def carried(self) -> list[str]:
        """The runs of ours that a live process carries in its environment."""
        return [run for run, _ in self._carriers()]

    def _carriers(self) -> list[tuple[str, int]]:
        ours = {row["wire_id"] for row in self.ask("SELECT wire_id FROM attempts")}
        found = [(carried_run(pid), pid) for pid in processes()]
        return [(run.partition("_attempt_")[0], pid) for run, pid in found if run in ours]

    def live(self) -> int:
        """How many attempts have not ended."""
        states = ", ".join(f"'{state}'" for state in ENDED)
        return int(self.ask(f"SELECT COUNT(*) AS live FROM attempts WHERE state NOT IN ({states})")[0]["live"])


def carried_run(pid: int) -> str:
    """The run whose token a process carries; empty where it carries none."""
    return read(pid, "environ").partition(b"WATERCLOCK_RUN_ID=")[2].partition(b"\0")[0].decode(errors="replace")
