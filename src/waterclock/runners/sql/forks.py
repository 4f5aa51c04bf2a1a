"""The host's side of its executors: one record for each fork, from its birth to the proof of its death."""

import os
import shutil
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from waterclock import clock
from waterclock.runners import linux
from waterclock.runners.sql.peer import Peer

if TYPE_CHECKING:
    from waterclock.runners.sql.caller import Caller

LARGEST_REUSED_BYTES: Final = 1024 * 1024 * 1024  # what stays resident after a query; a larger one is not used again
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class ForkState(StrEnum):
    OPENING = "opening"  # its engine, or its next session
    IDLE = "idle"
    BUSY = "busy"
    CANCELLING = "cancelling"


@dataclass(eq=False, slots=True, kw_only=True)
class Fork:
    """An executor. `party` is whose orders it has run: it runs no others'."""

    pid: int
    peer: Peer
    state: ForkState = ForkState.OPENING
    session_id: str = ""
    party: str | None = None
    caller: "Caller | None" = None
    number: int = 0  # of its orders
    idle_at: float = 0.0
    kill_at: float = 0.0

    def suits(self, party: str) -> bool:
        return self.state is ForkState.IDLE and self.party in (None, party)

    def give(self, caller: "Caller") -> None:
        assert caller.order is not None
        self.state, self.caller, self.party = ForkState.BUSY, caller, caller.party
        caller.fork = self
        self.number += 1
        program = [caller.program.pid, caller.program.started_at]
        self.peer.send({"order": caller.order, "number": self.number, "program": program})

    def rest(self) -> None:
        self.state, self.idle_at = ForkState.IDLE, clock.monotonic()

    def cancel(self, kill_at: float) -> None:
        """Asked again and again until it answers: the first may come before it has begun."""
        if self.state is ForkState.BUSY:
            self.state, self.kill_at = ForkState.CANCELLING, kill_at
        self.peer.send({"cancel": self.number})

    def kill(self) -> int:
        """Dead and buried when this returns; how it ended, as `waitpid` has it."""
        os.kill(self.pid, signal.SIGKILL)  # ours to bury: the number is nobody else's yet
        _, status = os.waitpid(self.pid, 0)
        self.peer.close()
        shutil.rmtree(_room(self.pid), ignore_errors=True)
        return os.waitstatus_to_exitcode(status)

    def is_bloated(self) -> bool:
        return self.resident_bytes() > LARGEST_REUSED_BYTES

    def exceeds(self) -> int | None:
        """The limit of its query, where it has more than that."""
        most = self.caller.memory_bytes if self.caller else None
        return most if most is not None and self.resident_bytes() > most else None

    def resident_bytes(self) -> int:
        try:
            with open(f"/proc/{self.pid}/statm", "rb") as file:
                return int(file.read().split()[1]) * _PAGE
        except (OSError, IndexError):
            return 0


def fork(live: Callable[[int], NoReturn]) -> Fork:
    """Returns in the host; the fork lives `live` with its end of the line."""
    host = os.getpid()
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        _leave(host, theirs.fileno())
        _have_room()
        live(theirs.detach())
    theirs.close()
    return Fork(pid=pid, peer=Peer(ours))


def aside(work: Callable[[], None]) -> int:
    """A fork that does this and no more: its pid."""
    host = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            _leave(host, -1)
            work()
        finally:
            os._exit(0)
    return pid


def _room(pid: int) -> Path:
    """Where it may put what does not fit into its memory; below the host's own folder."""
    return Path("room", str(pid))


def _have_room() -> None:
    room = _room(os.getpid()).absolute()
    room.mkdir(parents=True, exist_ok=True)
    os.environ["TMPDIR"] = str(room)


def _leave(host: int, kept: int) -> None:
    """Nothing of the host's open but one line to it and the log; gone when it goes."""
    linux.name_process(b"wc-sql")
    linux.die_with_parent()
    if os.getppid() != host:
        os._exit(0)
    os.closerange(3, max(3, kept))
    os.closerange(max(3, kept + 1), os.sysconf("SC_OPEN_MAX"))
