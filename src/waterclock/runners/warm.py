"""A Python script in a fork of the warm interpreter: the same to the script as `python script`, without the start-up.

What differs, on purpose: standard output is line-buffered, so that a log can be followed; hash seeds are those of the
warm interpreter. A script that asks for more (PYTHON* settings, a folder or zip file as program) gets a fresh one.
"""

import atexit
import gc
import importlib.machinery
import io
import os
import signal
import sys
import sysconfig
import threading
import time
import types
from dataclasses import dataclass
from itertools import islice
from typing import Final, NoReturn

from waterclock.domain.errors import CannotRun
from waterclock.runners.base import Program

_UNDERSTOOD: Final = frozenset({"PYTHONPATH", "PYTHONUNBUFFERED"})
_LIBRARIES: Final = tuple({os.path.realpath(path) + os.sep for path in sysconfig.get_paths().values()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script that was read, with all that it is to see."""

    path: str
    source: bytes
    argv: tuple[str, ...]
    env: dict[str, str]


def load(program: Program) -> Script | None:
    """Read it; None when only a fresh interpreter can run it as it asks."""
    path = program.argv[0]
    asked = {name for name in program.env if name.startswith("PYTHON")}
    if not asked <= _UNDERSTOOD or os.path.isdir(path):
        return None
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise CannotRun(f"cannot read the script {path!r}: {error.strerror}") from None
    if source.startswith(b"PK\x03\x04"):
        return None
    return Script(path=path, source=source, argv=program.argv, env=dict(program.env))


def rehearse() -> None:
    """Touch beforehand what every script touches: in a fork the first touch copies the page."""
    names: dict[str, object] = {"__builtins__": sys.modules["builtins"]}
    exec(compile("def echo(*x, **y): return x, y\necho(1, [2.5], {'3': '4'})\n", "rehearsal", "exec"), names)  # noqa: S102
    io.TextIOWrapper(io.BytesIO(), write_through=True).write("rehearsal")
    os.path.realpath(os.curdir)


def run(script: Script) -> NoReturn:
    """Run it to its end and leave with its exit code."""
    code = 1
    try:
        before = len(sys.modules)
        _dress(script)
        code = _call(_execute, script)
        code = _wind_down(code)
        _flush_open_files()  # a collected cycle may close a file below its buffer
        _let_go(before)
        _flush_open_files()
    finally:
        _flush(sys.stdout)
        _flush(sys.stderr)
        os._exit(code)


def _dress(script: Script) -> None:
    """The interpreter's own state as a new one would have it."""
    os.environ.clear()
    os.environ.update(script.env)
    if "TZ" in script.env:
        time.tzset()
    sys.argv = list(script.argv)
    sys.orig_argv = [sys.executable, *script.argv]
    extra = [os.path.abspath(part) for part in script.env.get("PYTHONPATH", "").split(os.pathsep) if part]
    sys.path[:0] = [os.path.dirname(os.path.realpath(script.path)), *extra]
    unbuffered = bool(script.env.get("PYTHONUNBUFFERED"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True, write_through=unbuffered)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.enable()


def _main_module(script: Script) -> dict[str, object]:
    module = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", script.path)
    vars(module).update(__file__=script.path, __cached__=None, __loader__=loader, __builtins__=sys.modules["builtins"])
    sys.modules["__main__"] = module
    return vars(module)


def _execute(script: Script) -> None:
    code = compile(script.source, script.path, "exec", dont_inherit=True)
    exec(code, _main_module(script))  # noqa: S102 - running the job's script is what this file is for


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
    failed = _call(threading._shutdown)  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
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
    gc.collect(2 if gc.get_stats()[1]["collections"] else 1)


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
