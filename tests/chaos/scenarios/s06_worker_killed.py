"""6: a worker is killed whose jobs have children in sessions of their own that ignore TERM; so is its supervisor."""

import os
import time
from typing import Final

from tests.acceptance.server import until
from tests.chaos.cluster import TTL_SECONDS, Cluster, cluster
from tests.chaos.process import Process, kill_all
from tests.chaos.scenario import STORES, Result, World, scenario
from tests.chaos.tools.bodies import STUBBORN, STUBBORN_PROCESSES
from tests.chaos.tools.holding import attempt_row, await_start, carriers, parent_of, pid_of
from tests.chaos.tools.remote import remote_worker
from waterclock.chaos.evidence import ALIVE

WITHIN_SECONDS: Final = TTL_SECONDS + 2
ALL_BUT_PROGRAMS: Final = "all but the programs"  # the worker comes back: nobody else could find what is left
OVER_HTTP: Final = "worker over HTTP"
VARIANTS: Final = ("worker", "worker and supervisor", ALL_BUT_PROGRAMS, OVER_HTTP)


@scenario(6, "SIGKILL a worker under programs with stubborn children", stores=STORES, short=True)
def run(world: World) -> Result:
    notes = {}
    with cluster(world, schedulers=2, workers=1) as c:
        c.job("retried", STUBBORN, retries=1)
        c.job("not retried", STUBBORN)
        for variant in VARIANTS:
            notes[variant] = _killed(c, variant)
        c.quiet()
        return c.result(c.history(worker_losses=False), **notes)


def _killed(c: Cluster, variant: str) -> str:
    """The last worker dies, a new one takes over; what the first ran is dead in time, and tried again if allowed."""
    victim = _over_http(c) if variant == OVER_HTTP else c.workers[-1]
    runs = [c.call(f"{job} when the {variant} died", job=job) for job in ("retried", "not retried")]
    for run in runs:
        await_start(c, run, event=ALIVE)
        until(lambda run=run: len(carriers(run)) == STUBBORN_PROCESSES, "the children never came up")  # type: ignore[misc]
    doomed = _doomed(c, victim, runs, variant)
    began = time.monotonic()
    kill_all(doomed)
    victim.wait()
    successor = victim if variant == ALL_BUT_PROGRAMS else c.add("worker")
    successor.start(wait=False)
    if variant == ALL_BUT_PROGRAMS:
        successor.await_ready()
        began = time.monotonic()  # before that nobody is there to do it
    until(lambda: not any(carriers(run) for run in runs), "an orphan lives", WITHIN_SECONDS)
    gone = time.monotonic() - began
    successor.await_ready()
    await_start(c, runs[0], 1)
    until(lambda: attempt_row(c, runs[1], 0)["state"] == "FAILED", "the lost attempt was not decided")
    assert not attempt_row(c, runs[1], 1), "a run without retries was tried again"
    return f"all dead {gone:.1f} s after {'its return' if variant == ALL_BUT_PROGRAMS else 'the kill'}"


def _over_http(c: Cluster) -> Process:
    """In the place of the last worker."""
    c.workers[-1].stop()
    victim = remote_worker(c, c.address)
    victim.start()
    return victim


def _doomed(c: Cluster, victim: Process, runs: list[str], variant: str) -> list[int]:
    if variant in ("worker", OVER_HTTP):
        return [victim.pid]
    if variant == "worker and supervisor":
        return [victim.pid, *victim.supervisors()]
    keepers = [parent_of(pid_of(c, run)) for run in runs]
    assert os.getpid() not in keepers
    return [*keepers, victim.pid, *victim.pids()]
