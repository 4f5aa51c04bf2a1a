"""8: the database server dies four times while triggers fire and clients ask for runs; once for longer than a lease."""

import signal
import time
from collections.abc import Callable
from typing import Final

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster, cluster
from tests.chaos.scenario import OwnServer, Result, World, scenario
from tests.chaos.tools.callers import calling
from waterclock import clock
from waterclock.chaos.checker import Answer

WORKS: Final = 8
BETWEEN_SECONDS: Final = 4.0
DOWN_SECONDS: Final = (0.0, 1.0, 5.0, 0.0)


@scenario(8, "the database server killed -9 and shut down at once, four times", stores=("postgres", "mariadb"))
def run(world: World) -> Result:
    server = world.own_server
    with cluster(world, schedulers=2, workers=2) as c:
        for number in range(WORKS):
            c.every(f"w{number}", 2, offset=number % 2)
        c.every("long", 20, body="import time\ntime.sleep(4)", retries=1)
        with calling(c) as callers:
            blows = (server.kill, _shut_down(server)) * 2
            waits = [_struck(c, server, blow, down) for blow, down in zip(blows, DOWN_SECONDS, strict=True)]
            time.sleep(BETWEEN_SECONDS)
        c.stop_triggers()
        c.quiet()
        answers = callers.answers
        assert answers[Answer.ACKNOWLEDGED], answers
        return c.result(
            acknowledged=answers[Answer.ACKNOWLEDGED],
            unknown=answers[Answer.UNKNOWN],
            slowest_recovery=f"{max(waits):.1f} s after the server was there again",
        )


def _shut_down(server: OwnServer) -> Callable[[], None]:
    """`immediate` of PostgreSQL, which leaves recovery to the next start; MariaDB knows only the orderly one."""
    return lambda: server.stop(signal.SIGQUIT if server.name == "postgres" else signal.SIGTERM)


def _struck(c: Cluster, server: OwnServer, blow: Callable[[], None], down_seconds: float) -> float:
    """How long until the triggers' programs begin again, from when the server was there again."""
    time.sleep(BETWEEN_SECONDS)
    blow()
    time.sleep(down_seconds)
    server.start()
    since, back_at = clock.monotonic(), clock.wall_us()
    until(lambda: _begun_since(c, back_at) >= WORKS, "nothing runs again", pause=0.05)
    return clock.monotonic() - since


def _begun_since(c: Cluster, moment: int) -> int:
    return sum(mark.at > moment and mark.work in c.planned for mark in c.marks())
