"""What one of each thing costs, as `python -m bench constants` has measured it; costs are CPU of one core."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).parents[1] / "results" / "constants.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of a transaction that does n things: a fixed part, and a part for each."""

    python_us: float
    database_us: float
    python_us_each: float
    database_us_each: float
    wal_bytes: float
    wal_bytes_each: float
    trips: float = 0.0  # to the database and back

    def python_seconds(self, things: float, transactions: float = 1) -> float:
        return (transactions * self.python_us + things * self.python_us_each) / 1e6

    def database_seconds(self, things: float, transactions: float = 1) -> float:
        return (transactions * self.database_us + things * self.database_us_each) / 1e6

    def wal(self, things: float, transactions: float = 1) -> float:
        return transactions * self.wal_bytes + things * self.wal_bytes_each


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """Of this machine, on PostgreSQL with fsync on."""

    fire: Cost  # a due trigger: its ledger row, its run, its attempt, its next instant
    claim: Cost
    begin: Cost
    end: Cost
    renew: Cost  # the lease of a run
    prune: Cost  # of a run, with its attempt and ledger row, where it is deleted row by row
    beat: Cost  # of a node; each is a transaction of its own
    start_call: Cost  # StartJobRun, signed, over HTTP; calls that come together share a transaction
    read_call: Cost  # GetJobRun
    program_us: float  # CPU of a trivial Python script from the zygote with all that is around it
    commit_ms: float  # one small commit with fsync, the median
    commit_p99_ms: float
    trip_ms: float  # to the database and back, the median
    schedule_bytes: float  # a trigger with its action, its job and the job's version, with all indexes
    run_bytes: float  # a run with its attempt, its ledger row and its moves, with all indexes
    connections_of_engine: float  # a scheduler with a worker
    connections_of_api: float

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> "Constants":
        values: dict[str, Any] = {entry.name: found[entry.name] for entry in fields(cls)}
        costs = {name: Cost(**value) for name, value in values.items() if isinstance(value, dict)}
        return cls(**{**values, **costs})


def measured(path: Path = MEASURED) -> Constants:
    return Constants.of_json(json.loads(path.read_text())["constants"])
