"""The engine's runner over an executor: batches in, batches out, one wake-up of the loop for many calls that end."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextvars import ContextVar
from typing import Final, Protocol, cast

from waterclock import clock
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.run import RunState
from waterclock.executors.base import BaseExecutor, Done, How
from waterclock.faces.library import tagged
from waterclock.faces.library.programs import CallProgram
from waterclock.runners.base import Begun, End, Event, Program

ABANDONED: Final = "abandoned: a callable in a thread cannot be killed, and goes on"
UNASKED: Final = "its executor, or the event loop that it ran in, was closed before it had ended"
GATHER_SECONDS: Final = 0.02  # that an end may wait for others, while calls keep coming
FEW: Final = 10  # more of them at once are a batch, which has a wake-up of its own
SHORT_SECONDS: Final = 0.1  # a call that takes longer is shown as running

# Known in the thread or the task that makes a call, and wherever it hands its context on to.
_calling: Final[ContextVar[ExecutorRunner | None]] = ContextVar("waterclock_calling", default=None)
Told = tuple[CallProgram, Done, Outcome]


class Teller(Protocol):
    """Who is told of what becomes of the calls; of an end only once it is stored."""

    def submitted(self, programs: Sequence[CallProgram]) -> None: ...

    def ended(self, program: CallProgram, done: Done, outcome: Outcome) -> None: ...


class ExecutorRunner:
    """Implements `Runner`. Calls begin and end in threads that are not the loop's."""

    def __init__(
        self,
        executor: BaseExecutor,
        teller: Teller,
        looked: Callable[[], None] = lambda: None,
        took_in: Callable[[], None] = lambda: None,
    ) -> None:
        self._looked = looked  # called every now and then while there is something to run
        self._took_in = took_in  # called in the loop before it looks at what another thread has begun
        self._executor = executor
        self._teller = teller
        self._loop = asyncio.get_running_loop()
        self._given = 0  # how many calls, by threads of the program's; of these the loop knows so many:
        self._known = 0
        self._handed: deque[Sequence[CallProgram]] = deque()  # begun by whatever thread, not known to the loop yet
        self._unbegun: dict[int, CallProgram] = {}  # who goes through these is interrupted by who adds: nobody does
        self._flying: dict[int, CallProgram] = {}  # the loop's own
        self._untold: dict[int, Told] = {}  # ended, not stored yet
        self._arrived: deque[tuple[Done, str | None]] = deque()
        self._ringing = False
        self._gathering = False  # the loop will look by itself, soon: nobody has to ring
        self._last_given_at = -math.inf
        self._looking: asyncio.TimerHandle | None = None
        self._awake = asyncio.Event()
        self._idle = asyncio.Event()
        self._pid = os.getpid()
        self.ended = 0  # how many calls have ended

    # Runner

    async def start(self, programs: Sequence[Program]) -> None:
        calls = cast(Sequence[CallProgram], programs)
        if not calls:
            return
        self._give(calls)
        self.take_in()
        self._fly(calls)
        self._look_later()
        self._submit(calls)

    async def events(self) -> AsyncIterator[Sequence[Event | Outcome]]:
        while await self._awake.wait():
            self._awake.clear()
            arrived: list[tuple[Done, str | None]] = []
            while self._arrived:
                arrived.append(self._arrived.popleft())
            self.take_in()  # after them: whatever has ended was handed over before
            events: list[Event | Outcome] = []
            for done, output in arrived:
                if call := self._flying.pop(done.number, None):  # else it was given up before
                    events.append(self._ended(call, done, output))
            events += self._newly_begun()
            if not self._flying:
                self._idle.set()
            if events:
                yield events

    async def stop(self, attempt_ids: Sequence[int]) -> None:
        for number in [number for number, call in self._flying.items() if call.attempt_id in attempt_ids]:
            self._end(number, End.STOPPED)

    async def held(self) -> Sequence[Begun]:
        return ()

    async def forget(self, attempt_ids: Sequence[int]) -> None:
        """Their ends are stored: now they can be told."""
        for attempt_id in attempt_ids:
            if told := self._untold.pop(attempt_id, None):
                self._teller.ended(*told)

    # From any thread

    def begin(self, calls: Sequence[CallProgram]) -> None:
        """As `start`, in a thread of the program's: nobody has to wait for the loop, which hears of them in time.

        One thread at a time.
        """
        try:
            self._give(calls)
            self._given += len(calls)
            self._handed.append(calls)
            self._submit(calls)
        except BaseException as problem:  # a signal's: whatever the executor has not got never begins
            self._fail([call for call in calls if not self._executor.withdraw(call.number)], problem)
            raise

    def _give(self, calls: Sequence[CallProgram]) -> None:
        now = clock.monotonic()
        for call in calls:
            call.given_at = now
            self._unbegun[call.number] = call

    def _submit(self, calls: Sequence[CallProgram]) -> None:
        self._teller.submitted(calls)
        try:
            self._executor.submit(calls, self._begun, self._done)
        except Exception as problem:  # an executor of somebody else's may raise anything, and none of them ends here
            self._fail(calls, problem)

    def _fail(self, calls: Sequence[CallProgram], problem: BaseException) -> None:
        """Those that have not begun."""
        failed = [call for call in calls if self._unbegun.pop(call.number, None)]
        self._arrived.extend((Done(call.number, How.RAISED, error=problem), None) for call in failed)
        self._ring()

    def take_in(self) -> None:
        """In the loop."""
        if not self._handed:
            return
        while self._handed:
            calls = self._handed.popleft()
            self._fly(calls)
            self._known += len(calls)
        self._took_in()
        self._look_later()

    def _fly(self, calls: Sequence[CallProgram]) -> None:
        self._idle.clear()
        self._flying.update((call.number, call) for call in calls)
        self._gather(len(calls), calls[0].given_at)

    # Closing

    async def idle(self) -> None:
        """Returns when nothing runs and nothing waits."""
        if self._flying:
            await self._idle.wait()

    def unbegun(self, given_before: float = math.inf) -> list[int]:
        """Drop what was given to the executor before that moment and has not begun: these attempts are for others."""
        waiting = [call for call in self._flying.values() if call.thread is None and call.given_at < given_before]
        dropped = [call for call in waiting if self._executor.withdraw(call.number)]
        for call in dropped:
            self._flying.pop(call.number, None)
        if not self._flying:
            self._idle.set()
        return [call.attempt_id for call in dropped]

    def count(self) -> int:
        return len(self._flying) + self._given - self._known

    def is_calling(self) -> bool:
        """Whether one of its calls asks this: it must not wait for itself."""
        return _calling.get() is self

    def _gather(self, calls: int, now: float) -> None:
        """Where short calls come one by one, their ends are taken together: a wake-up costs as much as such a call."""
        comes_again = calls <= FEW and now < self._last_given_at + GATHER_SECONDS / 2
        self._last_given_at = now
        if comes_again and not self._gathering:
            self._gathering = True
            self._loop.call_later(GATHER_SECONDS, self._gathered)

    def _gathered(self) -> None:
        self._gathering = False
        self._wake()

    # What the executor says, in its own threads

    def _begun(self, number: int) -> None:
        _calling.set(self)
        if call := self._unbegun.pop(number, None):
            call.thread = threading.get_ident()
            if call.timeout_seconds is not None:
                call.begun_at = clock.monotonic()
                self._ring()
            elif self._looking is None and not self._ringing:
                self._ring()  # the loop may not know of it, and is to see that it runs for long

    def _done(self, done: Done) -> None:
        """What it returned is written down here: a large value must not hold the loop up."""
        _calling.set(None)
        self._unbegun.pop(done.number, None)
        self._arrived.append((done, None if done.value is None else tagged.dumps_result(done.value)))
        if not self._ringing and not self._gathering:
            self._ring()

    def _ring(self) -> None:
        self._ringing = True
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._wake)

    # And in the loop

    def _wake(self) -> None:
        self._ringing = False
        self._awake.set()

    def _look_later(self) -> None:
        """Calls that end soon are never shown as running: it costs a write, and nobody would see it."""
        if self._looking is None and self._flying:
            self._looking = self._loop.call_later(SHORT_SECONDS, self._look)

    def _look(self) -> None:
        self._looking = None
        self._looked()
        self._wake()
        self._look_later()

    def _newly_begun(self) -> list[Event]:
        told: list[Event] = []
        long_since = clock.monotonic() - SHORT_SECONDS
        for number, call in self._flying.items():
            is_long = call.timeout_seconds is not None or call.given_at <= long_since
            if is_long and call.thread is not None and not call.is_told:
                call.is_told = True
                told.append(Begun(attempt_id=call.attempt_id, fence=call.fence, pid=self._pid, pid_started_at=0))
                if call.timeout_seconds is not None:
                    left = call.begun_at + call.timeout_seconds - clock.monotonic()
                    call.timer = self._loop.call_later(left, self._end, number, End.TIMEOUT)
        return told

    def _ended(self, call: CallProgram, done: Done, output: str | None) -> Outcome:
        self.ended += 1
        if call.timer:
            call.timer.cancel()
        attempt_id, fence = call.attempt_id, call.fence
        began = None if call.is_told else Beginning(attempt_id=attempt_id, fence=fence, pid=self._pid)
        state, message = _meaning(call, done)
        outcome = Outcome(
            attempt_id=attempt_id,
            fence=fence,
            state=state,
            beginning=began,
            message=message,
            output=output,
            job_id=call.job_number,
            lone=call.lone,
        )
        self._untold[attempt_id] = (call, done, outcome)
        return outcome

    def _end(self, number: int, end: End) -> None:
        """Kill it. What cannot be killed is given up: what it still does is nobody's business any more."""
        call = self._flying.get(number)
        if call is None:
            return
        call.end = end
        if not self._executor.stop(number):
            self._arrived.append((Done(number, How.KILLED, error=Abandoned(ABANDONED)), None))
            self._wake()


class Abandoned(Exception):
    """A call that nobody could kill."""


def _meaning(call: CallProgram, done: Done) -> tuple[RunState, str | None]:
    if done.how is How.RETURNED:
        return RunState.SUCCEEDED, None
    match done.how:
        case How.KILLED if call.end is End.TIMEOUT:
            late = f"did not end within {call.timeout_seconds:g} s"
            return RunState.TIMEOUT, f"{late}; {done.error}" if done.error else late
        case How.KILLED if call.end is None:
            return RunState.FAILED, UNASKED
        case How.KILLED:
            return RunState.STOPPED, str(done.error) if done.error else None
        case _:
            return RunState.FAILED, f"{type(done.error).__name__}: {done.error}" if done.error else "it died"
