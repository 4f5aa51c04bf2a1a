"""The thread behind a pool of processes: it starts the workers, hands them calls, hears them and sees them die."""

from __future__ import annotations

import logging
import os
import selectors
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

from waterclock.executors import worker
from waterclock.executors.backlog import Backlog
from waterclock.executors.base import Done, How, Order
from waterclock.executors.errors import RemoteError
from waterclock.executors.killing import kill_group
from waterclock.executors.outcome import raised
from waterclock.executors.worker_process import ProcessOptions, WorkerProcess, packed, unpacked

_log: Final = logging.getLogger(__name__)
T = TypeVar("T")


class Watch:
    """A round: start workers where calls wait, hand out calls, wait for something to happen, kill what must be."""

    def __init__(self, backlog: Backlog, most: int, options: ProcessOptions) -> None:
        self._backlog = backlog
        self._most = most
        self._options = options
        self._workers: list[WorkerProcess] = []
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        with self._selector:
            self._selector.register(self._backlog.bell, selectors.EVENT_READ, self._wake)
            while not self._backlog.is_over():
                self._hire()
                self._hand_out()
                for key, _ in self._selector.select():
                    if key.fd in self._selector.get_map():  # else it went with another event of this round
                        key.data()
                self._kill_condemned()
            self._dismiss()
            self._backlog.forget_bell()

    def _wake(self) -> None:
        os.eventfd_read(self._backlog.bell)

    def _hire(self) -> None:
        staying = [one for one in self._workers if not one.is_leaving]
        busy = sum(1 for one in staying if one.order is not None)
        for _ in range(min(busy + len(self._backlog), self._most) - len(staying)):
            try:
                self._add(WorkerProcess(self._options))
            except Exception as error:
                if self._workers:
                    return  # those that are there will do
                error.add_note("no worker process could be started: the call itself was not made")
                self._fail_one(partial(raised, error=error))

    def _add(self, hired: WorkerProcess) -> None:
        self._workers.append(hired)
        self._selector.register(hired.connection, selectors.EVENT_READ, partial(self._hear, hired))
        self._selector.register(hired.pidfd, selectors.EVENT_READ, partial(self._bury, hired))

    def _hand_out(self) -> None:
        for one in self._workers:
            while one.is_ready and one.order is None and (order := self._backlog.take()):
                self._hand(one, order)

    def _hand(self, one: WorkerProcess, order: Order) -> None:
        call, begun, _ = order
        try:
            pickled = packed(call)
        except Exception as error:
            what = RemoteError(f"the call cannot be sent to a worker process: {error}")
            _tell(begun, call.number)
            self._end(order, raised(call.number, what))
            return
        one.order, one.has_begun = order, False
        with suppress(OSError):  # it is dead, as will be seen in a moment
            one.send(pickled)

    def _hear(self, one: WorkerProcess) -> None:
        try:
            answer = one.hear()
        except Exception:  # it dies, or its call closed or wrote on what is not its own: no word can come any more
            self._stop_hearing(one)
            one.kill()
            return
        if answer[0] == worker.READY:
            one.is_ready = True
        elif answer[0] == worker.BEGUN and one.order is not None:
            one.has_begun = True
            _tell(one.order[1], one.order[0].number)
        elif one.order is None:
            one.is_leaving = True  # its initializer failed
            self._fail_one(partial(unpacked, answer=answer))
        else:
            self._answered(one, one.order, answer)

    def _answered(self, one: WorkerProcess, order: Order, answer: worker.Answer) -> None:
        one.order = None
        one.calls += 1
        if one.calls == self._options.max_tasks_per_child:
            self._stop_hearing(one)
            one.leave()
        self._end(order, unpacked(order[0].number, answer))

    def _kill_condemned(self) -> None:
        for one in self._workers:
            if one.order and not one.is_condemned and self._backlog.is_condemned(one.order[0].number):
                one.is_condemned = True
                one.kill()

    def _bury(self, one: WorkerProcess) -> None:
        """It is dead. What it said before counts; a call that it did not answer ended with it."""
        while one.is_heard and one.connection.poll():
            self._hear(one)
        self._stop_hearing(one)
        self._selector.unregister(one.pidfd)
        self._workers.remove(one)
        if one.order is not None:
            kill_group(one.identity.pid)
        one.bury()
        if one.order is not None and (one.has_begun or one.is_condemned):
            self._end(one.order, _death(one, one.order[0].number))
        elif one.order is not None:
            self._backlog.give_back(one.order)  # it has run nothing of it
        elif not one.is_ready and not one.is_leaving:
            self._fail_one(partial(_death, one))

    def _stop_hearing(self, one: WorkerProcess) -> None:
        if one.is_heard:
            one.is_heard = False
            self._selector.unregister(one.connection)

    def _dismiss(self) -> None:
        """All calls have ended."""
        for one in self._workers:
            one.leave()
        for one in self._workers:
            one.bury()
        self._workers.clear()

    def _fail_one(self, ended: Callable[[int], Done]) -> None:
        """A worker that never came to work fails one call, so that nobody waits for ever; the next gets a new one."""
        if order := self._backlog.take():
            _tell(order[1], order[0].number)
            self._end(order, ended(order[0].number))

    def _end(self, order: Order, ended: Done) -> None:
        self._backlog.end(ended.number)
        _tell(order[2], ended)


def _death(one: WorkerProcess, number: int) -> Done:
    if one.is_condemned:
        return Done(number, How.KILLED)
    return Done(number, How.DIED, error=one.how_it_died())


def _tell(whom: Callable[[T], None], what: T) -> None:
    """Whoever is told may fail; the calls of others go on."""
    try:
        whom(what)
    except Exception:
        _log.exception("nobody could be told of a call in a worker process: %r", what)
