"""The executor for looking at one thing at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from waterclock.executors.base import BaseExecutor, Call, Done
from waterclock.executors.threads import ThreadOptions, Threads


class DebugExecutor(BaseExecutor):
    """Runs one call at a time, in the order in which they came, in one thread of its own.

    Not in the scheduler's thread, as APScheduler does: a call may ask the scheduler something. Plug-in name: `debug`.
    """

    max_workers = 1
    any_thread = True

    def __init__(self) -> None:
        self._thread = Threads(self.max_workers, ThreadOptions(thread_name_prefix="waterclock-debug"))

    def start(self, scheduler: Any, alias: str) -> None:
        self._thread = self._thread.renewed()

    def submit(self, calls: Sequence[Call], begun: Callable[[int], None], done: Callable[[Done], None]) -> None:
        self._thread.submit(calls, begun, done)

    def stop(self, number: int) -> bool:
        return self._thread.stop(number)

    def withdraw(self, number: int) -> bool:
        return self._thread.withdraw(number)

    def shutdown(self, wait: bool = True) -> None:
        self._thread.shutdown(wait)
