"""The death of a worker process, with all that its call has started."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from waterclock.runners import proc
from waterclock.runners.proc import Process

PATIENCE_SECONDS: Final = 5.0  # only what the kernel holds in uninterruptible sleep outlives SIGKILL for longer


def kill_tree(worker: Process) -> None:
    """SIGKILL to it, its group and all below it, also what left the group; returns when they are dead.

    They are stopped before the first is killed: the children of a dead process are nobody's, and are found no more.
    """
    victims = _stopped([worker], lambda: _belonging_to(worker))
    kill_group(worker.pid)
    for process in victims:
        proc.send_signal(process, signal.SIGKILL)
    for process in victims:
        wait_for(process)


def kill_below(pid: int) -> None:
    """SIGKILL to all below a process, and not to itself."""
    for process in _stopped(proc.descendants(pid), lambda: proc.descendants(pid)):
        proc.send_signal(process, signal.SIGKILL)


def kill_group(leader: int) -> None:
    """What is left of a worker's group; the number stays taken for as long as somebody is in it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def wait_for(process: Process) -> bool:
    """Whether it is dead, now or before patience ends."""
    try:
        fd = os.pidfd_open(process.pid)
    except OSError:
        return True
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return not proc.is_alive(process) or bool(poll.poll(PATIENCE_SECONDS * 1000))
    finally:
        os.close(fd)


def _stopped(found: list[Process], look: Callable[[], list[Process]]) -> list[Process]:
    """All that can be found, when the last of them can start nothing more."""
    victims: list[Process] = []
    while found:
        for process in found:
            proc.send_signal(process, signal.SIGSTOP)
        victims += found
        found = [process for process in look() if process not in victims]
    return victims


def _belonging_to(worker: Process) -> list[Process]:
    """Below it, wherever it went; or in its group, whoever its parent is now."""
    group = [proc.identify(pid) for pid in proc.everybody() if _group_of(pid) == worker.pid]
    return proc.descendants(worker.pid) + [process for process in group if process is not None]


def _group_of(pid: int) -> int | None:
    with suppress(ProcessLookupError, PermissionError):
        return os.getpgid(pid)
    return None
