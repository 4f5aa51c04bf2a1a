"""A trigger: when to run, and which jobs. Its fires are planned elsewhere; here is what it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from waterclock.domain.moment import Moment


class TriggerState(StrEnum):
    STANDBY = "STANDBY"
    RUNNING = "RUNNING"
    STOPPED = "STOPPED"


class TriggerType(StrEnum):
    SCHEDULED = "SCHEDULED"
    ON_DEMAND = "ON_DEMAND"
    CONDITIONAL = "CONDITIONAL"
    EVENT = "EVENT"


class Target(StrEnum):
    """What an action starts."""

    JOB = "job"
    FLOW = "flow"
    CRAWLER = "crawler"  # kept for Glue's clients, never run


class Logical(StrEnum):
    """How several conditions go together."""

    AND = "AND"
    ANY = "ANY"


class OverCap(StrEnum):
    """What becomes of a fire's run when its job has all its concurrent runs and does not queue."""

    SKIP = "skip"
    FAIL = "fail"


class FireOutcome(StrEnum):
    FIRED = "FIRED"
    SKIPPED = "SKIPPED"


CHANGEABLE: Final = frozenset({TriggerState.STANDBY, TriggerState.STOPPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class FireRules:
    """How a namespace fires: Glue's guarded rules by default, its `aws` rules as the other choice."""

    sequential: bool = True  # actions in their order, each when the one before has ended
    over_cap: OverCap = OverCap.SKIP
    failover_seconds: float = 30.0  # a role whose last heartbeat is older than this is down
    drop_exhausted: bool = False  # a trigger that has fired for the last time goes, and its job with it


@dataclass(slots=True, kw_only=True)
class Action:
    """Not frozen, as `Job` is not."""

    target: Target
    name: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: int | None = None
    notify_after_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A run of this job (a crawl of this crawler) that ended in this state."""

    target: Target
    name: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """What a CONDITIONAL trigger waits for."""

    logical: Logical
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerSpec:
    """What a caller decides about a trigger."""

    type: TriggerType
    actions: tuple[Action, ...]
    expression: str | None = None  # the schedule as it was written
    schedule: Mapping[str, object] | None = None  # and as the codec keeps it
    misfire: Mapping[str, object] = field(default_factory=dict)
    flow_name: str | None = None
    predicate: Predicate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    id: int
    org_id: int
    namespace: str
    name: str
    owner: str
    spec: TriggerSpec
    state: TriggerState
    version: int  # counts every change, fires included: the guard of each
    generation: int  # counts redefinitions: part of the ledger's key
    next_fire_at: Moment | None
    definition: Mapping[str, object]
    tags: Mapping[str, str]
    created_at: Moment
    updated_at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """One row of the ledger."""

    id: int
    trigger_id: int
    trigger_name: str
    fire_at: Moment
    outcome: FireOutcome
    reason: str | None
    first_at: Moment
    last_at: Moment
    count: int
    created_at: Moment
