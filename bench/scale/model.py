"""What a load needs, and how many shards carry it: pure formulas over the measured constants.

A shard is one database with its schedulers, workers and API processes. A fire never crosses shards, so that needs add
up: whatever one shard needs for a K-th of the load, K of them need for all of it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from bench.scale.constants import Constants, Cost
from bench.scale.mix import DAY_SECONDS, busiest_hour, worst_instant
from waterclock.engine.ticker import BATCH

MB: Final = 1e6
GATHER_SECONDS: Final = 0.05  # what comes within this is one transaction of a worker
BEAT_SECONDS: Final = 5.0  # the settings' own
RENEW_SECONDS: Final = 20.0  # a third of a lease
WORKERS: Final = 8  # nodes of a shard that beat, at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    name: str
    schedules: float
    runs_a_day: float
    run_seconds: float = 30.0
    keep_days: float = 30.0
    starts_share: float = 0.05  # of the runs that somebody starts by a call
    reads_per_run: float = 2.0
    drops: bool = True  # old runs go by partitions; else they are deleted one by one

    def part(self, shards: int) -> "Load":
        """What one of so many shards has."""
        return replace(self, schedules=self.schedules / shards, runs_a_day=self.runs_a_day / shards)

    @property
    def rate(self) -> float:
        """Runs a second, on average."""
        return self.runs_a_day / DAY_SECONDS

    @property
    def busy_rate(self) -> float:
        return self.rate * busiest_hour()

    @property
    def worst_instant(self) -> float:
        return self.schedules * worst_instant()


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What one shard may be, in cores of the machine that was measured, and how full it may be on purpose."""

    name: str
    database_cores: float
    schedulers: int  # processes that fire; one core each
    wal_mb: float  # a second that its disk writes
    disk_tb: float
    connections: int
    api_processes: int
    workers: int = WORKERS
    target: float = 0.6
    late_seconds: float = 60.0  # the last fire of the worst instant: the grace of a missed fire by default


LAPTOP: Final = Machine(
    name="this machine",
    database_cores=1,
    schedulers=1,
    wal_mb=50,
    disk_tb=0.1,
    connections=100,
    api_processes=1,
    workers=1,
)
SERVER: Final = Machine(
    name="16 cores, NVMe", database_cores=16, schedulers=4, wal_mb=300, disk_tb=8, connections=500, api_processes=8
)


def per_run(cost: Cost, rate: float) -> tuple[float, float, float]:
    """Cores in Python, cores in the database, bytes of WAL a second: of something that happens so often a second."""
    transactions = rate / max(1.0, min(rate * GATHER_SECONDS, 500.0)) if rate else 0.0
    return (
        cost.python_seconds(rate, transactions),
        cost.database_seconds(rate, transactions),
        cost.wal(rate, transactions),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Of a load in its busiest hour, whatever it runs on."""

    ticker_cores: float
    worker_cores: float
    program_cores: float
    database_cores: float
    wal_mb: float
    disk_tb: float
    api_cores: float


def need(load: Load, constants: Constants) -> Need:
    rate = load.busy_rate
    ticks = min(1.0, rate) + rate / BATCH  # something is due at most seconds
    work = [per_run(cost, rate) for cost in (constants.claim, constants.begin, constants.end)]
    renewals = rate * load.run_seconds / RENEW_SECONDS
    besides = [
        per_run(constants.renew, renewals),
        (0.0, constants.beat.database_seconds(0, WORKERS / BEAT_SECONDS), 0.0),
        *([] if load.drops else [per_run(constants.prune, load.rate)]),
    ]
    starts, reads = (
        per_run(constants.start_call, rate * load.starts_share),
        per_run(constants.read_call, rate * load.reads_per_run),
    )
    everything = [*work, *besides, starts, reads]
    api_cores = starts[0] + reads[0]
    return Need(
        ticker_cores=constants.fire.python_seconds(rate, ticks),
        worker_cores=sum(each[0] for each in (*work, besides[0])),
        program_cores=rate * constants.program_us / 1e6,
        database_cores=constants.fire.database_seconds(rate, ticks) + sum(each[1] for each in everything),
        wal_mb=(constants.fire.wal(rate, ticks) + sum(each[2] for each in everything)) / MB,
        disk_tb=(load.schedules * constants.schedule_bytes + load.runs_a_day * load.keep_days * constants.run_bytes)
        / 1e12,
        api_cores=api_cores,
    )


def fires_per_second(constants: Constants, machine: Machine) -> float:
    """Of a backlog, by all schedulers of a shard, in full batches; the database may be what limits them."""
    tick = tick_seconds(constants, BATCH)
    by_database = machine.database_cores / (constants.fire.database_seconds(BATCH) / BATCH)
    return min(machine.schedulers * BATCH / tick, by_database)


def tick_seconds(constants: Constants, due: float) -> float:
    """One transaction that fires so many, on an idle shard."""
    fire = constants.fire
    waits = (constants.commit_ms + fire.trips * constants.trip_ms) / 1_000
    return fire.python_seconds(due) + fire.database_seconds(due) + waits


def slots_for(load: Load) -> int:
    """Half as many again as run in the busiest hour on average: a burst waits for them, and is worked off in turn."""
    return math.ceil(load.busy_rate * load.run_seconds * 1.5) + 1


def seconds_to_begin_all(load: Load, slots: int) -> float:
    """The last run of the worst instant: as slots get free, and nothing else goes before it."""
    return max(0.0, load.worst_instant - slots) * load.run_seconds / slots


def utilisation(load: Load, constants: Constants, machine: Machine) -> Mapping[str, float]:
    """What one shard of this kind would have to give, to what it has; over 1 it does not carry the load."""
    found = need(load, constants)
    return {
        "the database's CPU": found.database_cores / machine.database_cores,
        "the schedulers' Python": found.ticker_cores / machine.schedulers,
        "WAL": found.wal_mb / machine.wal_mb,
        "disk": found.disk_tb / machine.disk_tb,
        "connections": _connections(found, constants, machine) / machine.connections,
        "the API's processes": found.api_cores / machine.api_processes,
        "the burst at midnight": load.worst_instant / fires_per_second(constants, machine) / machine.late_seconds,
    }


def _connections(found: Need, constants: Constants, machine: Machine) -> float:
    engines = machine.schedulers + machine.workers
    return constants.connections_of_engine * engines + constants.connections_of_api * math.ceil(found.api_cores)


def first_to_break(load: Load, constants: Constants, machine: Machine) -> tuple[str, float]:
    found = utilisation(load, constants, machine)
    name = max(found, key=lambda each: found[each])
    return name, found[name]


def shards(load: Load, constants: Constants, machine: Machine) -> int:
    """So many that each is as full as it may be, and no fuller."""
    count = 1
    while first_to_break(load.part(count), constants, machine)[1] > machine.target:
        count += max(1, math.floor(count * 0.02))
    return count
