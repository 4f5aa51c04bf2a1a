"""A CONDITIONAL trigger outside a flow watches runs end: what each end means to it.

Under AND it remembers, since it fired last, how each watched job ended last: a job that ended well and then badly has
not ended well. Under ANY nothing is remembered.
"""

from collections.abc import Collection
from dataclasses import dataclass

from waterclock.domain.run import RunState
from waterclock.domain.trigger import Condition, Logical, Predicate, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnd:
    """The end of a run that a trigger had started."""

    job_name: str
    state: RunState
    wire_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Which conditions are met now, by their place in the predicate; a trigger that fires begins anew."""

    met: frozenset[int]
    fires: bool


def watch(predicate: Predicate, met: Collection[int], end: JobEnd) -> Watched:
    about = [number for number, each in enumerate(predicate.conditions) if _is_about(each, end)]
    meets = {number for number in about if predicate.conditions[number].state == end.state}
    if predicate.logical is Logical.ANY:
        return Watched(met=frozenset(), fires=bool(meets))
    now = (set(met) - set(about)) | meets
    fires = bool(meets) and len(now) == len(predicate.conditions)
    return Watched(met=frozenset() if fires else frozenset(now), fires=fires)


def _is_about(condition: Condition, end: JobEnd) -> bool:
    return condition.target is Target.JOB and condition.name == end.job_name
