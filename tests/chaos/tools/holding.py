"""Who holds a run: the worker that claimed it, the keeper above its program, the processes that carry its token."""

from typing import Any

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster
from tests.chaos.process import Process, processes, read
from tests.chaos.seen import carried_run
from waterclock.chaos.evidence import START, Mark


def attempt_row(c: Cluster, run: str, number: int) -> dict[str, Any]:
    found = c.ask(
        f"SELECT a.* FROM attempts a JOIN runs r ON r.id = a.run_id WHERE r.wire_id = '{run}' AND a.number = {number}"
    )
    return found[0] if found else {}


def worker_of(c: Cluster, run: str, number: int = 0) -> Process:
    """By the host that the store says it runs on."""
    host = attempt_row(c, run, number)["host"]
    (found,) = (worker for worker in c.workers if (worker.folder / "host-id").read_text().strip() == host)
    return found


def pid_of(c: Cluster, run: str) -> int:
    """Of its program, once the store knows it."""
    return int(until(lambda: attempt_row(c, run, 0).get("pid"), f"{run} has no process"))


def parent_of(pid: int) -> int:
    return int(read(pid, "stat").rpartition(b")")[2].split()[1])


def carriers(run: str) -> list[int]:
    """The live processes with the token of exactly this attempt (`jr_…`, `jr_…_attempt_1`)."""
    return [pid for pid in processes() if carried_run(pid) == run]


def await_start(c: Cluster, run: str, number: int = 0, event: str = START) -> Mark:
    """Its mark, once it is there."""

    def found() -> Mark | None:
        return next((mark for mark in c.marks() if mark.of == (run, number) and mark.event == event), None)

    mark = until(found, f"attempt {number} of {run} never started")
    assert isinstance(mark, Mark)
    return mark
