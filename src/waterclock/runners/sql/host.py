"""The SQL host: a process beside the worker that has imported the engine once and forks an executor for each query.

Single-threaded and without a loop of asyncio's, so that its forks are whole. Whoever starts it hears one line: that it
serves, that another does, or why it cannot.
"""

import fcntl
import gc
import importlib
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from waterclock import __version__
from waterclock.runners import linux
from waterclock.runners.sql import door
from waterclock.runners.sql.crew import Patience
from waterclock.runners.sql.engine import Engine, EngineMissing
from waterclock.runners.sql.hosting import ANOTHER, READY, REMOTE, VERSION
from waterclock.runners.sql.query import OutputsOf
from waterclock.runners.sql.serving import Host

ENGINES: Final = {"sail": "waterclock.runners.sql.sail", "spark": "waterclock.runners.sql.spark"}


def main(argv: Sequence[str]) -> int:
    """`SOCKET ENGINE WARM`; where the engine is, if it is elsewhere, is in the environment."""
    path, name, warm = argv
    word = detached()
    if word is not None:
        from waterclock.runners.sql.outputs_of import outputs_of, preload

        engine: Engine = importlib.import_module(ENGINES[name]).engine(os.environ.get(REMOTE, ""))
        run(Path(path), engine, outputs_of, warm=int(warm), word=word, preload=preload)
    return 0


def run(
    path: Path,
    engine: Engine,
    outputs: OutputsOf,
    *,
    warm: int,
    word: int,
    preload: Callable[[], None] = lambda: None,
    patience: Patience = Patience(),  # noqa: B008 - frozen
) -> None:
    """Alone with its socket, until nobody needs it; `word` is where to say how it went."""
    linux.name_process(b"wc-sql-host")
    try:
        lock = _locked(path.with_suffix(".lock"))
        if lock is None:
            _say(word, ANOTHER)
            return
        _check_version()
        _move_in(path.with_suffix(".d"))
        engine.prepare()
        preload()
        gc.collect()
        gc.freeze()  # a collection in a fork must not touch, and so copy, the shared pages
        listening = door.listen(path)
    except EngineMissing as missing:
        _say(word, str(missing))
        return
    except PermissionError as problem:
        _say(word, f"{problem}: its folder must be passable for the user that programs run as (chmod o+x)")
        return
    except OSError as problem:
        _say(word, str(problem))
        return
    _say(word, READY)
    try:
        Host(listening, engine, outputs, warm=warm, patience=patience).serve()
    finally:
        path.unlink(missing_ok=True)
        engine.close()
        shutil.rmtree(path.with_suffix(".d"), ignore_errors=True)


def detached() -> int | None:
    """None in the process that was started, after it has passed on the word; in its child, where to say that word."""
    read, write = os.pipe2(os.O_CLOEXEC)
    if os.fork() > 0:
        os.close(write)
        with open(read, encoding="utf-8") as said:
            print(said.read().strip(), flush=True)
        return None
    os.close(read)
    os.setsid()
    os.dup2(2, 1)  # the log
    return write


def _check_version() -> None:
    theirs = os.environ.get(VERSION, __version__)
    if theirs != __version__:
        raise EngineMissing(
            f"{sys.executable} has waterclock {__version__}, this worker is {theirs}: install the same version there"
        )


def _move_in(home: Path) -> None:
    """A folder of its own for what engines keep on the disk, empty, whatever an earlier host has left there."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(mode=0o700)
    os.chdir(home)


def _locked(path: Path) -> int | None:
    """The kernel lets go of it when we die; our forks do not hold it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def _say(fd: int, word: str) -> None:
    with open(fd, "w", encoding="utf-8") as line:
        line.write(" ".join(word.splitlines()) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
