"""A party: one process of the simulation. It meets faults at what it asks of others, can be paused, and can die."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar
from unittest.mock import patch

from tests.chaos.simulation.timeline import SimulatedLoop, Timeline
from waterclock import clock
from waterclock.domain.errors import CommitUnknown, Unavailable

T = TypeVar("T")


class What(StrEnum):
    """What goes wrong at a call."""

    FAIL = "fail"  # the caller is told that nobody answers
    HANG = "hang"  # this call waits, the others of its process go on
    PAUSE = "pause"  # its whole process stands still
    CRASH = "crash"  # its process is gone


class When(StrEnum):
    BEFORE = "before"  # nothing was done
    AFTER = "after"  # it was done, and the caller does not know


@dataclass(frozen=True, slots=True)
class Fault:
    what: What
    when: When


class Party:
    """Its clocks are its host's; its calls go `through` here."""

    def __init__(self, name: str, clocks: "Clocks", timeline: Timeline, loop: SimulatedLoop) -> None:
        self.name = name
        self.clocks = clocks
        self.is_dead = False
        self.is_cut_off = False
        self._paused_at: float | None = None
        self.tasks: set[asyncio.Task[Any]] = set()
        self._timeline = timeline
        self._loop = loop
        self._armed: list[Fault | None] = []
        self._waiting: list[asyncio.Future[None]] = []

    # What happens to it

    def arm(self, faults: Sequence[Fault | None]) -> None:
        """For its next calls, one each; those that were armed before are forgotten."""
        self._armed = list(faults)

    def pause(self) -> None:
        self._paused_at = self._timeline.seconds

    def resume(self) -> None:
        """It goes on, is answered, and so is every call of it that hangs."""
        self._paused_at, self.is_cut_off = None, False
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)

    def die(self) -> None:
        """As by kill -9: nothing of it reaches anybody any more."""
        self.is_dead = True
        for task in tuple(self.tasks):
            task.cancel()

    @property
    def is_up(self) -> bool:
        return not self.is_dead and self._paused_at is None

    @property
    def paused_seconds(self) -> float:
        return 0.0 if self._paused_at is None else self._timeline.seconds - self._paused_at

    # What it does

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        context = contextvars.copy_context()
        context.run(_ACTING.set, self)
        return self._loop.create_task(work, context=context)

    async def through(self, work: Callable[[], Awaitable[T]]) -> T:
        """The call, with the fault that was armed for it."""
        fault = self._armed.pop(0) if self._armed else None
        await self._meet(fault, When.BEFORE)
        if self.is_cut_off:
            raise Unavailable("simulated: it is cut off")
        done = await work()
        await self._meet(fault, When.AFTER)
        return done

    async def awake(self) -> None:
        """Returns while it is neither paused nor dead."""
        while not self.is_dead and self._paused_at is not None:
            await self._held()
        if self.is_dead:
            raise asyncio.CancelledError

    async def _meet(self, fault: Fault | None, when: When) -> None:
        await self.awake()
        if fault is None or fault.when is not when:
            return
        match fault.what:
            case What.FAIL if when is When.BEFORE:
                raise Unavailable("simulated: nobody answers")
            case What.FAIL:
                raise CommitUnknown("simulated: the answer is lost")
            case What.HANG:
                await self._held()
            case What.PAUSE:
                self.pause()
            case What.CRASH:
                self.die()
        await self.awake()

    async def _held(self) -> None:
        until: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(until)
        await until


@dataclass(frozen=True, slots=True)
class Clocks:
    """Of a host: when it was booted, by nobody's clock in particular, and how wrong its wall clock is."""

    booted_seconds: float
    skew_us: int


_ACTING: Final[contextvars.ContextVar[Party]] = contextvars.ContextVar("acting")


def belonging(loop: asyncio.AbstractEventLoop, work: Any, context: contextvars.Context | None = None) -> Any:
    """The loop's task factory: every task, whoever makes it, dies with the party in whose name it runs."""
    task = asyncio.Task(work, loop=loop, context=context)
    party = context.get(_ACTING) if context is not None else _ACTING.get(None)
    if party is not None:
        party.tasks.add(task)
        task.add_done_callback(party.tasks.discard)
    return task


@contextmanager
def clocks_of(timeline: Timeline) -> Iterator[None]:
    """Inside, whoever reads a clock reads that of the host where it runs."""

    def monotonic() -> float:
        party = _ACTING.get(None)
        return timeline.seconds + (party.clocks.booted_seconds if party else 0.0)

    def wall_us() -> int:
        party = _ACTING.get(None)
        return timeline.now + (party.clocks.skew_us if party else 0)

    with patch.object(clock, "monotonic", monotonic), patch.object(clock, "wall_us", wall_us):
        yield
