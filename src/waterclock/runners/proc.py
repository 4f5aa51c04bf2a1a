"""Processes as /proc shows them: an exact identity, the tree below one, and signals that never reach a stranger.

A number alone names nobody: numbers are used again (here after 32,768 forks). A process is its number and the moment it
started, and a signal is sent through a pidfd that was opened before that moment was compared once more.
"""

import contextlib
import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_PPID: Final = 1  # of the fields behind the command's closing bracket
_STATE: Final = 0
_STARTED_AT: Final = 19
_STAT_BYTES: Final = 4096
_TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """One process, told from all others that ever had its number."""

    pid: int
    started_at: int  # clock ticks since boot


def identify(pid: int) -> Process | None:
    """Who has this number now; a zombie still has it."""
    stat = _stat(pid)
    return Process(pid, int(stat[_STARTED_AT])) if stat else None


def tick(moment: float) -> int:
    """A moment as the kernel notes it of a process that starts then."""
    return int(moment * _TICKS_PER_SECOND)


def is_alive(process: Process) -> bool:
    """Whether it still runs; a zombie does not."""
    stat = _stat(process.pid)
    return bool(stat) and int(stat[_STARTED_AT]) == process.started_at and stat[_STATE] not in (b"Z", b"X")


def send_signal(process: Process, number: signal.Signals) -> bool:
    """Signal exactly this process; False when it has gone or the number is now somebody else's."""
    try:
        fd = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        if identify(process.pid) != process:
            return False
        signal.pidfd_send_signal(fd, number)
        return True
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(fd)


def descendants(root: int, besides: frozenset[int] = frozenset()) -> list[Process]:
    """Everything below `root`, parents first, without the trees of `besides`; zombies included."""
    found: list[Process] = []
    tree = {root}
    queue = [root]
    while queue:
        for pid in children(queue.pop()):
            stat = _stat(pid) if pid not in besides and pid not in tree else []
            if stat and int(stat[_PPID]) in tree:  # else the number passed to a stranger while we looked
                found.append(Process(pid, int(stat[_STARTED_AT])))
                tree.add(pid)
                queue.append(pid)
    return found


def has_more_below(root: int, most: int) -> bool:
    """Whether more than so many descend from it. It looks no further than it must: a crowd leaves little time."""
    count, queue = 0, [root]
    while queue and count <= most:
        below = children(queue.pop())
        count += len(below)
        queue += below
    return count > most


def children(pid: int) -> list[int]:
    """The direct children, of every thread of it."""
    numbers: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return numbers
    for thread in threads:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as listed:
            numbers += [int(number) for number in listed.read().split()]
    return numbers


def own_children() -> list[int]:
    """The direct children of this process, which has one thread."""
    listed = os.open("/proc/thread-self/children", os.O_RDONLY)
    try:
        data = b""
        while more := os.read(listed, _STAT_BYTES):
            data += more
    finally:
        os.close(listed)
    return [int(number) for number in data.split()]


def everybody() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def with_environment(entries: Iterable[str]) -> list[Process]:
    """Every process whose environment at its start held all of these; none for no entries."""
    wanted = {os.fsencode(entry) for entry in entries}
    if not wanted:
        return []
    me = os.getpid()
    holders = (identify(pid) for pid in everybody() if pid != me and wanted <= _environment(pid))
    return [process for process in holders if process is not None and is_alive(process)]


def boot_id() -> str:
    """Changes with every boot: a stored identity from another boot names nobody."""
    with open("/proc/sys/kernel/random/boot_id") as source:
        return source.read().strip()


def _environment(pid: int) -> set[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as source:
            return set(source.read().split(b"\0"))
    except OSError:
        return set()


def _stat(pid: int) -> list[bytes]:
    try:
        source = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return []
    try:
        return os.read(source, _STAT_BYTES).rpartition(b")")[2].split()
    except OSError:  # it has gone meanwhile
        return []
    finally:
        os.close(source)
