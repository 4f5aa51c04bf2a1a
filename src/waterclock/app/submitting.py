"""Calls that a program wants to be made at once: stored as taken, and handed to an executor of this process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from waterclock import clock
from waterclock.app.own_line import OwnLine
from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.errors import Unavailable
from waterclock.domain.library import ToRun
from waterclock.domain.moment import Moment
from waterclock.engine.ticker import Taking
from waterclock.faces.library.telling import Telling
from waterclock.stores.base import Database
from waterclock.stores.ops.submitting import LARGEST, Submitted, submit_calls

log: Final = logging.getLogger("waterclock.scheduler")

MANY: Final = 100  # calls: to schedule so many takes longer than short ones need to make room
HELD_SECONDS: Final = 1.0  # that a listener may take to hear of a job before it begins all the same
REST_SECONDS: Final = 1.0  # that other threads have to come to an end; what is later than that does not begin


class Scheduling(Protocol):
    """What the ticker of the same store says and hears."""

    paused: bool

    def doubt(self) -> None:
        """Something may have been taken that nobody here knows of: let go of it."""
        ...


class Handing(Taking, Protocol):
    def begin(self, claimed: Sequence[Claimed], asked_at: float) -> bool:
        """As `taken`, from any thread. False, and nothing was done, where the loop has to do it."""
        ...


@dataclass(frozen=True, slots=True)
class Begun:
    """They are durable, and this process's. `go`, in the loop: those that were held may begin."""

    job_ids: Sequence[int]
    go: Callable[[], None] = lambda: None


class Submitting:
    """Of one job store; lives in the engine's loop, where it is made. `submit_here` alone is for other threads."""

    def __init__(
        self, database: Database, namespace: str, taking: Handing, scheduling: Scheduling, telling: Telling
    ) -> None:
        apart = database.apart()
        self._line = OwnLine(database, apart) if apart else None
        self._loop = asyncio.get_running_loop()
        self._database = database
        self._namespace = namespace
        self._taking = taking
        self._scheduling = scheduling
        self._telling = telling
        self._holding: set[asyncio.Task[None]] = set()
        self._under_way = 0
        self._elsewhere: set[object] = set()  # a token of each that is under way in a thread of the program's
        self._still = asyncio.Event()  # nothing is under way in the loop
        self._still.set()
        self._left = asyncio.Event()  # another thread has come to an end
        self._handing = threading.RLock()  # in which another thread hands over what it has taken
        self._shut = 0  # by so many

    async def submit(self, calls: Sequence[ToRun], run_at: Moment, *, held: bool) -> Begun | None:
        """None, and nothing was done, where they cannot be taken here and now: then they are scheduled like others.

        `held`: they begin when they are told to, or a little later.
        """
        taker = self._taker(calls)
        if taker is None and len(calls) >= MANY:
            await self._taking.ready(1)
            taker = self._taker(calls)
        if taker is None:
            return None
        self._enter()
        try:
            asked_at = clock.monotonic()
            done = await self._send(calls, run_at, taker)
            if not held:
                await self._launch(done.claimed, asked_at)
                return Begun(done.job_ids)
            told = asyncio.Event()
            self._hold(self._launch_once(told, done.claimed, asked_at))
            return Begun(done.job_ids, told.set)
        finally:
            self._leave()

    def submit_here(self, calls: Sequence[ToRun], run_at: Moment) -> Begun | None:
        """As `submit`, in the thread that asks. None, and nothing was done, where it has to go by the loop."""
        line, token = self._line, object()
        if line is None or not line.take():
            return None
        self._elsewhere.add(token)  # before it looks whether we are shut: who shuts us looks at these after that
        then: Callable[[], object] | None = None
        try:
            taker = self._taker(calls)
            if taker is None:
                return None
            asked_at = clock.monotonic()
            then = self._scheduling.doubt  # however this ends: they may have been stored
            done = line.send(submit_calls, namespace=self._namespace, calls=calls, run_at=run_at, taker=taker)
            then = self._begun_here(token, done.claimed, asked_at)
            return Begun(done.job_ids)
        finally:
            line.let_go()
            self._leave_from_elsewhere(token, then)

    def _begun_here(self, token: object, claimed: Sequence[Claimed], asked_at: float) -> Callable[[], object] | None:
        """What is left for the loop to do."""
        with self._handing:
            if token not in self._elsewhere:  # nobody waits for us any more, and they may have been let go of
                return self._scheduling.doubt
            if not self._taking.begin(claimed, asked_at):
                return partial(self._begin, claimed, asked_at)
        self._telling.gone([each.attempt.job_name for each in claimed])
        return None

    def _begin(self, claimed: Sequence[Claimed], asked_at: float) -> None:
        self._hold(self._launch(claimed, asked_at))

    def _leave_from_elsewhere(self, token: object, then: Callable[[], object] | None) -> None:
        if then is not None:
            self._in_loop(self._left_elsewhere, token, then)
            return
        self._elsewhere.discard(token)
        if self._shut:  # who shut us may have seen it
            self._in_loop(self._left.set)

    def _left_elsewhere(self, token: object, then: Callable[[], object]) -> None:
        """Who was waited for no longer may have been let go of, and is let go of once more."""
        (then if token in self._elsewhere else self._scheduling.doubt)()
        self._elsewhere.discard(token)
        self._left.set()

    def _in_loop(self, do: Callable[..., object], *args: object) -> None:
        with contextlib.suppress(RuntimeError):  # the engine has ended meanwhile: their leases will tell
            self._loop.call_soon_threadsafe(do, *args)

    def _taker(self, calls: Sequence[ToRun]) -> Taker | None:
        """From any thread."""
        return None if self._shut or self._scheduling.paused else self._taking.takers().get(calls[0].spec.queue)

    async def _send(self, calls: Sequence[ToRun], run_at: Moment, taker: Taker) -> Submitted:
        try:
            return await self._database.send(
                submit_calls, namespace=self._namespace, calls=calls, run_at=run_at, taker=taker
            )
        except Unavailable:
            self._scheduling.doubt()
            raise

    async def _launch_once(self, told: asyncio.Event, claimed: Sequence[Claimed], asked_at: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HELD_SECONDS):
                await told.wait()
        await self._launch(claimed, asked_at)

    async def _launch(self, claimed: Sequence[Claimed], asked_at: float) -> None:
        for first in range(0, len(claimed), LARGEST):
            if first:  # of thousands, the first end and are recorded while the last are still to begin
                await asyncio.sleep(0)
            await self._taking.taken(claimed[first : first + LARGEST], asked_at)
        self._telling.gone([each.attempt.job_name for each in claimed])

    def _hold(self, launch: Coroutine[Any, Any, None]) -> None:
        """Under way until it has ended, though nobody waits for it."""
        task = asyncio.create_task(launch)
        self._holding.add(task)
        self._enter()

        def ended(task: asyncio.Task[None]) -> None:
            self._holding.discard(task)
            self._leave()
            if not task.cancelled() and (problem := task.exception()):
                log.warning("%s; their leases will tell", problem)

        task.add_done_callback(ended)

    def _enter(self) -> None:
        self._under_way += 1
        self._still.clear()

    def _leave(self) -> None:
        self._under_way -= 1
        if not self._under_way:
            self._still.set()

    async def close(self) -> None:
        """Take no more; returns when all that was taken has begun."""
        self._shut += 1
        with contextlib.suppress(Unavailable):  # its worker closes, too, and begins nothing after that
            await self._rest()
        if self._line:
            await asyncio.to_thread(self._line.close)

    @contextlib.asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """Nothing is taken meanwhile, and all that was taken has begun: those who run it know of it."""
        self._shut += 1
        try:
            await self._rest()
            yield
        finally:
            self._shut -= 1

    async def _rest(self) -> None:
        """Unavailable where another thread is just handing something over, and does not come to an end."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REST_SECONDS):
                while self._elsewhere:
                    self._left.clear()
                    await self._left.wait()
        if self._elsewhere:
            self._wait_no_longer()
        await self._still.wait()

    def _wait_no_longer(self) -> None:
        """The handler of a signal may keep a thread, and wait for us: such a one begins nothing when it goes on."""
        if not self._handing.acquire(timeout=REST_SECONDS):
            raise Unavailable("a thread of the program's stands still in the middle of add_job")
        try:
            self._elsewhere.clear()
        finally:
            self._handing.release()
