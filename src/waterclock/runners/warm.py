"""A Python script in a fork of the warm interpreter: the same to the script as `python script`, without the start-up.

What differs, on purpose: standard output is line-buffered, so that a log can be followed; hash seeds are those of the
warm interpreter. A script that asks for more (PYTHON* settings, a folder or zip file as program) gets a fresh one.
"""

import atexit
import gc
import importlib.machinery
import io
import logging
import os
import signal
import sys
import sysconfig
import threading
import time
import types
from collections.abc import Mapping
from itertools import islice
from typing import Final, NamedTuple, NoReturn, Protocol

from waterclock.domain.errors import CannotRun

_UNDERSTOOD: Final = frozenset({"PYTHONPATH", "PYTHONUNBUFFERED"})
_READ_BYTES: Final = 64 * 1024
_LIBRARIES: Final = tuple({os.path.realpath(path) + os.sep for path in sysconfig.get_paths().values()})
_OWN_HANDLERS: Final = len(logging._handlerList)  # type: ignore[attr-defined]
_BEFORE: Final = {"collections": 0}  # of what had stayed for a while, when nothing was forked yet
REHEARSALS: Final = 40  # until the interpreter has fitted its code to what it sees, and writes to it no more
_REHEARSED: Final = b"def echo(*x, **y): return x, y\necho(1, [2.5], {'3': '4'})\nprint('rehearsal')\n"


class Calling(Protocol):
    """What a script is to see."""

    @property
    def argv(self) -> tuple[str, ...]: ...

    @property
    def env(self) -> Mapping[str, str]: ...


class Script(NamedTuple):
    """As it was read, and the folder that it really lies in."""

    source: bytes
    folder: str


def understands(env: Mapping[str, str]) -> bool:
    """False when only a fresh interpreter does as it is told."""
    return all(name in _UNDERSTOOD for name in env if name.startswith("PYTHON"))


def read(path: str) -> Script | None:
    """None when only a fresh interpreter can run it. The kernel tells its folder: without a look at each part."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        source = b""
        while more := os.read(fd, _READ_BYTES):
            source += more
        folder = os.path.dirname(os.readlink(f"/proc/self/fd/{fd}"))
        os.close(fd)
    except IsADirectoryError:
        return None
    except OSError as error:
        raise CannotRun(f"cannot read the script {path!r}: {error.strerror}") from None
    return None if source.startswith(b"PK\x03\x04") else Script(source, folder)


def rehearse() -> None:
    """Once, before any fork: what the interpreter makes or looks up at its first use, it would in every fork."""
    os.environ.clear()
    atexit.unregister(logging.shutdown)  # done where there is something to shut down
    signal.signal(signal.SIGINT, signal.default_int_handler)  # blocked until a program is to be
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True, write_through=True)
    io.TextIOWrapper(io.BytesIO(), write_through=True).write("rehearsal")
    os.path.realpath(os.curdir)
    for _ in range(REHEARSALS):
        _rehearse_once()
    _BEFORE["collections"] = gc.get_stats()[1]["collections"]


class _Rehearsed(NamedTuple):
    argv: tuple[str, ...]
    env: Mapping[str, str]


def _rehearse_once() -> None:
    """A script from its reading to its last file, but for what could not be undone: its exit functions and its exit."""
    before = sys.argv, sys.orig_argv, sys.path[:], sys.modules["__main__"], sys.stdout
    script = read(__file__)
    assert script is not None
    _dress(_Rehearsed((__file__,), {f"WATERCLOCK_{number}": "rehearsal" for number in range(16)}), script.folder)
    gc.disable()
    sys.stdout = io.StringIO()
    _call(_execute, __file__, _REHEARSED)
    _flush_open_files()
    sys.argv, sys.orig_argv, sys.path[:], sys.modules["__main__"], sys.stdout = before
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(write_through=True)
    os.environ.clear()


def run(called: Calling, script: Script) -> NoReturn:
    """Run it to its end and leave with its exit code."""
    code = 1
    try:
        before = len(sys.modules)
        _dress(called, script.folder)
        code = _call(_execute, called.argv[0], script.source)
        code = _wind_down(code)
        _flush_open_files()  # a collected cycle may close a file below its buffer
        _let_go(before)
        _flush_open_files()
    finally:
        _flush(sys.stdout)
        _flush(sys.stderr)
        os._exit(code)


def _dress(called: Calling, folder: str) -> None:
    """The interpreter's own state as a new one would have it, but for what `rehearse` has done."""
    for name, value in called.env.items():
        os.environ[name] = value
    if "TZ" in called.env:
        time.tzset()
    sys.argv = list(called.argv)
    sys.orig_argv = [sys.executable, *called.argv]
    extra = [os.path.abspath(part) for part in called.env.get("PYTHONPATH", "").split(os.pathsep) if part]
    sys.path[:0] = [folder, *extra]
    if not called.env.get("PYTHONUNBUFFERED") and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(write_through=False)
    gc.enable()


def _main_module(path: str) -> dict[str, object]:
    module = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    vars(module).update(__file__=path, __cached__=None, __loader__=loader, __builtins__=sys.modules["builtins"])
    sys.modules["__main__"] = module
    return vars(module)


def _execute(path: str, source: bytes) -> None:
    code = compile(source, path, "exec", dont_inherit=True)
    exec(code, _main_module(path))  # noqa: S102 - running the job's script is what this file is for


def _call(step: object, *arguments: object) -> int:
    """The exit code that the interpreter itself would leave with."""
    try:
        step(*arguments)  # type: ignore[operator]
    except SystemExit as leaving:
        return _exit_code(leaving.code)
    except KeyboardInterrupt as interrupt:
        _report(interrupt)
        _die_by_interrupt()
    except BaseException as error:
        _report(error)
        return 1
    return 0


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    _flush(sys.stdout)
    print(code, file=sys.stderr)
    return 1


def _report(error: BaseException) -> None:
    """Through the script's own hook, without the two frames of ours that lie below its first."""
    trace = error.__traceback__
    for _ in range(2):
        trace = trace.tb_next if trace else None
    _flush(sys.stdout)
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _die_by_interrupt() -> NoReturn:
    _flush(sys.stdout)
    _flush(sys.stderr)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    os._exit(130)


def _wind_down(code: int) -> int:
    """Threads first, then what was registered to run at exit, as the interpreter does."""
    failed = 0
    if threading.active_count() > 1 or threading._threading_atexits:  # type: ignore[attr-defined]
        failed = _call(threading._shutdown)  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if len(logging._handlerList) > _OWN_HANDLERS:  # type: ignore[attr-defined]
        logging.shutdown()
    return code or failed


def _let_go(before: int) -> None:
    """Drop the script's own modules, so that what they hold is closed; not while a daemon thread uses them."""
    if threading.active_count() > 1:
        return
    # The newest first, and no further: to look at the others is to copy their pages.
    new = list(islice(reversed(sys.modules), max(0, len(sys.modules) - before)))
    for name in ("__main__", *(name for name in new if _is_own(sys.modules[name]))):
        sys.modules.pop(name, None)
    # A short script has nothing in the oldest generation, and a full collection costs as much as the script did.
    gc.collect(2 if gc.get_stats()[1]["collections"] > _BEFORE["collections"] else 1)


def _is_own(module: types.ModuleType) -> bool:
    path = getattr(module, "__file__", None)
    return isinstance(path, str) and not os.path.realpath(path).startswith(_LIBRARIES)


def _flush_open_files() -> None:
    """Files that something still holds: a fresh interpreter would have closed them."""
    for held in gc.get_objects():
        if isinstance(held, (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)) and not held.closed:
            _flush(held)


def _flush(stream: object) -> None:
    try:
        stream.flush()  # type: ignore[attr-defined]
    except Exception:  # a stream of the script's own may raise anything; there is nobody left to tell
        return
