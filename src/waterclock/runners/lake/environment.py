"""The virtual environment of a Python job: made once for an interpreter and a set of packages, kept for later runs."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from waterclock.runners import virtualenv
from waterclock.runners.lake import tool
from waterclock.runners.lake.cache import Cache, made
from waterclock.runners.lake.task import TaskFailed

KIND: Final = "environments"
MAKING: Final = "environments-in-the-making"

_LIST: Final = "requirements.txt"
_QUIET: Final = ("--disable-pip-version-check", "--no-warn-script-location", "--progress-bar", "off")


def environment_for(cache: Path, wanted: Sequence[str], variables: Mapping[str, str]) -> tuple[Path, bool]:
    """Its folder, and whether it was made for this run. Nobody removes it before this process has ended."""
    kept, digest = Cache(cache), name_of(wanted)
    if folder := kept.shared(KIND, digest):
        return folder, False
    fresh = False
    with kept.held(MAKING, digest):  # who waits here waits for an installation, never for the program that has it
        while (folder := kept.shared(KIND, digest)) is None:
            fresh = True
            with kept.held(KIND, digest) as place, made(place) as aside:
                _fill(aside, place, wanted, {**variables, "PIP_CACHE_DIR": str(cache / "pip")})
    if fresh:
        kept.prune()
    return folder, fresh


def name_of(wanted: Sequence[str]) -> str:
    """Not only the interpreter's version: where it is, too, for an environment leads there."""
    return virtualenv.digest((sys.base_prefix, *wanted))


def _fill(aside: Path, place: Path, wanted: Sequence[str], variables: Mapping[str, str]) -> None:
    listed = aside / _LIST
    listed.write_text("".join(f"{line}\n" for line in wanted), encoding="utf-8")
    _call(virtualenv.making(aside), aside, variables)
    _call(virtualenv.installing(aside, *_QUIET, "-r", str(listed)), aside, variables)
    _rename_inside(aside, place)


def _call(argv: Sequence[str], folder: Path, variables: Mapping[str, str]) -> None:
    ended = tool.run(argv, cwd=folder, env={**os.environ, **variables})
    if ended.exit_code:
        raise TaskFailed(f"cannot install the requirements: {_why(ended)}")


def _why(ended: tool.Ended) -> str:
    """pip says it in its first line that is an error; what follows is advice."""
    errors = [line.removeprefix("ERROR:").strip() for line in ended.lines if line.startswith("ERROR:")]
    last = ended.lines[-1] if ended.lines else f"exit code {ended.exit_code}"
    return errors[0] if errors else last


def _rename_inside(aside: Path, place: Path) -> None:
    """Its scripts name the folder that they were made in."""
    was, will_be = os.fsencode(aside), os.fsencode(place)
    for script in (aside / "bin").iterdir():
        if script.is_file() and not script.is_symlink() and was in (data := script.read_bytes()):
            script.write_bytes(data.replace(was, will_be))
