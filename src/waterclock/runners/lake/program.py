"""The program of a lake job: reads its order, does what its kind does, and says first why it could not.

It runs in a fork of the warm interpreter, in the folder of its attempt. A stop reaches it as SystemExit, so that what a
task must clean up stands in a `finally`; all that it has started is ended by its keeper.
"""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, NoReturn, cast

from waterclock.domain.lake import LakeKind
from waterclock.domain.lake_sync import PROBE, SYNC_KINDS
from waterclock.runners.lake import order as orders
from waterclock.runners.lake.report import Reporter
from waterclock.runners.lake.task import Task, TaskFailed

# Imported when one is wanted: a query needs nothing of what a build does.
_TASKS: Final[Mapping[str, str]] = {
    LakeKind.JAVA: "waterclock.runners.lake.java_task",
    LakeKind.SQL: "waterclock.runners.lake.sql_task",
    LakeKind.PYTHON: "waterclock.runners.lake.python_task",
    **dict.fromkeys((*SYNC_KINDS, PROBE), "waterclock.runners.lake.sync_task"),
}
_STOPPED: Final = 128 + signal.SIGTERM


def main(argv: Sequence[str]) -> int:
    signal.signal(signal.SIGTERM, _stop)
    path = Path(argv[1])
    order = orders.read(str(path))
    path.unlink()  # what it says is for us, not for what we run
    reporter = Reporter(path.parent)
    try:
        return _task(order.kind)(order, path.parent, reporter)
    except TaskFailed as failed:
        reporter.reason(str(failed))
        sys.stdout.flush()
        print(failed, file=sys.stderr)
        return 1


def _task(kind: str) -> Task:
    return cast(Task, import_module(_TASKS[kind]).run)


def _stop(number: int, frame: object) -> NoReturn:
    raise SystemExit(_STOPPED)


if __name__ == "__main__":
    # Our own folder is no place to import from: a job's package may have the name of a file in it.
    sys.path[:] = [each for each in sys.path if each != os.path.dirname(os.path.realpath(__file__))]
    raise SystemExit(main(sys.argv))
