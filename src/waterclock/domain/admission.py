"""May one more run of a job start now, wait for a slot, or not be taken at all?"""

from dataclasses import dataclass
from enum import StrEnum

from waterclock.domain.job import NO_CAP, JobSpec


class Admission(StrEnum):
    START = "start"
    WAIT = "wait"
    REFUSE = "refuse"


@dataclass(slots=True)
class Tally:
    """The live runs of one job, kept while a batch is decided."""

    live: int = 0  # WAITING ones too
    active: int = 0  # those that hold a slot


def admit(spec: JobSpec, tally: Tally, *, in_turn: bool = False) -> Admission:
    """The cap counts what waits, too: nobody overtakes the queue. `in_turn`: it may wait, whatever the job says."""
    if spec.max_concurrent == NO_CAP or tally.live < spec.max_concurrent:
        return Admission.START
    return Admission.WAIT if spec.queueing or in_turn else Admission.REFUSE


def free_slots(spec: JobSpec, tally: Tally) -> int | None:
    """How many waiting runs may start now; None: as many as there are."""
    return None if spec.max_concurrent == NO_CAP else max(0, spec.max_concurrent - tally.active)
