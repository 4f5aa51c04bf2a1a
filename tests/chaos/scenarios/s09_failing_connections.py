"""9: of all connections to the database some fail: before they are made, before a commit, after it."""

import time
from typing import Final

from tests.chaos.cluster import cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.callers import calling
from tests.chaos.tools.faulty_proxy import NO_FAULTS, Chances, faulty_proxy
from tests.chaos.tools.seed import chosen_seed
from waterclock.chaos.checker import Answer

CHANCES: Final = Chances(connect=0.2, before_commit=0.2, after_commit=0.2)
SECONDS: Final = 15.0


@scenario(
    9, "20 % of connections fail before connect, before and after commit", stores=("postgres", "mariadb"), short=True
)
def run(world: World) -> Result:
    seed = chosen_seed()
    with faulty_proxy(world.url, seed=seed) as proxy, cluster(world, schedulers=2, workers=2, db=proxy.url) as c:
        for number in range(8):
            c.every(f"w{number}", 2, offset=number % 2)
        c.every("long", 20, body="import time\ntime.sleep(6)", retries=1)  # its lease is renewed through all this
        with calling(c) as callers:
            proxy.chances = CHANCES
            time.sleep(SECONDS * world.seconds_scale)
            proxy.chances = NO_FAULTS
        c.stop_triggers()
        c.quiet()
        done, answers = dict(proxy.done), callers.answers
        assert all(count > 20 for count in done.values()), f"too few faults were tried: {done}"
        return c.result(
            seed=seed,
            faults=", ".join(f"{count} {what}" for what, count in done.items()),
            acknowledged=answers[Answer.ACKNOWLEDGED],
            unknown=answers[Answer.UNKNOWN],
        )
