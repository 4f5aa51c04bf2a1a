"""26: a cluster of the version before is replaced node by node, under load, while the present one migrates its store.

Programs that the older worker began are adopted by the newer one from the older supervisor; an older node that is
started once more on the migrated store goes on; the newer worker is drained before it is stopped.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.holding import await_start, worker_of
from tests.chaos.tools.older import as_older, as_present, older_source
from waterclock.domain.run import RunState
from waterclock.stores.dialect import POSTGRES
from waterclock.stores.migrations import migrations

LEASE_SECONDS: Final = 15  # a role is started again within it, also on a busy machine
TRIGGERS: Final = 6
FEW: Final = 4  # slots of the older worker: what is due in one second is more
SIDE_BY_SIDE_SECONDS: Final = 6.0
STEPS: Final = len(migrations(POSTGRES))  # on every store the same


@scenario(26, "rolling upgrade: two versions side by side", stores=("postgres", "mariadb", "sqlite"))
def run(world: World) -> Result:
    source = older_source(world.folder / "older")
    with _older_cluster(world, source) as c:
        for number in range(TRIGGERS):
            c.every(f"second-{number}", 1, "time.sleep(0.3)")
        c.call("begun by the older worker", body="time.sleep(12)")
        begun = await_start(c, _run_of(c, "begun by the older worker")).run
        assert _steps(c) == STEPS - 1, "the older version makes the older schema: see tools/older.BEFORE"
        c.add("scheduler").start()  # of the present version: it migrates the store
        c.add("worker").start()
        assert _steps(c) == STEPS
        until(lambda: len(_hosts_of_runs(c)) == 2, "one of the workers runs nothing")
        time.sleep(SIDE_BY_SIDE_SECONDS * world.seconds_scale)
        _replace_the_older(c, source)
        after = worker_of(c, begun)
        assert after is c.workers[0], "the older worker's run stayed on its host"
        _drained_and_stopped(c)
        time.sleep(2)
        c.stop_triggers()
        c.quiet()
        _all_succeeded(c)
        return c.result(c.history(worker_losses=False), failed_rounds=_failed_rounds(c))


@contextmanager
def _older_cluster(world: World, source: Path) -> Iterator[Cluster]:
    c = Cluster(world, lease_seconds=LEASE_SECONDS)
    try:
        for role, settings in (("api", {}), ("scheduler", {}), ("worker", {"worker_slots": FEW})):
            as_older(c.add(role, **settings), source).start()
        yield c
    finally:
        c.clean_up()


def _replace_the_older(c: Cluster, source: Path) -> None:
    """One at a time; the scheduler is started once more as it was before, on the store that is one step ahead."""
    scheduler, worker, api = c.schedulers[0], c.workers[0], c.apis[0]
    scheduler.stop()
    as_older(scheduler, source).start()
    c.call("called between the versions")
    for process in (scheduler, worker, api):
        process.stop()
        as_present(process).start()


def _drained_and_stopped(c: Cluster) -> None:
    """The present version's second worker, by the command line: it ends what runs, and takes nothing more."""
    c.call("begun before the drain", body="time.sleep(2)")
    host = (c.workers[1].folder / "host-id").read_text().strip()
    node = c.ask(f"SELECT id FROM nodes WHERE host = '{host}' AND stopped_at IS NULL ORDER BY started_at DESC")[0]["id"]
    said = c.cli("node", "drain", node, "--wait", "--json")
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)[0]["standing"] == "drained", said.stdout
    assert not c.ask(f"SELECT id FROM attempts WHERE node = '{node}' AND lease_until IS NOT NULL")
    c.workers[1].stop()


def _run_of(c: Cluster, work: str) -> str:
    def found() -> str:
        return next((mark.run for mark in c.marks() if mark.work == work), "")

    return str(until(found, f"{work} never started"))


def _steps(c: Cluster) -> int:
    return int(c.ask("SELECT MAX(version) AS step FROM schema_migrations")[0]["step"])


def _hosts_of_runs(c: Cluster) -> list[Any]:
    return c.ask("SELECT DISTINCT host FROM attempts WHERE host IS NOT NULL")


def _failed_rounds(c: Cluster) -> int:
    """Rounds of duties that the migration broke off, and that were done again: each is an error in a log."""
    return sum(process.errors().count(" failed; again in ") for process in c.all)


def _all_succeeded(c: Cluster) -> None:
    others = {attempt: state for attempt, state in c.stored().items() if state != RunState.SUCCEEDED}
    assert not others, others
