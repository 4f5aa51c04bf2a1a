"""The dead of a program, and what they used: reaped one by one until the keeper has no child left."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterable

from waterclock.runners import proc


class Burial:
    """All that descends from this process, the program's main process first among it."""

    __slots__ = ("_spares", "cpu_seconds", "is_over", "main", "main_status", "peak_rss_bytes")

    def __init__(self, main: int, spares: Iterable[int]) -> None:
        self.main = main
        self.main_status: int | None = None
        self.cpu_seconds = 0.0
        self.peak_rss_bytes = 0
        self.is_over = False  # nothing is left: this process has no child but spares
        self._spares = set(spares)  # children that have no program: alive, or dead and not yet buried

    def reap(self, on_main_dying: Callable[[], None]) -> None:
        """All that is dead by now; it is said of the main process while its number is still its own."""
        try:
            while (dead := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
                self._reap_one(dead.si_pid, on_main_dying)
        except ChildProcessError:
            self.is_over = True
            return
        # Nobody else buries our children, so that none leaves the list while it is read; whatever lives below one that
        # is dead has become our own child before.
        self.is_over = self.main_status is not None and self._spares.issuperset(proc.own_children())

    def signal_all(self, sign: signal.Signals) -> None:
        if sign == signal.SIGKILL:
            self.kill_group()
        for process in proc.descendants(os.getpid(), besides=frozenset(self._spares)):
            proc.send_signal(process, sign)

    def kill_group(self) -> None:
        """The main process's group in one step, so that no fork in it escapes; only while the number is surely its."""
        if self.main_status is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.main, signal.SIGKILL)

    def _reap_one(self, pid: int, on_main_dying: Callable[[], None]) -> None:
        is_main = pid == self.main and self.main_status is None
        if is_main:
            on_main_dying()
        _, status, usage = os.wait4(pid, 0)
        if pid in self._spares:
            self._spares.discard(pid)
            return
        if is_main:
            self.main_status = status
        self.cpu_seconds += usage.ru_utime + usage.ru_stime
        self.peak_rss_bytes = max(self.peak_rss_bytes, usage.ru_maxrss * 1024)
