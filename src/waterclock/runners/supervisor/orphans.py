"""What a dead keeper leaves: it falls to the supervisor, a subreaper too, and is killed until nothing is left."""

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Final

from waterclock.runners import proc
from waterclock.runners.cgroup import Cgroup
from waterclock.runners.proc import Process

_ROUND_SECONDS: Final = 0.01


class Orphans:
    """Every child of this process that is neither zygote nor keeper is one."""

    def __init__(self, our_own: Callable[[], frozenset[int]]) -> None:
        self._our_own = our_own
        self._empty_groups: set[Cgroup] = set()

    async def kill(self, keeper: Process, group: Cgroup | None) -> None:
        """Until nothing of a dead keeper's program is left.

        A dying process closes its files before its children pass to us: only when it is dead do we see them all.
        """
        while proc.is_alive(keeper):
            await asyncio.sleep(_ROUND_SECONDS)
        while self._kill_round(group):
            await asyncio.sleep(_ROUND_SECONDS)
            self.reap()
        if group is not None:
            self.discard(group)

    def reap(self) -> set[int]:
        """Bury our dead children; their numbers."""
        dead: set[int] = set()
        try:
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                dead.add(pid)
        except ChildProcessError:
            pass
        return dead

    def discard(self, group: Cgroup) -> None:
        """Remove a group as soon as it is empty."""
        self._empty_groups.add(group)
        self.tidy()

    def tidy(self) -> None:
        self._empty_groups = {group for group in self._empty_groups if not group.remove()}

    def _kill_round(self, group: Cgroup | None) -> bool:
        found = proc.descendants(os.getpid(), besides=self._our_own())
        for process in found:
            proc.send_signal(process, signal.SIGKILL)
        populated = group is not None and group.is_populated()
        if group is not None and populated:
            group.kill()
        return bool(found) or populated
