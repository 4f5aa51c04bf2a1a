"""Calls in processes of their own: one at a time in each, so that one call can be killed and no other is hurt.

Not `concurrent.futures`: there a worker that dies takes the whole pool with it, and nobody can kill one call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from multiprocessing.util import Finalize

from waterclock.executors.backlog import Backlog
from waterclock.executors.base import Call, Done, How
from waterclock.executors.leaving import close_all, close_at_exit
from waterclock.executors.watch import Watch
from waterclock.executors.worker_process import ProcessOptions


class Processes:
    """At most so many workers, started on demand and kept.

    A call in the middle is left to finish by `shutdown`, waiting or not, and by the end of the interpreter, which waits
    for it; when this process is killed, the workers end with it.
    """

    def __init__(self, most: int, options: ProcessOptions) -> None:
        self._most = most
        self._options = options
        self._backlog = Backlog()
        self._lock = threading.Lock()
        self._watcher: threading.Thread | None = None
        close_at_exit(self)
        # A process that multiprocessing started waits for its own children first of all, before any other hook.
        Finalize(None, close_all, exitpriority=1)

    def submit(self, calls: Sequence[Call], begun: Callable[[int], None], done: Callable[[Done], None]) -> None:
        with self._lock:
            self._backlog.add([(call, begun, done) for call in calls])
            if self._watcher is None:
                watch = Watch(self._backlog, self._most, self._options)
                self._watcher = threading.Thread(target=watch.run, name="waterclock-processes", daemon=True)
                self._watcher.start()

    def stop(self, number: int) -> bool:
        """A call that runs is killed in a moment; one whose end is on its way already ends as it did."""
        return self.withdraw(number) or self._backlog.condemn(number)

    def withdraw(self, number: int) -> bool:
        order = self._backlog.withdraw(number)
        if order:
            order[2](Done(number, How.KILLED))
        return order is not None

    def shutdown(self, wait: bool = True) -> None:
        with self._lock:
            self._backlog.close()
        for call, _, done in () if wait else self._backlog.withdraw_all():
            done(Done(call.number, How.KILLED))
        watcher = self._watcher
        if wait and watcher is not None and watcher is not threading.current_thread():
            watcher.join()

    def renewed(self) -> Processes:
        return Processes(self._most, self._options) if self._backlog.is_closed else self
