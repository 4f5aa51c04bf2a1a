"""One program from its order to the moment when nothing of it is left.

The vigil waits on five things at once: orders, output, the death of the main process, the child's word that it began,
and the clock. What must happen is decided in `Ending`; here it is done.

A short program is looked at once, when it is dead: a wake-up for each thing that it does would cost more than it does.
"""

import contextlib
import os
import select
import signal
from collections.abc import Callable, Sequence
from typing import Final

from waterclock import clock
from waterclock.runners import calling, codec, proc, wire
from waterclock.runners.base import Begun, End, Ended
from waterclock.runners.burial import Burial
from waterclock.runners.capped_log import CappedLog
from waterclock.runners.codec import Order
from waterclock.runners.ending import Ending
from waterclock.runners.linux import EnvironmentSlot
from waterclock.runners.spare import Spare

_CHASE_SECONDS: Final = 0.01  # between two rounds of killing what is still there
_FIRST_CHASE_SECONDS: Final = 0.0005
_SHORT_SECONDS: Final = 0.01  # that a program has before anybody looks at what it says: most short ones have ended
_COUNT_SECONDS: Final = 0.05  # between two counts of a program's processes, where it may have so many
_PATIENT_ROUNDS: Final = 50
_COMPLAINT_BYTES: Final = 4096
_LONGEST_WAIT_SECONDS: Final = 3600.0


class Vigil:
    """Use once: `begin`, then `watch`."""

    def __init__(
        self, order: Order, supervisor: wire.Line, overwhelmed: Callable[[Ended], None], spares: Sequence[int]
    ) -> None:
        self._program = order.program
        self._ending = Ending(lease_until=order.lease_until, grace_seconds=order.program.grace_seconds)
        self._supervisor = supervisor
        self._overwhelmed = overwhelmed  # told what the end will be, before stronger means are used
        self._log: CappedLog | None = None
        self._pidfd = self._output = self._status = -1
        self._poller = select.poll()
        self._is_short = True
        self._is_untold = False  # that it began
        self._main: proc.Process | None = None
        self._spares = spares
        self._burial = Burial(0, spares)
        self._burial.is_over = True
        self._complaint: str | None = None
        self._excess: str | None = None
        self._count_at = 0.0
        self._kill_rounds = 0

    def begin(self, spare: Spare, slot: EnvironmentSlot) -> bool:
        """Turn the spare into the program; False when it stays a spare, because the program must or can not begin."""
        if not self._ending.begins(clock.monotonic(), self._program.timeout_seconds):
            return False
        try:
            self._log = CappedLog(self._program.log_path, self._program.log_cap_bytes)
        except (OSError, ValueError) as error:
            self._complaint = f"cannot write the log {self._program.log_path!r}: {error}"
            return False
        self._main, self._pidfd, self._output, self._status = spare.process, spare.pidfd, spare.output, spare.status
        self._poller.register(self._pidfd, select.POLLIN)
        self._poller.register(self._supervisor.fd, select.POLLIN)
        self._burial = Burial(spare.process.pid, self._spares)
        spare.give(calling.encoded(self._program, slot))
        return True

    def watch(self) -> Ended:
        """Until nothing is left."""
        self._obey()
        while not self._burial.is_over:
            self._wait()
            self._burial.reap(self._main_is_dying)  # not kept there: keepers collect no cycles
            self._act()
        self._hear_child()
        self._move_output()
        self._close()
        return self._result()

    def _wait(self) -> None:
        happened = self._poller.poll(self._patience_seconds() * 1000)
        if self._is_short and not happened:
            self._is_short = False
            self._poller.register(self._output, select.POLLIN)
            self._poller.register(self._status, select.POLLIN)
        for fd, _ in happened:
            if fd == self._output:
                self._move_output()
            elif fd == self._status:
                self._hear_child()
                self._tell()
            elif fd == self._pidfd:
                self._pidfd = self._closed(fd)
            elif fd == self._supervisor.fd:
                self._listen()

    def _closed(self, fd: int) -> int:
        """No longer waited for; what its number is from here on."""
        with contextlib.suppress(KeyError):  # a short program's were never waited for
            self._poller.unregister(fd)
        os.close(fd)
        return -1

    def _patience_seconds(self) -> float:
        if self._ending.is_killing:
            return min(_CHASE_SECONDS, _FIRST_CHASE_SECONDS * (1 << min(self._kill_rounds, 8)))
        if self._burial.main_status is not None:  # nobody tells when the others die
            return _CHASE_SECONDS
        if self._is_short:
            return min(max(0.0, self._ending.next_at() - clock.monotonic()), _SHORT_SECONDS)
        longest = _LONGEST_WAIT_SECONDS if self._program.limits.processes is None else _COUNT_SECONDS
        return min(max(0.0, self._ending.next_at() - clock.monotonic()), longest)

    def _move_output(self) -> None:
        if self._log is not None and self._output >= 0 and not self._log.take(self._output):
            self._output = self._closed(self._output)

    def _listen(self) -> None:
        if not self._supervisor.read():
            self._ending.orphaned()
            self._poller.unregister(self._supervisor.fd)
        self._obey()

    def _obey(self) -> None:
        while (message := self._supervisor.next()) is not None:
            if "lease_until" in message:
                self._ending.lease_until = message["lease_until"]
            elif "stop" in message:
                self._ending.stops(End(message["stop"]), clock.monotonic())
            elif "kill" in message:
                self._ending.kills(End(message["kill"]))

    def _hear_child(self) -> None:
        """Its status pipe closes when it began, and carries words when it could not."""
        if self._status < 0:
            return
        try:
            words = os.read(self._status, _COMPLAINT_BYTES)
        except BlockingIOError:
            return
        self._status = self._closed(self._status)
        if words:
            self._complaint = words.decode(errors="replace")
        else:
            self._is_untold = True

    def _tell(self) -> None:
        self._supervisor.send(*self.untold())

    def untold(self) -> list[wire.Message]:
        """That it began, where nobody was told so far; the next one to tell is the caller."""
        if not self._is_untold:
            return []
        assert self._main is not None
        self._is_untold = False
        begun = Begun(
            attempt_id=self._program.attempt_id,
            fence=self._program.fence,
            pid=self._main.pid,
            pid_started_at=self._main.started_at,
        )
        return [{"begun": codec.event_to_plain(begun)}]

    def _main_is_dying(self) -> None:
        self._ending.main_died()
        if self._ending.is_killing:
            self._burial.kill_group()

    def _act(self) -> None:
        if not self._burial.is_over:
            self._count(clock.monotonic())
            sign = self._ending.decide(clock.monotonic())
            if sign is not None:
                self._lose_patience(sign)
                self._burial.signal_all(sign)

    def _count(self, now: float) -> None:
        """The kernel would count all processes of a user, those of other programs too, and of root none at all."""
        most = self._program.limits.processes
        if most is None or now < self._count_at or self._ending.is_killing:
            return
        self._count_at = now + _COUNT_SECONDS
        if proc.has_more_below(os.getpid(), most + len(self._spares)):
            self._excess = f"killed: it had more than {most} processes at once, its limit"
            self._ending.kills(End.EXITED)

    def _lose_patience(self, sign: signal.Signals) -> None:
        """Once, when killing one by one does not get ahead of what forks; for a crowd that is known beforehand."""
        self._kill_rounds += sign == signal.SIGKILL
        if self._kill_rounds == (1 if self._excess else _PATIENT_ROUNDS):
            self._hear_child()
            self._tell()
            self._overwhelmed(self._result())

    def _close(self) -> None:
        for fd in (self._pidfd, self._output, self._status):
            if fd >= 0:
                os.close(fd)
        if self._log is not None:
            self._log.close()

    def _result(self) -> Ended:
        status = None if self._complaint else self._burial.main_status
        code = None if status is None else os.waitstatus_to_exitcode(status)
        if self._excess:  # whatever its main process did meanwhile
            code = -signal.SIGKILL
        return Ended(
            attempt_id=self._program.attempt_id,
            fence=self._program.fence,
            end=End.NOT_STARTED if self._complaint else self._ending.end,
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            cpu_seconds=round(self._burial.cpu_seconds, 6),
            peak_rss_bytes=self._burial.peak_rss_bytes,
            message=self._complaint or self._remark(code),
        )

    def _remark(self, code: int | None) -> str | None:
        """What the exit code alone does not tell."""
        if self._main is None and self._ending.end is End.LEASE_LOST:
            return "its lease ran out before it could start"
        if self._excess:
            return self._excess
        if code is None:
            return None
        if self._ending.end is End.EXITED and code < 0:
            return _killed_by(-code)
        return self._log.trouble if self._log is not None else None


def _killed_by(number: int) -> str:
    match number:
        case signal.SIGXCPU:
            return "killed: it used up its CPU time"
        case signal.SIGKILL:
            return "killed by signal 9, not by us: out of memory, or somebody's kill -9"
        case _:
            return f"killed by signal {number} ({signal.strsignal(number)})"
