"""Keeps one program at a time: starts it once, moves its output, ends it when told or when its time is up, buries it.

A keeper is a subreaper: whatever its program starts, however often that forks or leaves its session, stays below it.
"Nothing is left" is therefore a fact of the kernel's: the keeper has no child but the spares that wait. It serves
program after program, because a fork costs more than all else that a short run needs.
"""

import os
import signal
from typing import Final

from waterclock.runners import codec, last_words, linux, proc, spare, wire
from waterclock.runners.base import End, Ended
from waterclock.runners.cgroup import Cgroup
from waterclock.runners.codec import Order
from waterclock.runners.linux import EnvironmentSlot
from waterclock.runners.spare import Spare
from waterclock.runners.vigil import Vigil

_MOST_AHEAD: Final = 8  # of spares


class Keeper:
    """The keeper's life: wait for an order, keep the vigil, report, wait again; gone with its supervisor."""

    def __init__(self, control: int, ends_dir: str, cgroup_root: Cgroup | None, slot: EnvironmentSlot) -> None:
        self._supervisor = wire.Line(control)
        self._ends_dir = ends_dir
        self._slot = slot
        self._unheard: Ended | None = None
        self._spares: list[Spare] = []
        self._ahead = 1
        self._no_spare: str | None = None
        self._become_keeper(cgroup_root)

    def serve(self) -> None:
        """Until the supervisor has gone."""
        while True:
            if not self._spares:
                self._fork_spares()
            message = self._hear()
            if message is None:
                break
            if "ack" in message:
                self._unheard = None
            elif "run" in message:
                self._keep(message["run"])
        if self._unheard is not None:
            last_words.leave(self._ends_dir, self._unheard)

    def _fork_spares(self) -> None:
        """Several at once, and more the more are used: after a fork each page that we write to is copied once more."""
        linux.name_process(b"wc-spare")  # theirs, which they need not give themselves
        try:
            self._spares += spare.fork(self._slot, self._ahead)
            self._ahead = min(2 * self._ahead, _MOST_AHEAD)
        except OSError as error:  # no process to be had: the next program is told so
            self._no_spare = error.strerror
        linux.name_process(b"wc-keeper")

    def _take_spare(self) -> Spare | None:
        """One that lives: it may have died while it waited."""
        for _ in range(2):
            while self._spares:
                taken = self._spares.pop()
                if taken.is_waiting():
                    return taken
                taken.close()
            self._fork_spares()
        return None

    def _hear(self) -> wire.Message | None:
        while (message := self._supervisor.next()) is None:
            if not self._supervisor.read():
                return None
        return message

    def _keep(self, plain: codec.Plain) -> None:
        order = codec.order_from_plain(plain)
        taken = self._take_spare()
        if taken is None:
            self._unheard = _not_started(order, f"cannot start a process: {self._no_spare}")
            untold: list[wire.Message] = []
        else:
            vigil = Vigil(order, self._supervisor, self._die_with_all, [each.process.pid for each in self._spares])
            if not vigil.begin(taken, self._slot):
                self._spares.append(taken)
            self._unheard, untold = vigil.watch(), vigil.untold()
        self._supervisor.send(*untold, {"ended": codec.event_to_plain(self._unheard)})

    def _die_with_all(self, ended: Ended) -> None:
        """The whole control group in one step, this keeper with it; how it ended is told before."""
        if self._group is not None:
            self._supervisor.send({"dying": codec.event_to_plain(ended)})
            last_words.leave(self._ends_dir, ended)
            self._group.kill()

    def _become_keeper(self, cgroup_root: Cgroup | None) -> None:
        os.setsid()
        linux.become_subreaper()
        linux.name_process(b"wc-keeper")
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # the dead are ours to bury
        me = proc.identify(os.getpid())
        assert me is not None
        self._group = _enter_group(cgroup_root, me)
        self._supervisor.send({"ready": [me.pid, me.started_at, str(self._group.path) if self._group else None]})


def _not_started(order: Order, message: str) -> Ended:
    program = order.program
    return Ended(attempt_id=program.attempt_id, fence=program.fence, end=End.NOT_STARTED, message=message)


def _enter_group(root: Cgroup | None, me: proc.Process) -> Cgroup | None:
    if root is None:
        return None
    group = Cgroup(root.path / f"{me.pid}-{me.started_at}")
    try:
        group.path.mkdir()
        group.enter()
    except OSError:
        group.remove()
        return None
    return group
