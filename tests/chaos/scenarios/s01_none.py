"""1: no fault. Three schedulers share 200 triggers, two workers run what they fire."""

import time
from typing import Final

from tests.chaos.cluster import cluster
from tests.chaos.scenario import STORES, Result, World, scenario
from waterclock.chaos.report import in_words, percentile
from waterclock.domain.moment import SECOND

TRIGGERS: Final = 200
EVERY_SECONDS: Final = 20
WATCHED_SECONDS: Final = 25


@scenario(1, "no fault: 3 schedulers, 2 workers, 200 triggers", stores=STORES)
def run(world: World) -> Result:
    with cluster(world, schedulers=3, workers=2) as c:
        for number in range(TRIGGERS):
            c.every(f"job-{number:03}", EVERY_SECONDS, offset=number % EVERY_SECONDS)
        time.sleep(WATCHED_SECONDS * world.seconds_scale)
        c.stop_triggers()
        c.quiet()
        result = c.result(c.history(worker_losses=False))
    late = percentile(result.late_us) or 0
    return result.unless(late < SECOND, f"p99 of the lateness is {in_words(late)}")
