"""What an executor hears while it works: orders, the word to cancel, and the deaths of those that it works for.

The host kills it, or tells it, when the program of its query has gone. But the host may be stopped, or hang: so the
executor looks for itself. What nobody waits for any more is never put in place.
"""

import contextlib
import os
import queue
import select
import threading
from collections.abc import Callable
from typing import Final

from waterclock.runners import proc, wire
from waterclock.runners.proc import Process

HOST_SECONDS: Final = 2.0  # that the host has to notice it before the executor leaves by itself


class Ear:
    """A thread. `cancel` ends at the engine what runs there; `is_last` says whether to leave is to end it."""

    def __init__(self, host: wire.Line, cancel: Callable[[], None], *, is_last: bool) -> None:
        self._host = host
        self._cancel = cancel
        self._is_last = is_last
        self._taken = self._ended = self._cancelled = 0  # numbers of orders
        self._program: int | None = None
        self.orders: queue.SimpleQueue[wire.Message] = queue.SimpleQueue()

    def listen(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()

    def is_cancelled(self) -> bool:
        return self._cancelled == self._taken

    def end(self) -> None:
        """The order that was taken last is done with."""
        self._ended = self._taken

    def _listen(self) -> None:
        while True:
            while (message := self._host.next()) is None:
                self._wait()
            if "order" in message:
                self._taken = message["number"]
                self._follow(Process(*message["program"]))
                self.orders.put(message)
            elif message.get("cancel") == self._taken:  # else it has ended meanwhile
                self._call_off()

    def _wait(self) -> None:
        """For a word of the host; without a host there is nothing to live for."""
        heard = _readable(self._host.fd, self._program, seconds=None)
        if self._host.fd not in heard:
            self._mourn()
        elif not self._host.read():
            os._exit(0)

    def _follow(self, program: Process) -> None:
        self._let_go()
        with contextlib.suppress(OSError):
            self._program = os.pidfd_open(program.pid)
        if proc.identify(program.pid) != program:
            self._let_go()
            self._cancelled = self._taken

    def _mourn(self) -> None:
        """The program has ended: after its query, as it should, or before."""
        self._let_go()
        if self._ended == self._taken:
            return
        self._call_off()
        if self._is_last and not _readable(self._host.fd, None, seconds=HOST_SECONDS):
            os._exit(0)

    def _call_off(self) -> None:
        self._cancelled = self._taken
        try:
            self._cancel()
        except Exception:  # what cannot be cancelled is killed by the host
            return

    def _let_go(self) -> None:
        if self._program is not None:
            os.close(self._program)
            self._program = None


def _readable(host: int, program: int | None, *, seconds: float | None) -> set[int]:
    poll = select.poll()
    for fd in (host, program):
        if fd is not None:
            poll.register(fd, select.POLLIN)
    return {fd for fd, _ in poll.poll(None if seconds is None else seconds * 1000)}
