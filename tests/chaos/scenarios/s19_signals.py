"""19: TERM, TERM five times, INT and QUIT to each role under load: each leaves in order, and what it did goes on."""

import signal
import time
from collections.abc import Sequence
from typing import Final

from tests.chaos.cluster import Cluster, cluster
from tests.chaos.process import Process
from tests.chaos.scenario import STORES, Result, World, scenario
from waterclock.domain.run import RunState

LEASE_SECONDS: Final = 15  # a role is started again within it, also on a busy machine
WAYS: Final[dict[str, Sequence[int]]] = {
    "TERM": (signal.SIGTERM,),
    "TERM×5": (signal.SIGTERM,) * 5,
    "INT": (signal.SIGINT,),
    "QUIT": (signal.SIGQUIT,),
}
EXITS: Final = (0, 1)  # 1: asked more than once, it did not wait


@scenario(19, "TERM, TERM×5, INT, QUIT to each role", stores=STORES, short=True)
def run(world: World) -> Result:
    slowest = 0.0
    with cluster(world, schedulers=2, workers=2, lease_seconds=LEASE_SECONDS) as c:
        for number in range(4):
            c.every(f"second-{number}", 1, "time.sleep(0.5)")
        c.job("called", "time.sleep(1)")
        for group in (c.apis, c.schedulers, c.workers):
            for way, signals in WAYS.items():
                c.call(f"called before {way} to {group[0].role}", job="called")
                slowest = max(slowest, _left(group[0], signals))
                group[0].start()
        c.stop_triggers()
        c.quiet()
        _all_succeeded(c)
        return c.result(c.history(worker_losses=False), slowest_to_leave=f"{slowest:.1f} s")


def _left(process: Process, signals: Sequence[int]) -> float:
    began = time.monotonic()
    for number in signals:
        if process.alive:
            process.send(number)
    code = process.wait()
    assert code in EXITS, f"{process!r} ended with {code}"
    return time.monotonic() - began


def _all_succeeded(c: Cluster) -> None:
    """Nothing was interrupted: programs go on under their supervisor, for the worker that comes back."""
    others = {attempt: state for attempt, state in c.stored().items() if state != RunState.SUCCEEDED}
    assert not others, others
