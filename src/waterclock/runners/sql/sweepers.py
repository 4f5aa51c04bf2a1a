"""Forks that clean up after killed queries: in processes of their own, because a file system may hang."""

import os
import selectors
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from waterclock import clock
from waterclock.runners.sql import forks

SWEEP_SECONDS: Final = 60.0  # then it is left to the job's next run


@dataclass(eq=False, slots=True, kw_only=True)
class _Sweeper:
    pid: int
    pidfd: int
    done: Callable[[], None]
    kill_at: float


class Sweepers:
    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._sweepers: list[_Sweeper] = []

    def __bool__(self) -> bool:
        return bool(self._sweepers)

    def start(self, work: Callable[[], None], done: Callable[[], None]) -> None:
        """`done` is called once the work has ended, however it did; at once where no process is to be had."""
        try:
            pid = forks.aside(work)
        except OSError:
            done()
            return
        one = _Sweeper(pid=pid, pidfd=os.pidfd_open(pid), done=done, kill_at=clock.monotonic() + SWEEP_SECONDS)
        self._sweepers.append(one)
        self._selector.register(one.pidfd, selectors.EVENT_READ, lambda _: self._ended(one))

    def tick(self, now: float) -> None:
        for one in self._sweepers:
            if now > one.kill_at:
                os.kill(one.pid, signal.SIGKILL)

    def _ended(self, one: _Sweeper) -> None:
        self._selector.unregister(one.pidfd)
        os.close(one.pidfd)
        os.waitpid(one.pid, 0)
        self._sweepers.remove(one)
        one.done()
