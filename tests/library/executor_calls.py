"""Functions for worker processes to call, and somebody to tell how they ended. Workers import it: keep it small."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from waterclock.executors.base import BaseExecutor, Call, Done, How

PATIENCE_SECONDS = 20.0


class Told:
    """Whom an executor tells: what began, what ended, and from which thread."""

    def __init__(self, executor: BaseExecutor) -> None:
        self.executor = executor
        self.begun: list[int] = []
        self.done: dict[int, Done] = {}
        self.threads: dict[int, threading.Thread] = {}
        self._change = threading.Condition()

    def submit(self, *calls: Call) -> "Told":
        self.executor.submit(calls, self._begins, self._ends)
        return self

    def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Done:
        """One call from its beginning to its end."""
        number = len(self.begun) + len(self.done) + 1000
        return self.submit(Call(number, function, args, kwargs)).ended(number)

    def ended(self, number: int) -> Done:
        self._wait(lambda: number in self.done)
        return self.done[number]

    def all_ended(self, *numbers: int) -> list[How]:
        self._wait(lambda: all(number in self.done for number in numbers))
        return [self.done[number].how for number in numbers]

    def has_begun(self, number: int) -> None:
        self._wait(lambda: number in self.begun)

    def _wait(self, condition: Callable[[], bool]) -> None:
        with self._change:
            assert self._change.wait_for(condition, PATIENCE_SECONDS), f"{self.begun} began, {self.done} ended"

    def _begins(self, number: int) -> None:
        with self._change:
            assert number not in self.begun, f"{number} began twice"
            self.begun.append(number)
            self.threads[number] = threading.current_thread()
            self._change.notify_all()

    def _ends(self, done: Done) -> None:
        with self._change:
            assert done.number not in self.done, f"{done.number} ended twice"
            self.done[done.number] = done
            self._change.notify_all()


class Stubborn(Exception):
    """Its pickle cannot be loaded: `__init__` wants more than `args` has."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


class Elsewhere:
    """Comes to life in the worker only."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def __reduce__(self) -> Any:
        return made_in, (self.pid,)


def made_in(pid: int) -> Elsewhere:
    if os.getpid() != pid:
        raise LookupError("not in this process")
    return Elsewhere(pid)


def add(first: int, second: int = 0) -> int:
    return first + second


def pid() -> int:
    return os.getpid()


def fail(text: str) -> None:
    raise ValueError(text)


def fail_stubbornly() -> None:
    raise Stubborn("this", "that")


def leave(code: int) -> None:
    os._exit(code)


def kill_self(number: int) -> None:
    os.kill(os.getpid(), number)


def exit_politely() -> None:
    sys.exit("bye")


def unpicklable() -> object:
    return threading.Lock()


def made_elsewhere() -> Elsewhere:
    return Elsewhere(os.getpid())


async def later(value: int) -> int:
    return value


def close_everything() -> None:
    """Its connection, too: it can never answer, and does not end."""
    os.closerange(3, 1024)
    time.sleep(600)


def start_family(folder: str) -> None:
    """A child, one in a session of its own, and one that lost its parent but not its group; all sleep for long."""
    note = f"import os, time; open(r'{folder}/' + str(os.getpid()), 'x').close(); time.sleep(600)"
    subprocess.Popen([sys.executable, "-S", "-c", note])
    subprocess.Popen([sys.executable, "-S", "-c", note], start_new_session=True)
    if os.fork() == 0:
        subprocess.Popen([sys.executable, "-S", "-c", note])
        os._exit(0)
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(600)


def loaded_modules() -> list[str]:
    return sorted(sys.modules)


initialized_with: list[Any] = []


def initialize(*args: Any) -> None:
    initialized_with.extend(args)


def show_initialized() -> list[Any]:
    return initialized_with


def refuse_first(marker: str) -> None:
    """An initializer that fails until the file is there, which it makes."""
    if not os.path.exists(marker):
        open(marker, "x").close()
        raise OSError("not yet")
