"""A process in reserve: forked before anybody needs it, it waits for the program that it is to become.

A fork is most of what a short run costs, and most of that is the copying of pages that any code touches first. Done
while the keeper has nothing else to do, it is not on the way from an order to the program's first line.
"""

import contextlib
import gc
import os
from dataclasses import dataclass

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


def fork(slot: EnvironmentSlot) -> Spare:
    """It returns in the keeper alone."""
    output_read, output = os.pipe2(os.O_CLOEXEC)
    status_read, status = os.pipe2(os.O_CLOEXEC)
    orders, orders_write = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(output_read, False)
    os.set_blocking(status_read, False)
    birth = Birth(output, status, orders, os.getpid(), os.sysconf("SC_OPEN_MAX"))
    gc.freeze()  # what the keeper made is not the program's to collect: a look at it would copy its pages
    before = proc.tick()
    try:
        pid = linux.fork()
        if pid == 0:
            child.become(birth, slot)
    except OSError:
        for fd in (output_read, output, status_read, status, orders, orders_write):
            os.close(fd)
        raise
    for fd in (output, status, orders):
        os.close(fd)
    process = _born(pid, before)
    return Spare(process=process, pidfd=os.pidfd_open(pid), output=output_read, status=status_read, orders=orders_write)


def _born(pid: int, before: int) -> Process:
    """Who was forked after that tick; asking the kernel takes about as long as the fork."""
    if proc.tick() == before:
        return Process(pid, before)
    process = proc.identify(pid)
    assert process is not None, "nobody else can have reaped it"
    return process
