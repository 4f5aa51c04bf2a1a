"""A process in reserve: forked before anybody needs it, it waits for the program that it is to become.

A fork is most of what a short run costs, and most of that is the copying of pages that any code touches first. Done
while the keeper has nothing else to do, it is not on the way from an order to the program's first line.
"""

import contextlib
import gc
import os
from dataclasses import dataclass

from waterclock import clock
from waterclock.runners import child, linux, proc
from waterclock.runners.child import Birth
from waterclock.runners.linux import EnvironmentSlot
from waterclock.runners.proc import Process


@dataclass(slots=True, kw_only=True)
class Spare:
    """The keeper's ends of its pipes."""

    process: Process
    pidfd: int  # can be read once it is dead
    output: int
    status: int
    orders: int

    def is_waiting(self) -> bool:
        """Whether it still lives; it is our child, so it is buried here if not. Its number may be another's by now."""
        try:
            return os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED | os.WNOHANG) is None
        except ChildProcessError:  # it was buried
            return False

    def give(self, order: bytes) -> None:
        """From here on it is the program."""
        rest = memoryview(order)
        with contextlib.suppress(BrokenPipeError):  # it has died, which is its end
            while rest:
                rest = rest[os.write(self.orders, rest) :]
        os.close(self.orders)

    def close(self) -> None:
        for fd in (self.pidfd, self.output, self.status, self.orders):
            os.close(fd)


def fork(slot: EnvironmentSlot, count: int) -> list[Spare]:
    """As many as can be had, and OSError for none. It returns in the keeper alone.

    Nothing is done between two forks that could be done before or after: after each fork a page that the keeper
    writes to is copied once more. No fork has another's ends: the next one is made when these are closed.
    """
    open_files, keeper = os.sysconf("SC_OPEN_MAX"), os.getpid()
    born: list[tuple[int, int, int, int]] = []
    moments = [clock.monotonic()]
    gc.freeze()  # what the keeper made is not the program's to collect: a look at it would copy its pages
    try:
        while len(born) < count:
            output_read, output = os.pipe2(os.O_CLOEXEC)
            status_read, status = os.pipe2(os.O_CLOEXEC)
            orders, orders_write = os.pipe2(os.O_CLOEXEC)
            try:
                pid = linux.fork()
                if pid == 0:
                    child.become(Birth(output, status, orders, keeper, open_files), slot)
            except OSError:
                for fd in (output_read, status_read, orders_write):
                    os.close(fd)
                raise
            finally:
                os.close(output)
                os.close(status)
                os.close(orders)
            born.append((pid, output_read, status_read, orders_write))
            moments.append(clock.monotonic())
    except OSError:
        if not born:
            raise
    return [_spare(each, *moments[at : at + 2]) for at, each in enumerate(born)]


def _spare(born: tuple[int, int, int, int], before: float, after: float) -> Spare:
    pid, output, status, orders = born
    os.set_blocking(output, False)
    os.set_blocking(status, False)
    process = _process(pid, proc.tick(before), proc.tick(after))
    return Spare(process=process, pidfd=os.pidfd_open(pid), output=output, status=status, orders=orders)


def _process(pid: int, before: int, after: int) -> Process:
    """Who was forked between these ticks; asking the kernel takes about as long as the fork."""
    if before == after:
        return Process(pid, before)
    process = proc.identify(pid)
    assert process is not None, "nobody else can have reaped it"
    return process
