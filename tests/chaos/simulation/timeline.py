"""Time as the simulation tells it, and a loop that waits in that time: no test of an hour takes one."""

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from waterclock.domain.moment import SECOND, Moment, from_datetime, seconds

T = TypeVar("T")

BEGINNING: Final = from_datetime(datetime(2026, 11, 15, 12, tzinfo=UTC))
CALM: Final = 2  # looks at an empty queue: the first one lets timers in that are due


class Timeline:
    """The moment that it is: the store's clock. It moves only when it is told to."""

    def __init__(self) -> None:
        self.now: Moment = BEGINNING

    @property
    def seconds(self) -> float:
        return (self.now - BEGINNING) / SECOND


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Timers are due by the timeline; work for other threads is done at once, so that the order is always the same."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._quiet_looks = 0
        self.in_flight = 0  # calls that a real server has not answered yet
        super().__init__()
        self.set_exception_handler(lambda loop, context: None)  # tasks of the dead end as they like

    def time(self) -> float:
        return self._timeline.seconds

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> "asyncio.Future[T]":
        done: asyncio.Future[T] = self.create_future()
        done.set_result(func(*args))
        return done

    def settle(self) -> None:
        """Until nothing moves by itself."""
        self._quiet_looks = 0
        self.call_soon(self._look)
        self.run_forever()

    def pass_time(self, span_seconds: float) -> None:
        """Everything that is due on the way happens at its own moment."""
        until = self._timeline.now + seconds(span_seconds)
        while (at := self._next_at()) is not None and at <= until:
            self._timeline.now = max(self._timeline.now, at)
            self.settle()
        self._timeline.now = until
        self.settle()

    def _look(self) -> None:
        is_quiet = not self._ready and not self.in_flight  # type: ignore[attr-defined]
        self._quiet_looks = self._quiet_looks + 1 if is_quiet else 0
        if self._quiet_looks == CALM:
            self.stop()
        else:
            self.call_soon(self._look)

    def _next_at(self) -> Moment | None:
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        waiting = [timer.when() for timer in timers if not timer.cancelled()]
        return BEGINNING + math.ceil(min(waiting) * SECOND) if waiting else None
