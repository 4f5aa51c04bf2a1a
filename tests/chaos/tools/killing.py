"""Processes of a cluster killed at random, again and again, and started again, as their host's init would."""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.acceptance.server import until
from tests.chaos.process import Process
from tests.chaos.tools.windows import Windows
from waterclock import clock
from waterclock.domain.moment import Moment


@dataclass(slots=True)
class Kills:
    """Who was killed, and when."""

    of: list[tuple[str, Moment]] = field(default_factory=list)
    revived: int = 0  # those that had ended by themselves: without a store none can start
    longest_us: int = 10**15  # of a window: what is late after more is late for other reasons
    windows: Windows = field(default_factory=Windows)  # from each kill until the process was up again
    _down: dict[Process, Moment] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.of)

    def one_of(self, group: Sequence[Process]) -> Process | None:
        """SIGKILL to a random one that lives; it is started again at once, and nobody waits until it is up."""
        living = [each for each in group if each.alive]
        if not living:
            return None
        process = random.choice(living)
        process.kill()
        self.of.append((repr(process), clock.wall_us()))
        self._down.setdefault(process, self.of[-1][1])
        process.start(wait=False)
        return process

    def revive(self, group: Sequence[Process]) -> int:
        """What has ended by itself is started again; what is up again closes its window. How many are still down."""
        for process in group:
            if not process.alive:
                process.start(wait=False)
                self.revived += 1
            elif process in self._down and process.is_up:
                killed_at = self._down.pop(process)
                self.windows.add(killed_at, min(clock.wall_us(), killed_at + self.longest_us))
        return len(self._down)

    def settle(self, *groups: Sequence[Process]) -> None:
        """Until all are up again."""
        everybody = [process for group in groups for process in group]
        until(lambda: not self.revive(everybody), "a killed process does not come back", pause=0.1)

    def for_a_while(
        self,
        *groups: Sequence[Process],
        seconds: float,
        every: float,
        meanwhile: Callable[[float], None] = lambda passed: None,
    ) -> None:
        """One of each group at a time; `meanwhile` is told how many seconds have passed."""
        began = time.monotonic()
        due = every
        while due <= seconds:
            while (passed := time.monotonic() - began) < due:
                meanwhile(passed)
                for group in groups:
                    self.revive(group)
                time.sleep(min(0.1, max(0.0, due - passed)))
            for group in groups:
                self.one_of(group)
            due += every
