"""4: a scheduler stops past the TTL inside a fire, before and after its commit, and goes on as if nothing had been."""

import time
from typing import Final

from tests.acceptance.server import until
from tests.chaos.cluster import TTL_SECONDS, Cluster, cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.failpoints import COMMITTED, UNCOMMITTED, Failpoint
from waterclock import clock
from waterclock.domain.moment import Moment

WORKS: Final = 6
PAUSED_SECONDS: Final = TTL_SECONDS + 2


@scenario(4, "SIGSTOP a scheduler past the TTL before and after a commit", stores=("postgres", "mariadb"), short=True)
def run(world: World) -> Result:
    """Not on SQLite: there a writer that stops holds the one lock until it goes on, and nobody can take it away."""
    with cluster(world, schedulers=1, workers=2) as c:
        zombies = [_zombie(c, moment) for moment in (UNCOMMITTED, COMMITTED)]
        for number in range(WORKS):
            c.every(f"job-{number}", 1)
        for zombie in zombies:
            zombie.arm()
            zombie.await_stop()
            stopped_at = clock.wall_us()
            time.sleep(PAUSED_SECONDS)
            _others_fired(c, stopped_at)
            zombie.process.resume()
            until(lambda zombie=zombie: len(zombie.told()) >= 2, "the zombie never fired again")  # type: ignore[misc]
        c.stop_triggers()
        c.quiet()
        uncommitted, committed = (zombie.told()[0] for zombie in zombies)
        # Its transaction was taken away: it was told so, or, run again from the start, found nothing left to fire.
        assert uncommitted["outcome"] != "written" or uncommitted["triggers"] == 0, uncommitted
        assert committed["outcome"] == "written", committed
        notes = {"the zombie's commit": uncommitted["outcome"]}
        return c.result(c.history(worker_losses=False), **notes)


def _zombie(c: Cluster, moment: str) -> Failpoint:
    process = c.add("scheduler")
    point = Failpoint(process, "fire_due", moment)
    process.start()
    return point


def _others_fired(c: Cluster, since: Moment) -> None:
    works = {mark.work for mark in c.marks() if mark.fire_at > since}
    assert len(works) == WORKS, f"while a scheduler was stopped only {sorted(works)} fired"
