"""How much to take ahead: so much that no worker waits for the store, and back with it where others could run it."""

from __future__ import annotations

from typing import Final

from waterclock import clock

ALONE: Final = 2_000  # nobody else runs what is in this process's memory
MOST_AHEAD: Final = 500
PATIENCE_SECONDS: Final = 1.0  # what was taken and has not begun by then goes back
AHEAD_SECONDS: Final = 0.1  # after that: no more than is done within this
CAUTIOUS_SECONDS: Final = 10.0


class Pace:
    """Slots of an executor: its workers, and what it takes ahead. Short calls are taken by the hundred.

    Once something had to go back, calls are long: then only as many are taken ahead as have lately been done.
    """

    def __init__(self, workers: int, *, alone: bool) -> None:
        self._workers = workers
        self._alone = alone
        self._cautious_until = 0.0
        self._seen = (clock.monotonic(), 0)
        self._ahead = MOST_AHEAD

    @property
    def slots(self) -> int:
        return ALONE if self._alone else self._workers + self._ahead

    def measured(self, ended: int) -> int:
        """`ended`: how many calls have ended since the beginning."""
        now, (since, before) = clock.monotonic(), self._seen
        if not self._alone and now - since >= AHEAD_SECONDS / 4:
            done = round((ended - before) / (now - since) * AHEAD_SECONDS)
            self._ahead = MOST_AHEAD if now >= self._cautious_until else min(MOST_AHEAD, done)
            self._seen = (now, ended)
        return self.slots

    def gave_back(self) -> int:
        self._cautious_until, self._ahead = clock.monotonic() + CAUTIOUS_SECONDS, 0
        return self.slots
