"""A story, played from its beginning until all is quiet: what went wrong in it, if anything."""

import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final

from tests.chaos.simulation.actions import Story
from tests.chaos.simulation.cluster import ROUND_SECONDS, Cluster
from tests.chaos.simulation.history import faults_of
from tests.chaos.simulation.invariants import Invariants
from tests.chaos.simulation.party import belonging, clocks_of
from tests.chaos.simulation.stores import SqliteStore, Store
from tests.chaos.simulation.timeline import SimulatedLoop, Timeline

PATIENT_ROUNDS: Final = 80  # a minute for what the faults left
LIVING: Final = "SELECT wire_id FROM attempts WHERE state IN ('WAITING', 'STARTING', 'RUNNING')"
LIVE: Final = "SELECT wire_id FROM attempts WHERE state IN ('WAITING', 'STARTING', 'RUNNING', 'STOPPING')"
STOPPED_AFTER: Final = 30  # rounds: what still runs then is stopped

Opened = Callable[[Timeline, SimulatedLoop], Store]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """`faults` in words; empty is what we want."""

    faults: list[str]
    fires: int
    runs: int


def in_memory(timeline: Timeline, loop: SimulatedLoop) -> Store:
    return SqliteStore(timeline)


def play(story: Story, opened: Opened = in_memory) -> Played:
    timeline = Timeline()
    loop = SimulatedLoop(timeline)
    loop.set_task_factory(belonging)
    with clocks_of(timeline), _silence():
        cluster = Cluster(story, opened(timeline, loop), timeline, loop)
        with closing(cluster):
            cluster.begin()
            return _played(cluster)


@contextmanager
def _silence() -> Iterator[None]:
    """The engine warns of every fault that it meets, and meets thousands."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _played(cluster: Cluster) -> Played:
    invariants = Invariants(cluster)
    for number, action in enumerate(cluster.story.actions):
        cluster.perform(action)
        if broken := invariants.broken():
            return _result(cluster, [f"after action {number}, {action}: {each}" for each in broken])
    if broken := _come_to_rest(cluster, invariants):
        return _result(cluster, broken)
    findings, others = faults_of(cluster)
    return _result(cluster, [*findings.faults, *others])


def _come_to_rest(cluster: Cluster, invariants: Invariants) -> list[str]:
    cluster.recover()
    for name in cluster.faces.asked.windows:
        cluster.round()
        cluster.faces.stop_trigger(name, stop_runs=False)
        cluster.loop.settle()
    live: list[str] = []
    for number in range(PATIENT_ROUNDS):
        cluster.loop.pass_time(ROUND_SECONDS)
        cluster.round(number)
        if broken := invariants.broken():
            return [f"after the faults, in round {number}: {each}" for each in broken]
        live = _wire_ids(cluster, LIVE)
        if not live and not cluster.world.living():
            return []
        if number == STOPPED_AFTER:
            for wire_id in _wire_ids(cluster, LIVING):
                cluster.faces.stop_run(wire_id)
            cluster.loop.settle()
    return [f"{len(live)} attempt(s) never ended", *map(str, cluster.world.living())]


def _wire_ids(cluster: Cluster, sql: str) -> list[str]:
    return [row["wire_id"] for row in cluster.loop.run_until_complete(cluster.store.peek(sql))]


def _result(cluster: Cluster, faults: list[str]) -> Played:
    marks = cluster.world.marks
    fires = {(mark.work, mark.fire_at) for mark in marks if mark.work not in cluster.faces.asked.calls}
    return Played(faults=faults, fires=len(fires), runs=len({mark.run for mark in marks}))
