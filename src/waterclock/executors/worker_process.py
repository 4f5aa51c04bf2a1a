"""A worker process as its pool sees it: starting, free, or busy with one call."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import BaseContext
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final

from waterclock.executors import worker
from waterclock.executors.base import Call, Done, How, Order
from waterclock.executors.errors import RemoteError, WorkerDied
from waterclock.executors.killing import kill_tree, wait_for
from waterclock.runners import proc

# Not fork, the system's own way: this process has threads, and a lock that one of them holds at the moment of the fork
# stays locked in the child for ever. Not forkserver: its children would have its environment, not the program's of now.
# It is what APScheduler chooses, too.
DEFAULT_CONTEXT: Final = "spawn"

# Where a worker finds the functions of the script itself. The interpreter takes the name away when the script has run
# to its end; calls that wait by then are still made.
_main: Final = vars(sys.modules["__main__"])
_main_file: Final = _main.get("__file__")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOptions:
    """What `pool_kwargs` may say of a pool of processes."""

    mp_context: BaseContext | str | None = None
    max_tasks_per_child: int | None = None
    initializer: Callable[..., object] | None = None
    initargs: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.context, BaseContext):
            raise TypeError(f"pool_kwargs: mp_context must be a context of multiprocessing, not {self.context!r}")
        most: object = self.max_tasks_per_child
        if most is not None and (not isinstance(most, int) or most < 1):
            raise ValueError(f"pool_kwargs: max_tasks_per_child must be a whole number from 1 on, not {most!r}")

    @property
    def context(self) -> BaseContext:
        chosen = self.mp_context or DEFAULT_CONTEXT
        return get_context(chosen) if isinstance(chosen, str) else chosen


class WorkerProcess:
    """Its pidfd tells its death: its pipes may be held open by children of a call."""

    def __init__(self, options: ProcessOptions) -> None:
        self.connection, theirs = options.context.Pipe()
        try:
            self.process = _started(options.context, (theirs, options.initializer, options.initargs))
            self.pidfd = os.pidfd_open(self.process.pid)
        except BaseException:
            self.connection.close()
            raise
        finally:
            theirs.close()
        self.identity = proc.identify(self.process.pid) or proc.Process(self.process.pid, 0)
        self.order: Order | None = None  # what it is busy with
        self.has_begun = False  # with that
        self.is_heard = True  # something may still come from it
        self.is_ready = False
        self.is_leaving = False  # it was told to, or has said why it cannot work: its end is no surprise
        self.is_condemned = False
        self.calls = 0

    def send(self, pickled: bytes) -> None:
        self.connection.send_bytes(pickled)

    def hear(self) -> worker.Answer:
        answer: worker.Answer = self.connection.recv()
        return answer

    def leave(self) -> None:
        """Let it go: it ends when it sees that nothing more comes."""
        self.is_leaving = True
        self.is_ready = False
        self.connection.close()

    def kill(self) -> None:
        kill_tree(self.identity)

    def bury(self) -> None:
        """Wait for its end, which is near or has come, and keep nothing of it but how it ended."""
        if not wait_for(self.identity):
            self.kill()
        self.process.join()
        self.exit_code: int | None = self.process.exitcode
        with suppress(ValueError):  # somebody else in this program has waited for all children, this one included
            self.process.close()
        self.connection.close()
        os.close(self.pidfd)

    def how_it_died(self) -> WorkerDied:
        moment = "in the middle of the call" if self.is_ready else "before its first call"
        text = f"the worker process {_ending(self.exit_code)} {moment}"
        if not self.is_ready:
            text += '; what starts a scheduler in a script must be under `if __name__ == "__main__":`'
        return WorkerDied(text)


def packed(call: Call) -> bytes:
    """The call as a worker takes it; whatever the pickling raises says what of it cannot be sent."""
    return bytes(ForkingPickler.dumps((call.reference or call.function, call.args, dict(call.kwargs))))


def unpacked(number: int, answer: worker.Answer) -> Done:
    word, pickled, text = answer
    try:
        value = ForkingPickler.loads(pickled)
    except Exception as error:
        what = RemoteError(f"what the call {word} cannot be unpickled in this process: {error}")
        return Done(number, How.RAISED, error=what, traceback=text)
    if word == worker.RETURNED:
        return Done(number, How.RETURNED, value)
    return Done(number, How.RAISED, error=value, traceback=text)


def _started(context: BaseContext, arguments: tuple[Any, ...]) -> Any:
    while True:
        if _main_file is not None:
            _main.setdefault("__file__", _main_file)
        # `Process` is an attribute of every context, though not of their base class.
        process = context.Process(target=worker.work, args=arguments)  # type: ignore[attr-defined]
        process.start()
        if _main_file is None or "__file__" in _main:
            return process
        process.kill()  # the script ended while it was being started: it may not know where to look
        process.join()


def _ending(exit_code: int | None) -> str:
    if exit_code is None:
        return "ended"
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    name = signal.Signals(-exit_code).name if -exit_code in list(signal.Signals) else f"signal {-exit_code}"
    return f"was killed by {name}"
