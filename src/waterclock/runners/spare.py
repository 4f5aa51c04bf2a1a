"""A process in reserve: forked before anybody needs it, it waits for the program that it is to become.

A fork is most of what a short run costs, and most of that is the copying of pages that any code touches first. Done
while the keeper has nothing else to do, it is not on the way from an order to the program's first line.
"""

import os
from dataclasses import dataclass

from waterclock.runners import proc, wire
from waterclock.runners.child import Birth
from waterclock.runners.codec import Plain
from waterclock.runners.proc import Process


@dataclass(frozen=True, slots=True, kw_only=True)
class Spare:
    """The keeper's ends of its pipes."""

    process: Process
    output: int
    status: int
    orders: int

    def is_waiting(self) -> bool:
        """Whether it still lives; it is our child, so it is buried here if not."""
        return os.waitpid(self.process.pid, os.WNOHANG)[0] == 0

    def give(self, order: Plain) -> None:
        """From here on it is the program."""
        line = wire.Line(self.orders)
        line.send(order)
        os.close(self.orders)

    def close(self) -> None:
        for fd in (self.output, self.status, self.orders):
            os.close(fd)


def fork() -> Spare | Birth:
    """A Spare in the keeper, a Birth in the fork."""
    keeper = os.getpid()
    output_read, output = os.pipe2(os.O_CLOEXEC)
    status_read, status = os.pipe2(os.O_CLOEXEC)
    orders, orders_write = os.pipe2(os.O_CLOEXEC)
    for fd in (output_read, status_read):
        os.set_blocking(fd, False)
    try:
        pid = os.fork()
    except OSError:
        for fd in (output_read, output, status_read, status, orders, orders_write):
            os.close(fd)
        raise
    if pid == 0:
        return Birth(output=output, status=status, orders=orders, keeper=keeper)
    for fd in (output, status, orders):
        os.close(fd)
    process = proc.identify(pid)
    assert process is not None, "nobody else can have reaped it"
    return Spare(process=process, output=output_read, status=status_read, orders=orders_write)
