"""A simulated process: it lives as its job's behaviour and the real `Ending` say, and leaves evidence as a real one."""

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.chaos.simulation.jobs import JOBS
from tests.chaos.simulation.timeline import Timeline
from waterclock import clock
from waterclock.chaos.evidence import END, START, Mark
from waterclock.domain.moment import Moment
from waterclock.runners.base import End, Ended, Program
from waterclock.runners.ending import Ending

INSTANT_SECONDS: Final = 1e-6  # the timeline's own: less would never pass


@dataclass(slots=True, kw_only=True)
class Life:
    """What nobody of the cluster sees: from when to when a process really lived."""

    program: Program
    host: str
    began_at: Moment
    died_at: Moment | None = None
    exit_code: int | None = None  # None: it was killed

    @property
    def job(self) -> str:
        return self.program.env["job"]

    def __str__(self) -> str:
        env = self.program.env
        return f"{env['work']} of {env['fire_at']}, attempt {env['number']} of {env['run'][-6:]} on {self.host}"


class World:
    """All evidence there is."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.marks: list[Mark] = []
        self.lives: list[Life] = []

    def living(self) -> list[Life]:
        return [life for life in self.lives if life.died_at is None]

    def mark(self, event: str, program: Program) -> None:
        env = program.env
        self.marks.append(
            Mark(
                event=event,
                work=env["work"],
                run=env["run"],
                attempt=int(env["number"]),
                fence=program.fence,
                fire_at=int(env["fire_at"]),
                at=self.timeline.now,
            )
        )


class Process:
    """Use once: `begin`. `ended` is told when nothing of it is left; the host's clock is the caller's."""

    def __init__(self, program: Program, lease_until: float, world: World, host: str) -> None:
        self.ending = Ending(lease_until=lease_until, grace_seconds=program.grace_seconds)
        self._program = program
        self._behaviour = JOBS[program.env["job"]].behaviour
        self._world = world
        self._host = host
        self._life: Life | None = None
        self._ends_at = 0.0
        self._dies_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ended: Callable[[Ended], None] = lambda ended: None

    def begin(self, ended: Callable[[Ended], None]) -> bool:
        """False where its lease is over: it never was."""
        self._ended = ended
        if not self.ending.begins(clock.monotonic(), self._program.timeout_seconds):
            ended(self._end(End.LEASE_LOST))
            return False
        self._life = Life(program=self._program, host=self._host, began_at=self._world.timeline.now)
        self._world.lives.append(self._life)
        self._world.mark(START, self._program)
        self._ends_at = clock.monotonic() + self._behaviour.seconds
        self.act()
        return True

    def act(self) -> None:
        """What is due now; then it waits for the next moment at which something may be."""
        if self._life is None or self._life.died_at is not None:
            return
        now = clock.monotonic()
        if self._dies_at is None and now >= self._ends_at:
            self._world.mark(END, self._program)
            self._die(End.EXITED, self._behaviour.exit_code)
            return
        sign = self.ending.decide(now)
        if sign == signal.SIGKILL and self._dies_at is None:
            self._dies_at = now + self._behaviour.dying_seconds
        elif sign == signal.SIGTERM and not self._behaviour.is_deaf:
            self._dies_at = now
        if self._dies_at is not None and now >= self._dies_at:
            self._die(self.ending.end)
            return
        self._wait(now)

    def vanish(self) -> None:
        """With its host: nobody is told."""
        if self._timer:
            self._timer.cancel()
        if self._life and self._life.died_at is None:
            self._life.died_at = self._world.timeline.now

    def _wait(self, now: float) -> None:
        if self._timer:
            self._timer.cancel()
        at = self._dies_at if self._dies_at is not None else min(self._ends_at, self.ending.next_at())
        self._timer = asyncio.get_running_loop().call_later(max(INSTANT_SECONDS, at - now), self.act)

    def _die(self, end: End, exit_code: int | None = None) -> None:
        assert self._life is not None
        self._life.exit_code = exit_code
        self.vanish()
        self._ended(self._end(end, exit_code))

    def _end(self, end: End, exit_code: int | None = None) -> Ended:
        attempt_id, fence = self._program.attempt_id, self._program.fence
        return Ended(attempt_id=attempt_id, fence=fence, end=end, exit_code=exit_code)
