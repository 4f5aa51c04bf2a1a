"""Keeps one program at a time: starts it once, moves its output, ends it when told or when its time is up, buries it.

A keeper is a subreaper: whatever its program starts, however often that forks or leaves its session, stays below it.
"Nothing is left" is therefore a fact of the kernel's: the keeper has no child. It serves program after program, because
a fork costs more than all else that a short run needs, and each time it begins from nothing but a spare that waits.
"""

import os
import signal

from waterclock.runners import codec, last_words, linux, proc, spare, wire
from waterclock.runners.base import End, Ended
from waterclock.runners.cgroup import Cgroup
from waterclock.runners.child import Birth
from waterclock.runners.codec import Order
from waterclock.runners.spare import Spare
from waterclock.runners.vigil import Vigil


class Keeper:
    """The keeper's life: wait for an order, keep the vigil, report, wait again; gone with its supervisor."""

    def __init__(self, control: int, ends_dir: str, cgroup_root: Cgroup | None) -> None:
        self._supervisor = wire.Line(control)
        self._ends_dir = ends_dir
        self._unheard: Ended | None = None
        self._spare: Spare | None = None
        self._no_spare: str | None = None
        self._become_keeper(cgroup_root)

    def serve(self) -> Birth | None:
        """Returns a Birth only in the fork that is to become a program; None when the supervisor has gone."""
        while True:
            birth = self._have_spare()
            if birth is not None:
                return birth
            message = self._hear()
            if message is None:
                break
            if "ack" in message:
                self._unheard = None
            elif "run" in message:
                birth = self._have_spare()  # it may have died while it waited
                if birth is not None:
                    return birth
                self._keep(message["run"])
        if self._unheard is not None:
            last_words.leave(self._ends_dir, self._unheard)
        return None

    def _have_spare(self) -> Birth | None:
        """See to it that one waits; without one (no process to be had) the next program is told so."""
        if self._spare is not None and self._spare.is_waiting():
            return None
        if self._spare is not None:
            self._spare.close()
            self._spare = None
        try:
            forked = spare.fork()
        except OSError as error:
            self._no_spare = error.strerror
            return None
        if isinstance(forked, Birth):
            return forked
        self._spare = forked
        return None

    def _hear(self) -> wire.Message | None:
        while (message := self._supervisor.next()) is None:
            if not self._supervisor.read():
                return None
        return message

    def _keep(self, plain: codec.Plain) -> None:
        order = codec.order_from_plain(plain)
        if self._spare is None:
            self._unheard = _not_started(order, f"cannot start a process: {self._no_spare}")
        else:
            vigil = Vigil(order, self._supervisor, self._wakeup, self._die_with_all)
            if vigil.begin(self._spare, plain):
                self._spare = None
            self._unheard = vigil.watch()
        self._supervisor.send({"ended": codec.event_to_plain(self._unheard)})

    def _die_with_all(self, ended: Ended) -> None:
        """The whole control group in one step, this keeper with it; how it ended is told before."""
        if self._group is not None:
            self._supervisor.send({"dying": codec.event_to_plain(ended)})
            last_words.leave(self._ends_dir, ended)
            self._group.kill()

    def _become_keeper(self, cgroup_root: Cgroup | None) -> None:
        os.setsid()
        linux.become_subreaper()
        linux.name_process("wc-keeper")
        self._wakeup, write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
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
