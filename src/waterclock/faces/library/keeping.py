"""How a job of the program becomes what a store keeps, and back: as it is in memory, as text everywhere else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, Protocol, cast

import orjson

from waterclock.domain.claim import Claimed
from waterclock.domain.errors import CannotRun, InvalidInput
from waterclock.domain.job import CALLABLE, JobSpec
from waterclock.domain.library import LONGEST_ID, LibraryJob, ToRun, queue_of
from waterclock.domain.moment import Moment, from_datetime, to_datetime
from waterclock.domain.planning import Misfire, Policy
from waterclock.domain.schedule import Schedule
from waterclock.faces.library.foreign import UnknownTrigger, schedule_of
from waterclock.faces.library.programs import NUMBERS, CallProgram
from waterclock.faces.library.references import Unloadable, kept_call, loaded, resolve
from waterclock.faces.library.serializers import JsonSerializer, Serializer
from waterclock.stores.ops.rows import dumped
from waterclock.triggers import codec
from waterclock.triggers.base import BaseTrigger

# What of a job is kept beside its call and its trigger.
DEFINITION: Final = (
    *("name", "executor", "misfire_grace_time", "coalesce"),
    *("max_instances", "queue", "retries", "backoff"),
)
NOTHING: Final[dict[str, Any]] = {}  # shared: ten thousand jobs need not have three each
MOST_PLAIN: Final = 1_024
NO_LIMIT: Final = timedelta(days=10_000)  # of a misfire_grace_time that is None


@dataclass(slots=True, kw_only=True)
class Declared:
    """All that a program says of a job; the names are the public ones. Nobody changes one: a burst makes thousands."""

    id: str
    name: str
    func: Any  # the callable; None where it cannot be loaded
    func_ref: str | None
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    trigger: BaseTrigger
    executor: str = "default"
    misfire_grace_time: float | None = 60
    coalesce: bool = True
    max_instances: int = 1
    queue: bool = False
    timeout: float | None = None
    retries: int = 0
    backoff: float = 0.0
    next_run_time: datetime | None = None  # None: paused
    problem: str | None = None  # why it is quarantined, for everybody
    unloadable: str | None = None  # why this process cannot load it
    unread: Mapping[str, object] | None = None  # arguments that cannot be loaded: what the store has of them stays

    def called_with(self, id: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Declared:
        """Another of the same, before anybody has kept it; `replace` takes twice as long."""
        new = Declared.__new__(Declared)
        for name in Declared.__slots__:
            setattr(new, name, getattr(self, name))
        new.id, new.args, new.kwargs = id, args, kwargs
        return new

    def runs_like(self, other: Declared) -> bool:
        """Whether both can be run without being scheduled, on the same executor: nobody has to count or to watch."""
        return self.executor == other.executor and self.timeout is None and not self.queue


class Keeper(Protocol):
    def kept(self, job: Declared, namespace: str) -> LibraryJob: ...

    def to_run(self, job: Declared, namespace: str) -> ToRun:
        """Of one that runs at once, and never again: no more than is needed to run it."""
        ...

    def declared(self, job: LibraryJob) -> Declared:
        """Never raises for a job that cannot be loaded: it is shown with its problem."""
        ...

    def is_at_hand(self, claimed: Claimed) -> bool:
        """Whether nothing of the user's runs to make the call."""
        ...

    def call_of(self, claimed: Claimed) -> CallProgram:
        """`Unloadable` where this process cannot make it."""
        ...


class ObjectKeeper:
    """For the memory store: callables and arguments are kept as they are, whatever they are."""

    def kept(self, job: Declared, namespace: str) -> LibraryJob:
        schedule = schedule_of(job.trigger, job.next_run_time)
        return _kept(job, namespace, call=job, definition={}, trigger={}, schedule=schedule)

    def to_run(self, job: Declared, namespace: str) -> ToRun:
        return ToRun(job.id, _spec(job, namespace, job))

    def declared(self, job: LibraryJob) -> Declared:
        declared = job.spec.call
        assert isinstance(declared, Declared)
        return replace(declared, next_run_time=_shown(job.next_fire_at, declared.trigger), problem=job.problem)

    def is_at_hand(self, claimed: Claimed) -> bool:
        return True

    def call_of(self, claimed: Claimed) -> CallProgram:
        job, run = claimed.spec.call, claimed.attempt
        assert isinstance(job, Declared)
        call = (next(NUMBERS), job.func, job.args, job.kwargs, job.func_ref)
        return CallProgram(*call, run.id, run.fence, job.id, run.run_at, job.timeout)


class TextKeeper:
    """For every other store: an import path, and arguments as the serializer writes them."""

    def __init__(self, serializer: Serializer) -> None:
        self._serializer = serializer
        self._plain: dict[tuple[object, ...], JobSpec] = {}  # of calls without arguments

    def kept(self, job: Declared, namespace: str) -> LibraryJob:
        """TypeError or ValueError for what cannot be written down; the job is then in no store."""
        call = self._kept_call(job)
        told, trigger = {name: getattr(job, name) for name in DEFINITION}, _written(job.trigger)
        return _kept(job, namespace, call=call, definition=told, trigger=trigger, schedule=schedule_of(job.trigger))

    def _kept_call(self, job: Declared) -> dict[str, object]:
        reference, args = (job.func_ref, job.args) if job.func_ref else kept_call(job.func, job.args)
        arguments = self._serializer.dump(args, job.kwargs) if job.unread is None else job.unread
        return {"func": reference, "timeout": job.timeout, "with": arguments}

    def to_run(self, job: Declared, namespace: str) -> ToRun:
        """What is to be called is as whoever reads it from the store would have it: nothing of the program's own."""
        if job.args or job.kwargs or not job.func_ref or not isinstance(self._serializer, JsonSerializer):
            return ToRun(job.id, _spec(job, namespace, orjson.loads(dumped(self._kept_call(job)))))
        key = (namespace, job.func_ref, job.executor, job.max_instances, job.retries, job.backoff)
        if key not in self._plain:
            if len(self._plain) >= MOST_PLAIN:
                self._plain.clear()
            self._plain[key] = _spec(job, namespace, self._kept_call(job))
        return ToRun(job.id, self._plain[key])

    def declared(self, job: LibraryJob) -> Declared:
        call, told = _call(job.spec), cast(Mapping[str, Any], job.definition)
        reference, unloadable, function = call["func"], None, None
        args: tuple[Any, ...] = ()
        kwargs: dict[str, Any] = {}
        unread = call["with"]
        try:
            args, kwargs = self._serializer.load(call["with"])
            unread = None
            function = resolve(reference)
        except Unloadable as problem:
            unloadable = str(problem)
        trigger = _read(job)
        return Declared(
            id=job.name,
            func=function,
            func_ref=reference,
            args=args,
            kwargs=kwargs,
            trigger=trigger,
            timeout=call["timeout"],
            next_run_time=_shown(job.next_fire_at, trigger),
            problem=job.problem,
            unloadable=unloadable,
            unread=unread,
            **{name: told[name] for name in DEFINITION if name in told},
        )

    def is_at_hand(self, claimed: Claimed) -> bool:
        module = loaded(_call(claimed.spec)["func"].partition(":")[0])
        return module is not None and isinstance(self._serializer, JsonSerializer)

    def call_of(self, claimed: Claimed) -> CallProgram:
        call, run = _call(claimed.spec), claimed.attempt
        function = resolve(call["func"])
        args, kwargs = self._serializer.load(call["with"])
        return CallProgram(
            next(NUMBERS),
            function,
            args,
            kwargs,
            call["func"],
            run.id,
            run.fence,
            run.job_name,
            run.run_at,
            call["timeout"],
            run.job_id,
            claimed.lone,
        )


def _kept(
    job: Declared,
    namespace: str,
    *,
    call: object,
    definition: Mapping[str, object],
    trigger: Mapping[str, object],
    schedule: Schedule,
) -> LibraryJob:
    if not job.id or len(job.id) > LONGEST_ID:
        raise ValueError(f"The id of a job must have 1–{LONGEST_ID} characters, not {len(job.id)}")
    return LibraryJob(
        name=job.id,
        spec=_spec(job, namespace, call),
        definition=definition,
        trigger=trigger,
        schedule=schedule,
        misfire=_misfire(job.misfire_grace_time, job.coalesce),
        next_fire_at=None if job.next_run_time is None else from_datetime(job.next_run_time),
        problem=job.problem,
    )


def _spec(job: Declared, namespace: str, call: object) -> JobSpec:
    return JobSpec(
        kind=CALLABLE,
        script=job.func_ref,
        max_concurrent=job.max_instances,
        queueing=job.queue,
        retries=job.retries,
        retry_delay_seconds=job.backoff,
        retry_doubles=True,
        timeout_seconds=None if job.timeout is None else math.ceil(job.timeout),
        queue=queue_of(namespace, job.executor),
        call=call,
        default_arguments=NOTHING,
        fixed_arguments=NOTHING,
        limits=NOTHING,
    )


@lru_cache(maxsize=1024)
def _misfire(grace_seconds: float | None, coalesce: bool) -> Misfire:
    grace = NO_LIMIT if grace_seconds is None else timedelta(seconds=grace_seconds)
    return Misfire(policy=Policy.SKIP, grace=grace, coalesce=coalesce)


def _read(job: LibraryJob) -> BaseTrigger:
    try:
        return codec.from_json(job.trigger)
    except InvalidInput:
        return UnknownTrigger(job.trigger, job.schedule)


def _written(trigger: BaseTrigger) -> Mapping[str, object]:
    if isinstance(trigger, UnknownTrigger):
        return trigger.stored
    try:
        return codec.to_json(trigger)
    except InvalidInput as refused:
        raise ValueError(
            f"{refused}: make it of waterclock's own triggers, register it as an entry point, or keep the job in the "
            "memory store"
        ) from refused


def _shown(at: Moment | None, trigger: BaseTrigger) -> datetime | None:
    """In the trigger's own zone."""
    return None if at is None else to_datetime(at).astimezone(getattr(trigger, "timezone", None) or UTC)


def _call(spec: JobSpec) -> dict[str, Any]:
    if not isinstance(spec.call, dict):
        raise CannotRun("it is no job of the library: somebody has put it into the queue of a program's executor")
    return spec.call
