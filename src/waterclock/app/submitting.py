"""Calls that a program wants to be made at once: stored as taken, and handed to an executor of this process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from waterclock import clock
from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.errors import Unavailable
from waterclock.domain.library import ToRun
from waterclock.domain.moment import Moment
from waterclock.engine.ticker import Taking
from waterclock.faces.library.telling import Telling
from waterclock.stores.base import Database
from waterclock.stores.ops.submitting import LARGEST, Submitted, submit_calls

log: Final = logging.getLogger("waterclock.scheduler")

HELD_SECONDS: Final = 1.0  # that a listener may take to hear of a job before it begins all the same


class Scheduling(Protocol):
    """What the ticker of the same store says and hears."""

    paused: bool

    def doubt(self) -> None:
        """Something may have been taken that nobody here knows of: let go of it."""
        ...


@dataclass(frozen=True, slots=True)
class Begun:
    """They are durable, and this process's. `go`, in the loop: those that were held may begin."""

    job_ids: Sequence[int]
    go: Callable[[], None] = lambda: None


class Submitting:
    """Of one job store; lives in the engine's loop."""

    def __init__(
        self, database: Database, namespace: str, taking: Taking, scheduling: Scheduling, telling: Telling
    ) -> None:
        self._database = database
        self._namespace = namespace
        self._taking = taking
        self._scheduling = scheduling
        self._telling = telling
        self._holding: set[asyncio.Task[None]] = set()
        self._under_way = 0
        self._still = asyncio.Event()  # nothing is under way
        self._still.set()
        self._shut = 0  # by so many

    async def submit(self, calls: Sequence[ToRun], run_at: Moment, *, held: bool) -> Begun | None:
        """None, and nothing was done, where they cannot be taken here and now: then they are scheduled like others.

        `held`: they begin when they are told to, or a little later.
        """
        taker = None if self._shut or self._scheduling.paused else self._taking.takers().get(calls[0].spec.queue)
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
        await self._still.wait()

    @contextlib.asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """Nothing is taken meanwhile, and all that was taken has begun: those who run it know of it."""
        self._shut += 1
        try:
            await self._still.wait()
            yield
        finally:
            self._shut -= 1
