"""5: a worker stops past the TTL while a job runs: alone, with its supervisor, with the keeper of the job."""

import os
import signal
from collections.abc import Callable
from typing import Final

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster, cluster
from tests.chaos.process import state_of
from tests.chaos.scenario import STORES, Result, World, scenario
from tests.chaos.tools.bodies import living
from tests.chaos.tools.holding import attempt_row, await_start, carriers, parent_of, pid_of, worker_of
from waterclock.chaos.evidence import START, Mark
from waterclock.domain.moment import SECOND

MARGIN_SECONDS: Final = 3.0  # a supervisor gives a keeper two seconds to see by itself that the lease is over
WHO: Final[dict[str, Callable[[Cluster, str], list[int]]]] = {
    "worker": lambda c, run: [worker_of(c, run).pid],
    "worker and supervisor": lambda c, run: [worker_of(c, run).pid, *worker_of(c, run).supervisors()],
    "supervisor": lambda c, run: worker_of(c, run).supervisors(),
    "worker and keeper": lambda c, run: [worker_of(c, run).pid, parent_of(pid_of(c, run))],
}


@scenario(5, "SIGSTOP a worker, its supervisor, a keeper past the TTL while a job runs", stores=STORES)
def run(world: World) -> Result:
    notes = {}
    with cluster(world, schedulers=2, workers=2, lease_margin_seconds=MARGIN_SECONDS) as c:
        c.job("long", living(9), retries=1)
        for who, stopped in WHO.items():
            notes[who] = _paused(c, who, lambda run, stopped=stopped: stopped(c, run))  # type: ignore[misc]
        c.quiet()
        return c.result(c.history(worker_losses=False), **notes)


def _paused(c: Cluster, who: str, pids_of: Callable[[str], list[int]]) -> str:
    """How long after the last sign of life of the first attempt the next one began."""
    run = c.call(f"while the {who} is paused", job="long")
    await_start(c, run)
    pids = pids_of(run)
    pid_of(c, run)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        again = until(lambda: _later(c, run), f"{run} was not tried again")
        alive = carriers(run)
        assert not alive, f"{who} paused: the first attempt lives in {alive} when the next has begun"
        last = max(mark.at for mark in c.marks() if mark.of == (run, 0))
        decided = attempt_row(c, run, 0)
        assert decided["state"] == "FAILED", decided
    finally:
        for pid in pids:
            if state_of(pid):
                os.kill(pid, signal.SIGCONT)
    assert sum(mark.of == (run, 0) and mark.event == START for mark in c.marks()) == 1
    assert attempt_row(c, run, 0) == {**decided, "updated_at": attempt_row(c, run, 0)["updated_at"]}
    return f"attempt {again.attempt} began {(again.at - last) / SECOND:.1f} s after the end of the first"


def _later(c: Cluster, run: str) -> Mark | None:
    return next((mark for mark in c.marks() if mark.run == run and mark.attempt and mark.event == START), None)
