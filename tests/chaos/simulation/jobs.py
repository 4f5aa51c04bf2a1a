"""The jobs of the simulation: what the engine is told of each, and what its programs really do."""

from dataclasses import dataclass
from typing import Final

from waterclock.domain.job import NO_CAP, JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """`seconds` until it ends by itself; the others are how long each thing takes that is quick in general."""

    seconds: float
    exit_code: int = 0
    preparing_seconds: float = 0.0
    starting_seconds: float = 0.0  # it waits for a keeper
    dying_seconds: float = 0.0  # from the first KILL until nothing is left
    is_deaf: bool = False  # to TERM


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedJob:
    spec: JobSpec
    behaviour: Behaviour

    @property
    def cap(self) -> int:
        return self.spec.max_concurrent


def _job(behaviour: Behaviour, *, cap: int = NO_CAP, queueing: bool = False, retries: int = 0) -> SimulatedJob:
    spec = JobSpec(kind="python", max_concurrent=cap, queueing=queueing, retries=retries, retry_delay_seconds=0.5)
    return SimulatedJob(spec=spec, behaviour=behaviour)


ENDLESS_SECONDS: Final = 100_000.0  # it must be stopped

JOBS: Final = {
    "quick": _job(Behaviour(seconds=0.2)),
    "alone": _job(Behaviour(seconds=1.5, dying_seconds=0.4), cap=1),
    "queued": _job(Behaviour(seconds=1.0), cap=1, queueing=True, retries=1),
    "pair": _job(Behaviour(seconds=4.0, dying_seconds=0.4), cap=2, queueing=True),
    "failing": _job(Behaviour(seconds=0.5, exit_code=1, dying_seconds=0.4), retries=2),
    "long": _job(Behaviour(seconds=7.0, starting_seconds=0.3, dying_seconds=0.4, is_deaf=True), retries=1),
    "prepared": _job(Behaviour(seconds=0.6, preparing_seconds=2.5), retries=1),
    "endless": _job(Behaviour(seconds=ENDLESS_SECONDS, dying_seconds=0.4), cap=1, retries=1),
}
