"""A scheduler in the foreground: for programs that do nothing else."""

from __future__ import annotations

import threading
from typing import Any, Final

from waterclock.schedulers.base import BaseScheduler

TURN_SECONDS: Final = 1.0


class BlockingScheduler(BaseScheduler):
    """`start` returns when the scheduler is shut down, or raises what a signal raises."""

    # Held while it runs. Not an event: an exception of a signal that comes while one is about to wait leaves it locked.
    _life: threading.Lock | None = None

    def start(self, *args: Any, **kwargs: Any) -> None:
        life = threading.Lock()
        life.acquire()
        if not self.running:  # else the next line raises, and whoever waits goes on waiting
            self._life = life
        super().start(*args, **kwargs)
        while not life.acquire(timeout=TURN_SECONDS):
            """In turns: a signal that comes just before a wait is seen after it."""

    def shutdown(self, wait: bool = True) -> None:
        super().shutdown(wait)
        if self._life:
            self._life.release()

    def wakeup(self) -> None:
        super().wakeup()
