"""Where programs of a user are born: each in a process of its own, of a parent that has imported the package already.

A program's process is what `python program.py` makes, down to how it ends; only the imports are done once for all.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

OUTPUT, ERRORS = "output", "errors.txt"


class Program:
    """A running program, in a session of its own, as in a terminal."""

    def __init__(self, nursery: "Nursery", pid: int, folder: Path) -> None:
        self._nursery = nursery
        self._folder = folder
        self.pid = pid
        self._output = (folder / OUTPUT).open()

    def line_with(self, text: str) -> str:
        return next((line for line in self._output if text in line), f"no {text!r} before its end: {self.errors()}")

    def interrupted(self) -> str:
        """What it still says after Ctrl-C, which a terminal sends to all processes of a program."""
        os.killpg(self.pid, signal.SIGINT)
        return self.rest()

    def rest(self) -> str:
        """What it says until it has ended, in peace."""
        said = self._output.read()
        assert self._nursery.status_of(self.pid) == 0, self.errors()
        return said

    def errors(self) -> str:
        return (self._folder / ERRORS).read_text()

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._output.close()


class Nursery:
    def __init__(self, modules: Sequence[str], folder: Path) -> None:
        """`folder` is on the path of all programs: what is installed there they find."""
        self._process = subprocess.Popen(
            [sys.executable, __file__, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))},
        )
        self._ended: dict[int, int] = {}

    @contextmanager
    def running(self, script: Path, *args: str) -> Iterator[Program]:
        """Nothing of it is left behind."""
        os.mkfifo(script.parent / OUTPUT)
        assert self._process.stdin
        self._process.stdin.write(json.dumps([str(script), *args]) + "\n")
        self._process.stdin.flush()
        while len(heard := self._hear()) != 1:
            self._ended[heard[0]] = heard[1]
        program = Program(self, heard[0], script.parent)
        try:
            yield program
        finally:
            program.close()
            (script.parent / OUTPUT).unlink()

    def status_of(self, pid: int) -> int:
        while pid not in self._ended:
            number, status = self._hear()
            self._ended[number] = status
        return self._ended[pid]

    def _hear(self) -> list[int]:
        """A pid: it was born. A pid and a status: it has ended."""
        assert self._process.stdout
        return [int(number) for number in self._process.stdout.readline().split()]

    def close(self) -> None:
        with self._process:
            self._process.kill()


def say(*numbers: int) -> None:
    os.write(1, (" ".join(map(str, numbers)) + "\n").encode())


def reap(*_: object) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            say(*ended)


def born() -> list[str]:
    """Returns in each child, with its script and its arguments; the parent goes on until nobody orders any more."""
    signal.signal(signal.SIGCHLD, reap)
    for order in sys.stdin:
        if not (pid := os.fork()):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return [str(word) for word in json.loads(order)]
        say(pid)
    sys.exit()


def settle(script: Path) -> None:
    """In its folder, with its output where the test reads it."""
    os.setsid()
    os.chdir(script.parent)
    for name, flags, descriptor in (
        (os.devnull, os.O_RDONLY, 0),
        (ERRORS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 2),
        (OUTPUT, os.O_WRONLY, 1),
    ):
        os.dup2(os.open(name, flags, 0o644), descriptor)
    sys.path[0] = str(script.parent)


if __name__ == "__main__":
    for module in sys.argv[1:]:
        import_module(module)
    sys.argv = born()
    __file__ = sys.argv[0]
    settle(Path(__file__))
    exec(compile(Path(__file__).read_bytes(), __file__, "exec"))  # noqa: S102  # the program is the test's own
