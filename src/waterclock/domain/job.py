"""A job: what to run. Its settings are immutable per version; a run keeps the version it ran."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.moment import Moment

NO_CAP: Final = 0
CALLABLE: Final = "callable"  # the kind whose jobs run inside a worker


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """What the engine needs to run a job, whichever face it came from."""

    kind: str  # python, shell, java, callable, … ; an unknown kind fails at its run
    script: str | None = None
    default_arguments: Mapping[str, str] = field(default_factory=dict)
    fixed_arguments: Mapping[str, str] = field(default_factory=dict)  # no caller may override these
    max_concurrent: int = 1  # 0: no cap
    queueing: bool = False  # over the cap: wait, instead of being refused
    retries: int = 0
    retry_delay_seconds: float = 0.0
    retry_doubles: bool = False  # each delay twice the one before, up to an hour
    timeout_seconds: int | None = None
    notify_after_seconds: int | None = None
    queue: str = "default"
    labels: tuple[str, ...] = ()
    python_modules: str | None = None  # its own cached virtual environment
    limits: Mapping[str, int] = field(default_factory=dict)
    call: object = None  # of a callable of the library, or a lake job: what to do, as that face keeps it


@dataclass(slots=True, kw_only=True)
class Job:
    """Nobody changes one; it is not frozen because a burst makes thousands, and that would take twice as long."""

    id: int
    org_id: int
    namespace: str
    name: str
    owner: str
    version: int
    spec: JobSpec
    definition: Mapping[str, object]  # as the face was given it
    tags: Mapping[str, str]
    created_at: Moment
    updated_at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """What the rules of change ask about a job, read under its lock."""

    job: Job
    triggers: tuple[str, ...]  # names of triggers that contain it
    running_triggers: tuple[str, ...]
    live_runs: int


def merge_arguments(
    spec: JobSpec, *, of_trigger: Mapping[str, str] | None = None, of_run: Mapping[str, str] | None = None
) -> dict[str, str]:
    """NonOverridable > run > trigger > Default."""
    return {**spec.default_arguments, **(of_trigger or {}), **(of_run or {}), **spec.fixed_arguments}
