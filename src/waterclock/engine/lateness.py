"""How late the fires of the last minute were: the numbers by which one sees that a scheduler cannot keep up."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from waterclock import clock
from waterclock.domain.moment import seconds

WINDOW_SECONDS: Final = 60.0
MOST: Final = 10_000  # fires that are remembered; of more in a minute the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    median_us: int = 0
    p99_us: int = 0  # of 99 in 100 at most
    most_us: int = 0


ON_TIME: Final = Late()


class Lateness:
    """Told of each round by the ticker, asked by the heartbeat."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque(maxlen=MOST)  # when by the monotonic clock, how late

    def note(self, late_us: Iterable[int], asked_at: float) -> None:
        """How late each was when the store was asked; since then its answer has taken time, too."""
        now = clock.monotonic()
        took = seconds(now - asked_at)
        self._seen.extend((now, max(0, late) + took) for late in late_us)

    def lately(self) -> Late:
        horizon = clock.monotonic() - WINDOW_SECONDS
        while self._seen and self._seen[0][0] < horizon:
            self._seen.popleft()
        return late_of(late for _, late in self._seen)


def late_of(late_us: Iterable[int]) -> Late:
    found = sorted(late_us)
    if not found:
        return ON_TIME
    last = len(found) - 1
    return Late(median_us=found[last // 2], p99_us=found[-(-last * 99 // 100)], most_us=found[last])
