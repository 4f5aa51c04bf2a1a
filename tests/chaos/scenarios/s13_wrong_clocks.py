"""13: every scheduler and worker has a wrong clock, by half a minute or an hour; the database's is right."""

import time
from typing import Final

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster, cluster
from tests.chaos.process import Process
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.callers import calling
from tests.chaos.tools.skewing import skewed
from waterclock.domain.moment import SECOND

SCHEDULERS: Final = (3600, -3600, 30)
WORKERS: Final = (3600, -3600, -30)
API: Final = -30
SECONDS: Final = 20.0
LATE_US: Final = 15 * SECOND  # less than the least of the errors: whoever went by such a clock is found
FLAKY: Final = 'import sys\nif os.environ["WATERCLOCK_ATTEMPT"] == "0": sys.exit(1)'


@scenario(13, "a node's clock is an hour or half a minute off", stores=("postgres", "mariadb"))
def run(world: World) -> Result:
    with cluster(world, schedulers=0, workers=0) as c:
        wrong = _started(c)
        for number in range(8):
            c.every(f"w{number}", 2, offset=number % 2)
        c.every("flaky", 5, body=FLAKY, retries=1)
        c.every("long", 10, body="import time\ntime.sleep(5)")  # longer than its lease
        with calling(c, glue=c.glue(api=1)):
            time.sleep(SECONDS * world.seconds_scale)
        c.stop_triggers()
        c.quiet()
        _check_warnings(c, wrong)
        history = c.history(worker_losses=False, late_bound_us=LATE_US)
        return c.result(history, skews=", ".join(f"{each:+} s" for each in wrong.values()))


def _started(c: Cluster) -> dict[Process, int]:
    wanted = [("api", API), *(("scheduler", each) for each in SCHEDULERS), *(("worker", each) for each in WORKERS)]
    wrong = {skewed(c, role, seconds): seconds for role, seconds in wanted}
    for process in wrong:
        process.start(wait=False)
    for process in wrong:
        process.await_ready()
    return wrong


def _check_warnings(c: Cluster, wrong: dict[Process, int]) -> None:
    """Each says so itself, and `waterclock status` says it of each."""
    for process, seconds in wrong.items():
        told = f"clock is {seconds:+}"
        until(lambda told=told, process=process: told in process.errors(), f"{process!r} does not say: {told}")  # type: ignore[misc]
    shown = c.cli("status")
    warnings = [line for line in shown.stdout.splitlines() if line.startswith("warning:") and "clock" in line]
    assert len(warnings) == len(wrong), f"`waterclock status` warns of {warnings}:\n{shown.stdout}{shown.stderr}"
