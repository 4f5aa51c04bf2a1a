"""One shard on a virtual clock: its schedules, its schedulers, its database and its workers, through a day and faults.

Schedules are the real values, each with how many have it, so that a step costs what a line of the mix costs and not
what a schedule does. What is due is decided by the engine's own `plan_us`, taken in batches of the engine's own size,
and fired by whoever of the schedulers is free; nobody's work is planned ahead of its transaction, as in the store.
"""

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.scale.constants import Constants
from bench.scale.histogram import Histogram
from bench.scale.mix import Line
from bench.scale.model import Load, Machine
from bench.scale.shared_cores import SharedCores
from bench.scale.slots import Slots
from waterclock.domain.moment import SECOND
from waterclock.domain.planning import Misfire, plan_us
from waterclock.engine.ticker import BATCH
from waterclock.stores.server import IDLE_SECONDS

MISFIRE: Final = Misfire()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """The shard's database is down."""

    begin_us: int
    end_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerLost:
    """One scheduler stops in the middle of a transaction, whose rows stay locked until the database ends it."""

    at_us: int
    back_us: int


Fault = Outage | SchedulerLost


@dataclass(slots=True)
class Tally:
    fired: float = 0.0
    skipped: float = 0.0  # instants that the misfire policy let go
    ticks: int = 0
    ticking: float = 0.0  # seconds that schedulers were busy
    last_of_first: int = 0  # microseconds until the last of those was fired that were due when the story began
    late: Histogram = field(default_factory=Histogram)


class Shard:
    def __init__(
        self,
        lines: Sequence[Line],
        counts: Sequence[int],
        *,
        constants: Constants,
        machine: Machine,
        slots: int,
        load: Load,
        begin_us: int,
        seed: int,
        faults: Sequence[Fault] = (),
    ) -> None:
        self._lines = lines
        self._begin_us = begin_us
        self._constants = constants
        self._random = random.Random(seed)
        self._due: dict[tuple[int, int], int] = {}  # how many of a line are due at an instant
        self._heap: list[tuple[int, int]] = []
        self._held: list[tuple[int, int, int, int]] = []  # locked by a scheduler that is lost: until when, and what
        self._free = [begin_us] * machine.schedulers  # when each scheduler is done
        self._outages = [each for each in faults if isinstance(each, Outage)]
        self._losses = sorted((each for each in faults if isinstance(each, SchedulerLost)), key=lambda each: each.at_us)
        self.cores = SharedCores(machine.database_cores)
        self.slots = Slots(slots, load, constants, self.cores)
        self.tally = Tally()
        for number, count in enumerate(counts):
            self._put(lines[number].schedule.next_after_us(begin_us - 1), number, count)

    def second(self, now_us: int) -> None:
        """All that happens up to then, from the second before."""
        self._let_go(now_us)
        while self._heap and (at := self._next()) < now_us:
            self._tick(at)
        delay = self.cores.second()
        if not self._is_down(now_us):
            self.slots.second(now_us, delay)

    def _put(self, at: int | None, line: int, count: int) -> None:
        if at is None or not count:
            return
        if (at, line) not in self._due:
            heapq.heappush(self._heap, (at, line))
            self._due[at, line] = 0
        self._due[at, line] += count

    def _next(self) -> int:
        """When the next transaction begins: something is due, somebody is free, and the database is there."""
        at = max(min(self._free), self._heap[0][0])
        return next((each.end_us for each in self._outages if each.begin_us <= at < each.end_us), at)

    def _is_down(self, now_us: int) -> bool:
        return any(each.begin_us <= now_us < each.end_us for each in self._outages)

    def _tick(self, now: int) -> None:
        taken = self._take(now)
        scheduler = self._free.index(min(self._free))
        if self._losses and self._losses[0].at_us <= now:
            self._lose(scheduler, taken, now)
            return
        seconds = self._seconds(sum(count for _, _, count in taken), now)
        done = now + round(seconds * SECOND)
        self._free[scheduler] = done
        self.tally.ticks += 1
        self.tally.ticking += seconds
        for due, line, count in taken:
            self._fire(due, line, count, now, done)

    def _take(self, now: int) -> list[tuple[int, int, int]]:
        """Up to a batch of what is due: instant, line, how many."""
        taken, room = [], BATCH
        while room and self._heap and self._heap[0][0] <= now:
            due, line = self._heap[0]
            count = min(room, self._due[due, line])
            taken.append((due, line, count))
            room -= count
            self._due[due, line] -= count
            if not self._due[due, line]:
                del self._due[due, line]
                heapq.heappop(self._heap)
        return taken

    def _lose(self, scheduler: int, taken: Sequence[tuple[int, int, int]], now: int) -> None:
        """What it had locked is due still, once the database has ended its transaction."""
        self._free[scheduler] = self._losses.pop(0).back_us
        until = now + round(IDLE_SECONDS * SECOND)
        self._held += [(until, due, line, count) for due, line, count in taken]

    def _let_go(self, now: int) -> None:
        for until, due, line, count in self._held:
            if until <= now:
                self._put(due, line, count)
        self._held = [each for each in self._held if each[0] > now]

    def _seconds(self, count: int, now: int) -> float:
        """How long a transaction takes that fires so many."""
        fire, firing = self._constants.fire, sum(free > now for free in self._free) + 1
        database = fire.database_seconds(count)
        self.cores.fire(database)
        waits = (self._commit_ms() + fire.trips * self._constants.trip_ms) / 1_000
        return fire.python_seconds(count) + database * self.cores.stretch(firing) + waits

    def _commit_ms(self) -> float:
        """Most are quick; a few wait for the disk."""
        return self._constants.commit_p99_ms if self._random.random() < 0.02 else self._constants.commit_ms

    def _fire(self, due: int, line: int, count: int, now: int, done: int) -> None:
        if due == self._begin_us:
            self.tally.last_of_first = max(self.tally.last_of_first, done - due)
        planned = plan_us(self._lines[line].schedule, due, now, MISFIRE)
        for fire_at in planned.fires:
            self.tally.late.add((done - fire_at) / SECOND, count)
            self.slots.fired(fire_at, count, done)
        self.tally.fired += count * len(planned.fires)
        self.tally.skipped += count * sum(skip.count for skip in planned.skips)
        self._put(planned.next_at, line, count)
