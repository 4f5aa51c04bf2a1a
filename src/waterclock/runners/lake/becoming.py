"""From a task to the program that it has prepared: this process becomes it, so that its end is the run's own."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from waterclock.runners.lake.task import TaskFailed


def become(argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> NoReturn:
    """Nothing of ours waits beside it: exit code, signals and output are its own."""
    sys.stdout.flush()
    sys.stderr.flush()
    # Python ignores these; a program expects them to have their default effect.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.chdir(cwd)
        os.execve(argv[0], list(argv), dict(env))
    except (OSError, ValueError) as problem:
        raise TaskFailed(f"cannot start the program: {problem}") from None


def arguments_of(task: Mapping[str, Any]) -> tuple[str, ...]:
    given = task.get("args") or ()
    if not isinstance(given, list | tuple) or not all(isinstance(each, str | int | float) for each in given):
        raise TaskFailed("args must be a list of texts")
    return tuple(str(each) for each in given)


def text_of(task: Mapping[str, Any], field: str) -> str | None:
    """None where there is none, or nothing in it."""
    given = task.get(field)
    if given is not None and not isinstance(given, str):
        raise TaskFailed(f"{field} must be a text")
    return given or None
