"""3: a random scheduler of three is killed every 3 s, and started again."""

from typing import Final

from tests.chaos.cluster import cluster
from tests.chaos.scenario import STORES, Result, World, scenario
from tests.chaos.tools.killing import Kills
from waterclock.domain.moment import SECOND

EVERY_SECOND: Final = 8
EVERY_FIVE: Final = 20
LATE_US: Final = 2 * SECOND


@scenario(3, "SIGKILL a random scheduler every 3 s", stores=STORES, short=True)
def run(world: World) -> Result:
    kills = Kills()
    with cluster(world, schedulers=3, workers=2) as c:
        for number in range(EVERY_SECOND):
            c.every(f"second-{number}", 1)
        for number in range(EVERY_FIVE):
            c.every(f"five-{number}", 5, offset=number % 5)
        kills.for_a_while(c.schedulers, seconds=30 * world.seconds_scale, every=3)
        kills.settle(c.schedulers)
        c.stop_triggers()
        c.quiet()
        return c.result(c.history(worker_losses=False, late_bound_us=LATE_US), kills=len(kills))
