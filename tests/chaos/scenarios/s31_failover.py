"""31: how long it takes until somebody else does what a killed scheduler or worker would have done."""

import time
from dataclasses import replace
from typing import Final

from tests.acceptance.server import until
from tests.chaos.cluster import TTL_SECONDS, Cluster, cluster
from tests.chaos.process import Process
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.bodies import living
from tests.chaos.tools.failpoints import UNCOMMITTED, Failpoint
from tests.chaos.tools.holding import attempt_row, await_start, worker_of
from tests.chaos.tools.windows import longest
from waterclock import clock
from waterclock.chaos.report import in_words
from waterclock.domain.moment import SECOND, Moment

SCHEDULER_US: Final = 2 * SECOND
WORKER_US: Final = round((TTL_SECONDS + 3) * SECOND)
ROUNDS: Final = 3
WORKS: Final = 10
RUNS: Final = 6  # long ones, so that each worker has some


@scenario(31, "failover: a killed scheduler's share within 2 s, a killed worker's runs within TTL + 3 s")
def run(world: World) -> Result:
    with cluster(world, schedulers=2, workers=3) as c:
        victim = Failpoint(c.add("scheduler"), "fire_due", UNCOMMITTED)
        victim.process.start()
        for number in range(WORKS):
            c.every(f"second-{number}", 1)
        killed = [_killed_in_a_fire(victim) for _ in range(ROUNDS)]
        c.stop_triggers()
        c.job("long", living(60), retries=1)
        decided, begun = zip(*(_killed_worker(c, number) for number in range(ROUNDS)), strict=True)
        c.quiet()
        result = c.result(c.history(worker_losses=False))
    share = longest(_late_around(c, killed))
    notes = {
        "a killed scheduler's fires": f"{share / SECOND:.1f} s late at most",
        "a killed worker's runs": f"decided after {max(decided) / SECOND:.1f} s, begun again after"
        f" {max(begun) / SECOND:.1f} s at most",
    }
    told = replace(result, notes={**result.notes, **notes})
    told = told.unless(share <= SCHEDULER_US, f"a dead scheduler's fires were {in_words(share)} late")
    return told.unless(max(begun) <= WORKER_US, f"a dead worker's runs began again after {in_words(max(begun))}")


def _killed_in_a_fire(victim: Failpoint) -> Moment:
    """At the worst moment: its transaction has fired, holds the triggers, and is not committed."""
    victim.arm()
    victim.await_stop()
    victim.process.kill()
    at = clock.wall_us()
    time.sleep(SCHEDULER_US / SECOND)
    victim.process.start()
    return at


def _late_around(c: Cluster, kills: list[Moment]) -> list[int]:
    """Of what was due from just before each kill until all must be well again."""
    return [
        mark.late_us
        for mark in c.marks()
        if any(at - SECOND <= mark.fire_at <= at + SCHEDULER_US for at in kills) and mark.attempt == 0
    ]


def _killed_worker(c: Cluster, number: int) -> tuple[int, int]:
    """From the kill of a worker to the last decision, and to the last new start, of what it ran."""
    runs = [c.call(f"long-{number}-{each}", job="long") for each in range(RUNS)]
    for run in runs:
        await_start(c, run)
    by_worker: dict[Process, list[str]] = {}
    for run in runs:
        by_worker.setdefault(worker_of(c, run), []).append(run)
    victim, lost = max(by_worker.items(), key=lambda each: len(each[1]))
    victim.kill()
    killed_at = clock.wall_us()
    again = [await_start(c, run, 1).at - killed_at for run in lost]
    decided = [attempt_row(c, run, 0)["ended_at"] - killed_at for run in lost]
    c.glue().batch_stop_job_run(JobName="long", JobRunIds=[run for run in runs if run not in lost])
    until(lambda: not c.live(), "a stopped run lives")
    victim.start()
    return max(decided), max(again)
