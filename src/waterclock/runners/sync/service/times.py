"""What a service's reader needs of time: clocks, waiting, and chance, each of which a test may give."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from waterclock import clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    monotonic: Callable[[], float] = clock.monotonic
    wall_us: Callable[[], int] = clock.wall_us
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random  # from 0 to 1: so that many clients do not come back at once


class Pace:
    """At most so many requests a second, evenly: no burst after a rest."""

    def __init__(self, per_second: float | None, times: Times) -> None:
        self._gap = 1 / per_second if per_second else 0.0
        self._times = times
        self._next_at = times.monotonic()

    def wait(self) -> None:
        if not self._gap:
            return
        now = self._times.monotonic()
        if self._next_at > now:
            self._times.sleep(self._next_at - now)
        self._next_at = max(now, self._next_at) + self._gap
