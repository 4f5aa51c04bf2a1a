"""What an executor is: it runs the calls it is given, and says how each of them began and ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class MaxInstancesReachedError(Exception):
    """The job has as many running instances as it may have at once."""

    def __init__(self, job: Any) -> None:
        super().__init__(f"Job {job.id!r} has already reached its maximum number of instances ({job.max_instances})")


class How(StrEnum):
    RETURNED = "returned"
    RAISED = "raised"
    KILLED = "killed"  # by `stop`: nothing of it runs any more
    DIED = "died"  # its process ended without a word


@dataclass(slots=True)  # frozen ones take twice as long to make, and there is one for every run
class Call:
    """One run of a job. `number` tells it from all others; `reference` is where a fresh process finds the function."""

    number: int
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    reference: str | None = None


@dataclass(slots=True)
class Done:
    """How a call ended, and with what."""

    number: int
    how: How
    value: Any = None
    error: BaseException | None = None
    traceback: str = ""


class BaseExecutor(ABC):
    """Begun and done are told from whatever thread, once each; `done` never comes before `begun` has returned."""

    max_workers: int = 10  # how many calls run at the same time
    any_thread: bool = False  # `submit` may be called by the program's own threads, not by the engine's alone

    def __init_subclass__(cls) -> None:
        """A `submit` of one's own is called by the engine's thread, whatever the class above it says of its own."""
        super().__init_subclass__()
        if "submit" in vars(cls) and "any_thread" not in vars(cls):
            cls.any_thread = False

    def start(self, scheduler: Any, alias: str) -> None:  # noqa: B027  # not every executor has something to start
        """Called before the first call, when the scheduler starts (again) or the executor is added to a running one."""

    def shutdown(self, wait: bool = True) -> None:  # noqa: B027
        """No more calls come. `wait`: return when those that were submitted have ended; else drop what never began."""

    @abstractmethod
    def submit(self, calls: Sequence[Call], begun: Callable[[int], None], done: Callable[[Done], None]) -> None:
        """Take them all at once and return at once; those that find no worker free wait in their order."""

    def stop(self, number: int) -> bool:
        """End a call. True: it never begins, or is killed, and its `done` says KILLED. False: it cannot be killed."""
        return False

    def withdraw(self, number: int) -> bool:
        """Take back a call that waits. True: nothing of it ever runs, and its `done` says KILLED. False: it goes on."""
        return False


Order = tuple[Call, Callable[[int], None], Callable[[Done], None]]  # a call, and whom to tell of it
