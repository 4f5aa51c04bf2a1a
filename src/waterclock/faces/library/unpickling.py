"""The process that reads pickles of APScheduler's for an import, and the only one: whatever they do is done here.

    python -m waterclock.faces.library.unpickling ANSWERS FIRST SERIALIZER < rows

Rows come on standard input, one line of JSON each; the answers go, as lines of JSON, to the descriptor ANSWERS. Whoever
started it kills it where a row hangs, and starts another at the row after it. What the pickles' code prints goes to
standard error.
"""

from __future__ import annotations

import importlib.machinery
import io
import json
import os
import pickle
import site
import sys
from base64 import b64decode
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from waterclock import clock
from waterclock.faces.library.importing import Found, carried
from waterclock.faces.library.importing_triggers import CannotCarry
from waterclock.runners import linux

APSCHEDULER: Final = "apscheduler"
INSTALL: Final = "install apscheduler<4 into this Python for the import"
READY: Final = {"ready": True}


def main(answers: int, first: int, serializer: str) -> None:
    linux.die_with_parent()
    os.set_inheritable(answers, False)
    rows = [json.loads(line) for line in sys.stdin.buffer]
    _leave_the_streams()
    _say(answers, READY)
    for place, row in enumerate(rows):
        if place >= first:
            _say(answers, {"row": place, **_answer(row, serializer)})


def _answer(row: dict[str, Any], serializer: str) -> dict[str, Any]:
    try:
        found = Found(id=row["id"], next_at=row["next_at"])
        state = pickle.loads(b64decode(row["state"]))  # noqa: S301  # --trust-pickle; in this process alone
        job = carried(found, state, now=clock.wall_us(), serializer=serializer)
        return {"job": {**job, "notes": [*job["notes"], *_missing(job["func"])]}}
    except CannotCarry as reason:
        return {"reason": str(reason)}
    except BaseException as problem:  # code of the pickle: whatever it raises is why the row cannot be read
        return {"reason": _why(problem)}


def _leave_the_streams() -> None:
    """Nothing of ours is left where a pickle's code reads or prints."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)


def _say(answers: int, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(answers, data) :]


def _why(problem: BaseException) -> str:
    if (installed := _installed()) and not installed.startswith("3."):
        return f"it cannot be read with APScheduler {installed}: {INSTALL}"
    match problem:
        case ModuleNotFoundError(name=str(name)) if name.partition(".")[0] == APSCHEDULER:
            return f"it needs the package {APSCHEDULER}: {INSTALL}"
        case ModuleNotFoundError(name=str(name)):
            return f"it needs the module {name}, which is not in {_looked_in()}"
    said = " ".join(str(problem).split())
    return f"reading it failed: {type(problem).__name__}{f': {said}' if said else ''}"


def _installed() -> str | None:
    try:
        return version(APSCHEDULER)
    except PackageNotFoundError:
        return None


def _missing(function: str) -> Iterator[str]:
    """The function is not imported; but where its module cannot even be found, that is worth knowing."""
    top = function.partition(":")[0].partition(".")[0]
    if top == "__main__":
        yield "its function is in the program's main script: only the same script finds it again"
    elif top not in sys.modules and top not in sys.builtin_module_names and not _finds(top):
        yield f"the module {top} of its function is not in {_looked_in()}; where it cannot be imported it does not run"


def _finds(module: str) -> bool:
    return importlib.machinery.PathFinder.find_spec(module) is not None


def _looked_in() -> str:
    packages = {*site.getsitepackages(), site.getusersitepackages(), sys.base_prefix, sys.prefix}
    own = [path for path in sys.path if not path.startswith(tuple(packages))]
    return f"{', '.join(own)} or this Python's packages: run the import where it is, or set PYTHONPATH"


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
