"""The program of a sync, and of a probe: reads its order, and says first why it could not do what that asks.

    python -P -m waterclock.runners.sync.main ORDER

It is what `runners.lake.sync_task` becomes, under the interpreter that has what sources and outputs need.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from waterclock import __version__
from waterclock.domain.lake_sync import PROBE
from waterclock.domain.run import Phase
from waterclock.runners.lake import order as orders
from waterclock.runners.lake.order import Order
from waterclock.runners.lake.report import Reporter
from waterclock.runners.lake.sync_task import VERSION
from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.words import text_of
from waterclock.runners.sync.source import SourceFailed
from waterclock.runners.sync.stopping import Stopping

FAILED: Final = 1


class WrongInterpreter(Exception):
    """It has another version of ours, or lacks a library."""


def main(argv: Sequence[str]) -> int:
    stopping = Stopping()
    stopping.listen()
    path = Path(argv[1])
    order = _order(path)
    reporter = Reporter(path.parent)
    reporter.phase(Phase.EXECUTING)
    try:
        _do(order, path.parent, reporter, stopping)
    except (SourceFailed, OutputFailed, WrongInterpreter) as failed:
        return _failed(reporter, str(failed))
    except ImportError as missing:
        where = f"pip install 'waterclock[sync]' in {sys.executable}, or set sync.python to an interpreter that has it"
        return _failed(reporter, str(missing) if _is_ours(missing) else f"{missing}: {where}")
    except Exception as error:  # a library of a source or an output may raise anything: it is why the sync failed
        return _failed(reporter, f"{type(error).__name__}: {text_of(error)}", text_of(error, whole=True))
    return 0


def _order(path: Path) -> Order:
    order = orders.read(str(path))
    path.unlink()  # what it says is for us
    return order


def _do(order: Order, folder: Path, reporter: Reporter, stopping: Stopping) -> None:
    if os.environ.get(VERSION) != __version__:
        asked = os.environ.get(VERSION)
        raise WrongInterpreter(f"sync.python {sys.executable!r} has waterclock {__version__}, its worker has {asked}")
    if order.kind == PROBE:
        from waterclock.runners.sync import probe

        probe.answer(order, reporter)
    else:
        from waterclock.runners.sync import syncing

        syncing.sync(order, folder, reporter, stopping)


def _failed(reporter: Reporter, reason: str, whole: str = "") -> int:
    reporter.reason(reason)
    sys.stdout.flush()
    print(whole or reason, file=sys.stderr)
    return FAILED


def _is_ours(missing: ImportError) -> bool:
    return (missing.name or "").partition(".")[0] == "waterclock"


def _leave(code: int) -> NoReturn:
    """At once: a library's threads may wait for a server that does not answer."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    try:
        _leave(main(sys.argv))
    except SystemExit as stopped:
        _leave(stopped.code if isinstance(stopped.code, int) else FAILED)
