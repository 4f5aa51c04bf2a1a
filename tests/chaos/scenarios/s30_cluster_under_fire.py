"""30: three schedulers and three workers, one over HTTP; one of each is killed every 3 s, PostgreSQL restarts twice."""

from contextlib import ExitStack
from typing import Final

from tests.chaos.cluster import WORKER_GONE, Cluster, cluster
from tests.chaos.scenario import OwnServer, Result, World, scenario
from tests.chaos.tools.killing import Kills
from tests.chaos.tools.namespace import Namespace, namespace
from tests.chaos.tools.remote import remote_worker
from tests.chaos.tools.windows import Windows
from waterclock import clock
from waterclock.chaos.report import in_words, percentile
from waterclock.domain.moment import SECOND

SECONDS: Final = 60.0
EVERY_SECONDS: Final = 3.0
RESTARTS: Final = (20.0, 41.0)  # of PostgreSQL, by the clock of the run: once killed, once shut down
AFTER_A_RESTART_US: Final = 2 * SECOND  # until every process has its connections again
WINDOW_US: Final = 1_500_000  # after a kill, at most
BOUND_US: Final = 250_000


@scenario(30, "3 schedulers, 3 workers, one of each killed every 3 s for 60 s, PostgreSQL restarted twice")
def run(world: World) -> Result:
    kills = Kills(longest_us=WINDOW_US)
    windows = kills.windows
    with ExitStack() as stack:
        apart = stack.enter_context(namespace())
        c = stack.enter_context(cluster(world, schedulers=3, workers=2))
        _add_remote(c, apart)
        for number in range(6):
            c.every(f"second-{number}", 1, retries=number % 2)
        for number in range(10):
            c.every(f"five-{number}", 5, "time.sleep(0.3)", offset=number % 5, retries=number % 2)
        restarts = Restarts(world.own_server, windows)
        kills.for_a_while(c.schedulers, c.workers, seconds=SECONDS, every=EVERY_SECONDS, meanwhile=restarts)
        kills.settle(c.schedulers, c.workers)
        c.stop_triggers()
        c.quiet()
        history = c.history(failed=c.failed(*WORKER_GONE))
        for _, at in kills.of:
            windows.add(at - BOUND_US, at)  # what was under way when it died
        outside = windows.late_outside(history)
        late = percentile(outside) or 0
        result = c.result(
            history,
            kills=len(kills),
            outside_fault_windows=f"{len(outside)} fires, late p99 {in_words(late)}",
            fault_windows=f"{windows.covered_us() / SECOND:.0f} s",
            the_worker_over_HTTP="in a network namespace" if apart else "on loopback: no namespace may be made here",
            **({"started again after they had left by themselves": kills.revived} if kills.revived else {}),
        )
        return result.unless(late < BOUND_US, f"outside fault windows p99 of the lateness is {in_words(late)}")


class Restarts:
    """PostgreSQL goes and comes back, at its moments; whatever else happens waits for it."""

    def __init__(self, server: OwnServer, windows: Windows) -> None:
        self._server = server
        self._windows = windows
        self._due = list(RESTARTS)

    def __call__(self, passed: float) -> None:
        if not self._due or passed < self._due[0]:
            return
        began = clock.wall_us()
        if len(self._due) == len(RESTARTS):
            self._server.kill()
        else:
            self._server.stop()
        self._server.start()
        self._windows.add(began - BOUND_US, clock.wall_us() + AFTER_A_RESTART_US)
        del self._due[0]


def _add_remote(c: Cluster, apart: Namespace | None) -> None:
    """With an API at the address that the namespace sees, or on loopback."""
    own = {"host": apart.outside} if apart else {}
    api = c.add("api", **own)
    api.start()
    address = f"http://{apart.outside if apart else '127.0.0.1'}:{api.settings['port']}"
    remote_worker(c, address, prefix=apart.prefix if apart else ()).start()
