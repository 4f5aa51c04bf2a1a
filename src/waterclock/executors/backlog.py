"""The calls of a pool of processes: those that wait, and the numbers of those that run."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Final

from waterclock.executors.base import Order

NO_BELL: Final = -1


class Backlog:
    """Every move is whole: a call waits, runs or is gone. The bell tells the watcher that there is something to do."""

    def __init__(self) -> None:
        self.bell = NO_BELL  # there is one from the first call until the watcher goes
        self._waiting: dict[int, Order] = {}
        self._running: set[int] = set()
        self._condemned: set[int] = set()
        self.is_closed = False
        self._lock = threading.Lock()

    # For those who submit and stop.

    def add(self, orders: Sequence[Order]) -> None:
        with self._lock:
            if self.is_closed:
                raise RuntimeError("the executor was shut down: it takes no more calls")
            self._waiting.update((order[0].number, order) for order in orders)
            if self.bell == NO_BELL:
                self.bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
            os.eventfd_write(self.bell, 1)

    def withdraw(self, number: int) -> Order | None:
        """Take out what has not begun: it never will."""
        with self._lock:
            return self._waiting.pop(number, None)

    def condemn(self, number: int) -> bool:
        """Whether it runs: if so, the watcher will kill it."""
        with self._lock:
            if number not in self._running:
                return False
            self._condemned.add(number)
            os.eventfd_write(self.bell, 1)
            return True

    def close(self) -> None:
        with self._lock:
            self.is_closed = True
            if self.bell != NO_BELL:
                os.eventfd_write(self.bell, 1)

    def withdraw_all(self) -> list[Order]:
        with self._lock:
            orders, self._waiting = list(self._waiting.values()), {}
            return orders

    # For the watcher.

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def is_over(self) -> bool:
        with self._lock:
            return self.is_closed and not self._waiting and not self._running

    def take(self) -> Order | None:
        """The first that waits: from here on it runs, until `end`."""
        with self._lock:
            if not self._waiting:
                return None
            number = next(iter(self._waiting))
            self._running.add(number)
            return self._waiting.pop(number)

    def give_back(self, order: Order) -> None:
        """It did not begin after all, and is the next."""
        with self._lock:
            number = order[0].number
            self._running.discard(number)
            self._waiting = {number: order, **self._waiting}

    def end(self, number: int) -> None:
        with self._lock:
            self._running.discard(number)
            self._condemned.discard(number)

    def is_condemned(self, number: int) -> bool:
        return number in self._condemned

    def forget_bell(self) -> None:
        """The watcher has gone: nobody hears it any more."""
        with self._lock:
            os.close(self.bell)
            self.bell = NO_BELL
