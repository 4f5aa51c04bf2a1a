"""A scheduled job, as a program holds it: what was declared, and a handle to change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, Final, cast

from waterclock.domain.library import PastRun
from waterclock.domain.moment import Moment, to_datetime
from waterclock.faces.library import tagged
from waterclock.faces.library.declaring import approved, changed, checked_call, checked_id
from waterclock.faces.library.ids import new_id
from waterclock.faces.library.keeping import Declared
from waterclock.faces.library.references import name_of
from waterclock.triggers.base import BaseTrigger
from waterclock.triggers.date import DateTrigger
from waterclock.triggers.dates import shown

if TYPE_CHECKING:
    from waterclock.jobstores.base import BaseJobStore


ALL: Final = frozenset(Declared.__slots__)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """One line of a job's history: a run, or run times that were not run, and why."""

    scheduled_run_time: datetime
    state: str  # WAITING, STARTING, RUNNING, SUCCEEDED, FAILED, TIMEOUT, STOPPED; SKIPPED or MISSED: never run
    started_at: datetime | None
    ended_at: datetime | None
    attempts: int
    result: Any
    message: str | None  # what went wrong
    first_run_time: datetime | None  # where one line stands for several run times
    count: int


class Job:
    """Made by `add_job`, never by hand. A job of a database is as it was when it was read."""

    __slots__ = (
        "__weakref__",
        "_declared",
        "_given",
        "_is_at_once",
        "_jobstore_alias",
        "_numbers",
        "_scheduler",
        "_store",
    )

    def __init__(self, scheduler: Any, id: str | None = None, **kwargs: Any) -> None:
        self._scheduler = scheduler
        self._jobstore_alias: str | None = None
        self._store: BaseJobStore | None = None
        self._numbers: tuple[int, int] | None = None
        self._is_at_once = False  # it was given neither a time nor an id: it runs, and is gone
        self._given = frozenset(kwargs)  # the rest is filled in when the scheduler starts
        call = checked_call(kwargs.pop("func"), kwargs.pop("args", None), kwargs.pop("kwargs", None))
        name = kwargs.pop("name", None) or name_of(call["func"])
        job_id = new_id() if id is None else checked_id(id)
        self._declared = Declared(id=job_id, **call, **approved({"name": name, **kwargs}, scheduler.timezone))

    @classmethod
    def _of(cls, scheduler: Any, declared: Declared) -> Job:
        job = cls.__new__(cls)
        job._scheduler, job._declared = scheduler, declared
        job._jobstore_alias, job._store, job._numbers = None, None, None
        job._is_at_once, job._given = False, ALL
        return job

    def _like(self, args: Any, kwargs: Any) -> Job:
        """Another of the same, with an id and arguments of its own."""
        call = checked_call(self.func, args, kwargs, self.func_ref)
        job = self._of(self._scheduler, self._declared.called_with(new_id(), call["args"], call["kwargs"]))
        job._is_at_once, job._given = self._is_at_once, self._given
        return job

    # What was declared

    @property
    def id(self) -> str:
        return self._declared.id

    @property
    def name(self) -> str:
        return self._declared.name

    @property
    def func(self) -> Any:
        """The callable; None where this process cannot load it (see `problem`)."""
        return self._declared.func

    @property
    def func_ref(self) -> str | None:
        return self._declared.func_ref

    @property
    def args(self) -> tuple[Any, ...]:
        return self._declared.args

    @property
    def kwargs(self) -> Mapping[str, Any]:
        return self._declared.kwargs

    @property
    def trigger(self) -> BaseTrigger:
        return self._declared.trigger

    @property
    def executor(self) -> str:
        return self._declared.executor

    @property
    def misfire_grace_time(self) -> float | None:
        return self._declared.misfire_grace_time

    @property
    def coalesce(self) -> bool:
        return self._declared.coalesce

    @property
    def max_instances(self) -> int:
        return self._declared.max_instances

    @property
    def queue(self) -> bool:
        """Whether a run over `max_instances` waits, instead of being skipped."""
        return self._declared.queue

    @property
    def timeout(self) -> float | None:
        return self._declared.timeout

    @property
    def retries(self) -> int:
        return self._declared.retries

    @property
    def backoff(self) -> float:
        """Seconds before the first retry, doubled before each further one."""
        return self._declared.backoff

    @property
    def problem(self) -> str | None:
        """Why it is quarantined: it could not be loaded, and is paused until it is resumed. Or why it would be here."""
        return self._declared.problem or self._declared.unloadable

    @property
    def next_run_time(self) -> datetime | None:
        """None: paused, or removed. A pending job has none yet, unless it was given one: AttributeError."""
        if self._store is not None:
            return self._store.next_run_time(self)
        if "next_run_time" not in self._given:
            raise AttributeError("a pending job has no next_run_time before the scheduler has started")
        return self._declared.next_run_time

    @property
    def pending(self) -> bool:
        """Whether it still waits to be added to its job store."""
        return self._jobstore_alias is None

    # What can be done with it

    def modify(self, **changes: Any) -> Job:
        return self._now(self._scheduler.modify_job(self.id, self._jobstore_alias, **changes))

    def reschedule(self, trigger: Any, **trigger_args: Any) -> Job:
        return self._now(self._scheduler.reschedule_job(self.id, self._jobstore_alias, trigger, **trigger_args))

    def pause(self) -> Job:
        return self._now(self._scheduler.pause_job(self.id, self._jobstore_alias))

    def resume(self) -> Job:
        return self._now(self._scheduler.resume_job(self.id, self._jobstore_alias))

    def remove(self) -> None:
        self._scheduler.remove_job(self.id, self._jobstore_alias)

    def runs(self, limit: int = 20) -> list[JobRun]:
        """What became of its latest run times, newest first: runs, and those that were missed or skipped."""
        if self._store is None or self._numbers is None:
            return []
        return [self._run(past) for past in self._store.past_runs(self._numbers, limit)]

    # For the scheduler and the store

    @property
    def trigger_zone(self) -> tzinfo:
        zone: tzinfo = getattr(self.trigger, "timezone", None) or self._scheduler.timezone or UTC
        return zone

    def _modify(self, **changes: Any) -> None:
        self._declared = changed(self._declared, changes, self._scheduler.timezone)
        self._given |= frozenset(changes)
        self._is_at_once = False

    def _fill_in(self, defaults: Mapping[str, Any], now: datetime) -> None:
        """What the program left to the scheduler, at the moment when the job is really added."""
        declared = self._declared  # nobody else has it yet
        for name, value in defaults.items():
            if name not in self._given:
                setattr(declared, name, value)
        if self._is_at_once:
            declared.next_run_time = cast(DateTrigger, declared.trigger).run_date
        elif "next_run_time" not in self._given:
            declared.next_run_time = declared.trigger.get_next_fire_time(None, now)

    @property
    def _is_timed(self) -> bool:
        """Whether the program itself has said when it runs next."""
        return "next_run_time" in self._given

    def _settle(self, store: BaseJobStore, numbers: tuple[int, int]) -> None:
        """`numbers`, in the store: the job's and its trigger's."""
        self._store, self._numbers, self._jobstore_alias = store, numbers, store._alias

    def _unsettle(self) -> None:
        """Pending again."""
        self._store, self._numbers, self._jobstore_alias = None, None, None

    def _now(self, other: Job | None) -> Job:
        """As the store has it after a change; a job that was removed stays as it was."""
        if other is not None and other is not self:
            self._declared, self._numbers, self._given = other._declared, other._numbers, other._given
        return self

    def _run(self, past: PastRun) -> JobRun:
        return JobRun(
            scheduled_run_time=self._time(past.scheduled_at),
            state=str(past.state),
            started_at=None if past.started_at is None else self._time(past.started_at),
            ended_at=None if past.ended_at is None else self._time(past.ended_at),
            attempts=past.attempts,
            result=None if past.result is None else tagged.loads_result(past.result),
            message=past.message,
            first_run_time=None if past.first_at is None else self._time(past.first_at),
            count=past.count,
        )

    def _time(self, at: Moment) -> datetime:
        return to_datetime(at).astimezone(self.trigger_zone)

    def __getstate__(self) -> dict[str, Any]:
        if not self.func_ref:
            raise ValueError(
                f"This Job cannot be serialized since the reference to its callable ({self.func!r}) could not be "
                "determined. Consider giving a textual reference (module:function name) instead."
            )
        return {
            "version": 1,
            "id": self.id,
            "func": self.func_ref,
            "trigger": self.trigger,
            "executor": self.executor,
            "args": self.args,
            "kwargs": self.kwargs,
            "name": self.name,
            "misfire_grace_time": self.misfire_grace_time,
            "coalesce": self.coalesce,
            "max_instances": self.max_instances,
            "next_run_time": self.next_run_time,
        }

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, Job) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<Job (id={self.id} name={self.name})>"

    def __str__(self) -> str:
        if self._store is None and "next_run_time" not in self._given:
            status = "pending"
        elif (at := self.next_run_time) is not None:
            status = f"next run at: {shown(at)}"
        else:
            status = f"quarantined: {problem}" if (problem := self._declared.problem) else "paused"
        return f"{self.name} (trigger: {self.trigger}, {status})"
