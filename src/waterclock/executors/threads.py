"""Calls in threads of this process: started on demand, kept, replaced when a call in one of them is given up.

Not `concurrent.futures`: a future and a condition for every call cost more than a short call, and nobody here waits
for one call.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Final

from waterclock.executors.base import Call, Done, How, Order
from waterclock.executors.leaving import close_at_exit
from waterclock.executors.outcome import outcome_of, raised

_pools: Final = itertools.count()


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadOptions:
    """What `pool_kwargs` may say of a pool of threads."""

    thread_name_prefix: str = ""
    initializer: Callable[..., object] | None = None
    initargs: tuple[Any, ...] = ()


class Threads:
    """At most so many at once; the threads are daemons, and the end of the interpreter waits for their calls.

    What is in `_waiting` has not begun: whoever takes it out, a worker or `stop`, decides what becomes of it. In
    `_running` is who runs it; one that `stop` has taken out is given up, and its worker ends with it.
    """

    def __init__(self, most: int, options: ThreadOptions) -> None:
        self._most = most
        self._options = options
        self._prefix = options.thread_name_prefix or f"waterclock-pool-{next(_pools)}"
        self._numbers = itertools.count()
        self._line: deque[Order] = deque()
        self._bell: SimpleQueue[bool] = SimpleQueue()  # there is something in the line; False, the last: they may go
        self._waiting: dict[int, Order] = {}
        self._running: dict[int, threading.Thread] = {}
        self._workers: set[threading.Thread] = set()  # those in service: not the ones that are given up
        self._is_closed = False
        self._change = threading.Condition()  # holds who works here and whether it is closed; tells when one leaves
        close_at_exit(self)

    def submit(self, calls: Sequence[Call], begun: Callable[[int], None], done: Callable[[Done], None]) -> None:
        with self._change:
            if self._is_closed:
                raise RuntimeError("the executor was shut down: it takes no more calls")
            # Before there is something to do: to start a thread beside busy ones is to wait for each of them.
            self._hire(len(calls))
            for call in calls:
                self._waiting[call.number] = order = (call, begun, done)
                self._line.append(order)
            self._ring()

    def stop(self, number: int) -> bool:
        if self.withdraw(number):
            return True
        if worker := self._running.pop(number, None):
            self._leaves(worker)
        return False

    def withdraw(self, number: int) -> bool:
        order = self._waiting.pop(number, None)
        if order:
            order[2](Done(number, How.KILLED))
        return order is not None

    def shutdown(self, wait: bool = True) -> None:
        """A call that was given up is not waited for, nor is the call that shuts its own executor down."""
        with self._change:
            self._is_closed = True
            self._bell.put(False)
        for number in () if wait else list(self._waiting):
            self.withdraw(number)
        if wait:
            me = {threading.current_thread()}
            with self._change:
                self._change.wait_for(lambda: self._workers <= me)

    def renewed(self) -> Threads:
        return Threads(self._most, self._options) if self._is_closed else self

    def _hire(self, coming: int = 0) -> None:
        """As many workers as there is work for beyond those that are free, which are the ones that run nothing."""
        free = len(self._workers) - len(self._running)
        wanted = len(self._waiting) + coming - free
        for _ in range(min(wanted, self._most - len(self._workers))):
            worker = threading.Thread(target=self._work, name=f"{self._prefix}_{next(self._numbers)}", daemon=True)
            try:
                worker.start()
            except RuntimeError:  # the system gives no more threads: those that are there will do
                if self._workers:
                    return
                raise
            self._workers.add(worker)

    def _leaves(self, worker: threading.Thread) -> None:
        with self._change:
            self._workers.discard(worker)
            self._hire()
            self._ring()  # it may have gone with others still in the line
            self._change.notify_all()

    def _ring(self) -> None:
        """Once for each worker that there is something for: hundreds of short calls wake ten threads, not one each."""
        for _ in range(min(len(self._line), len(self._workers))):
            self._bell.put(True)

    def _work(self) -> None:
        me = threading.current_thread()
        try:
            if self._options.initializer is None or self._is_ready(self._options.initializer):
                self._serve(me)
        finally:
            self._leaves(me)

    def _serve(self, me: threading.Thread) -> None:
        stays = True
        while stays:
            stays = self._bell.get()
            if not stays:
                self._bell.put(False)  # for the next worker
            if not self._empty_line(me):
                return

    def _empty_line(self, me: threading.Thread) -> bool:
        """Whatever is in it, one after another. Whether this worker is still one: not if its call was given up."""
        waiting, running, next_in_line = self._waiting, self._running, self._line.popleft
        while True:
            try:
                order = next_in_line()
            except IndexError:
                return True
            call, begun, done = order
            number = call.number
            running[number] = me  # before it is taken: `stop` finds it here or there
            if waiting.pop(number, None) is None:
                del running[number]  # stopped while it waited
                continue
            begun(number)
            ended = outcome_of(call)
            is_given_up = running.pop(number, None) is None
            done(ended)
            if is_given_up:
                return False
            del order, call, ended  # else kept until the next call

    def _is_ready(self, initializer: Callable[..., object]) -> bool:
        """Whether this worker may work. If not, one call fails for it, and the next gets a new worker."""
        try:
            initializer(*self._options.initargs)
        except BaseException as error:
            error.add_note("raised by the initializer of the executor's pool: the call itself was not made")
            self._fail_one(error)
            return False
        return True

    def _fail_one(self, error: BaseException) -> None:
        with self._change:  # whoever hired this worker has put the call into the line by then
            order = self._take()
        if order:
            call, begun, done = order
            begun(call.number)
            done(raised(call.number, error))

    def _take(self) -> Order | None:
        with suppress(IndexError):
            while order := self._line.popleft():
                if self._waiting.pop(order[0].number, None):
                    return order
        return None
