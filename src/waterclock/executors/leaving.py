"""The end of the interpreter: executors that nobody shut down finish what they were given; idle ones hold nobody up."""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  # registers its own hook: ours, registered later, runs before it
import os
import threading
from typing import Protocol
from weakref import WeakSet


class Closable(Protocol):
    def shutdown(self, wait: bool = True) -> None: ...


_open: WeakSet[Closable] = WeakSet()


def close_at_exit(executor: Closable) -> None:
    """Shut it down, waiting, when the main thread has ended, unless it is gone by then."""
    _open.add(executor)


def close_all() -> None:
    """Called more than once, it does nothing more."""
    for executor in list(_open):
        executor.shutdown(wait=True)


# `atexit` comes too late: by then the pools of asyncio and of concurrent.futures take nothing more, and a call that is
# in the middle would fail for it. This is the hook that concurrent.futures itself uses; there is no public one.
threading._register_atexit(close_all)  # type: ignore[attr-defined]
# A fork has the executors of its parent and none of their threads: it would wait for ever.
os.register_at_fork(after_in_child=_open.clear)
