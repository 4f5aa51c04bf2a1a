"""How much to take ahead: so much that no worker waits for the store, and back with it where others could run it."""

from __future__ import annotations

from typing import Final

from waterclock import clock

ALONE: Final = 2_000  # nobody else runs what is in this process's memory
AT_FIRST: Final = 500
MOST_AHEAD: Final = 2_000
PATIENCE_SECONDS: Final = 1.0  # what was taken and has not begun by then goes back
AHEAD_SECONDS: Final = 0.15  # as much as is done within this
CAUTIOUS_SECONDS: Final = 10.0


class Pace:
    """Slots of an executor: its workers, and what it takes ahead. Short calls are taken by the hundred.

    Where they turn out to be very short it takes more of them; once something had to go back, calls are long, and no
    more are taken ahead than have lately been done.
    """

    def __init__(self, workers: int, *, alone: bool) -> None:
        self._workers = workers
        self._alone = alone
        self._cautious_until = 0.0
        self._seen = (clock.monotonic(), 0)
        self._ahead = AT_FIRST

    @property
    def slots(self) -> int:
        return ALONE if self._alone else self._workers + self._ahead

    def measured(self, ended: int) -> int:
        """`ended`: how many calls have ended since the beginning."""
        now, (since, before) = clock.monotonic(), self._seen
        if not self._alone and now - since >= AHEAD_SECONDS / 4:
            done = min(MOST_AHEAD, round((ended - before) / (now - since) * AHEAD_SECONDS))
            self._ahead = done if now < self._cautious_until else max(AT_FIRST, done)
            self._seen = (now, ended)
        return self.slots

    def gave_back(self) -> int:
        self._cautious_until, self._ahead = clock.monotonic() + CAUTIOUS_SECONDS, 0
        return self.slots
