"""A sync, or a probe of a source: this program becomes one of the interpreter that has the libraries for it."""

import os
from pathlib import Path
from typing import Final

from waterclock import __version__
from waterclock.domain.run import Phase
from waterclock.runners.interpreters import located
from waterclock.runners.lake import order as orders
from waterclock.runners.lake.becoming import become
from waterclock.runners.lake.order import Order
from waterclock.runners.lake.report import Reporter
from waterclock.runners.lake.task import TaskFailed

MODULE: Final = "waterclock.runners.sync.main"
VERSION: Final = "WATERCLOCK_SYNC_VERSION"  # ours, which the interpreter must have, too


def run(order: Order, folder: Path, reporter: Reporter) -> int:
    python = _interpreter(order.python)
    reporter.phase(Phase.EXECUTING)
    # It stands unless the program begins, whose first word replaces it.
    reporter.reason(f"sync.python {python!r} has no waterclock: pip install 'waterclock[sync]' there")
    path = orders.write(folder, order)
    become((python, "-P", "-m", MODULE, str(path)), folder, {**os.environ, VERSION: __version__})


def _interpreter(given: str) -> str:
    found = given if "/" in given else located(given)
    if found is None or not os.access(found, os.X_OK):
        raise TaskFailed(f"sync.python {given!r} is not there: set it to an interpreter that has waterclock[sync]")
    return found
