"""Which program runs a script: by the job's kind, never through a shell."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waterclock.domain.errors import CannotRun

PYTHON: Final = "python"
NEEDS_ENGINE: Final[Mapping[str, str]] = {
    "spark": "Spark (install waterclock[spark])",
    "ray": "Ray (install waterclock[ray])",
}
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    argv: tuple[str, ...]
    warm: bool = False


def command(
    kind: str, script: Path, arguments: Sequence[str], interpreters: Mapping[str, str], python: str | None = None
) -> Command:
    """`python` is that of the job's own virtual environment, where it has one."""
    if kind == PYTHON:
        if python is None:
            return Command(argv=(str(script), *arguments), warm=True)
        return Command(argv=(python, str(script), *arguments))
    if kind == "shell":
        return Command(argv=("/bin/sh", str(script), *arguments))
    if kind == "java":
        return Command(argv=(_found("java", kind), "-jar", str(script), *arguments))
    if kind in interpreters:
        return Command(argv=(_found(interpreters[kind], kind), str(script), *arguments))
    if kind in NEEDS_ENGINE:
        raise CannotRun(f"jobs of kind {kind!r} need {NEEDS_ENGINE[kind]}; this worker has none")
    known = ", ".join(sorted({PYTHON, "shell", "java", *interpreters}))
    raise CannotRun(
        f"job kind {kind!r} is not known to this worker; it knows {known} (setting `interpreters` adds more)"
    )


def own_python() -> str:
    """The interpreter that serves us, never a shim in front of it."""
    return sys.executable


def located(program: str) -> str | None:
    """Where it is, by the programs' own PATH first."""
    return shutil.which(program, path=PATH) or shutil.which(program)


def _found(program: str, kind: str) -> str:
    path = located(program)
    if path is None:
        raise CannotRun(f"jobs of kind {kind!r} are run by {program!r}, which is not installed on this worker")
    return path
