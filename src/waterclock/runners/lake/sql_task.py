"""A query: its order is handed to the worker's SQL host, and this program waits for it, as the supervisor does for us.

It imports no engine. When it is told to stop, the host ends the query, and it leaves once that is a fact; when it is
killed, the host hears its line close, and does the same.
"""

import dataclasses
import resource
import signal
from pathlib import Path
from types import FrameType
from typing import Any, Final

from waterclock.domain.run import Phase
from waterclock.runners import wire
from waterclock.runners.lake.order import Order
from waterclock.runners.lake.report import Reporter
from waterclock.runners.lake.task import TaskFailed
from waterclock.runners.sql import door

STOPPED: Final = 128 + signal.SIGTERM


def run(order: Order, folder: Path, reporter: Reporter) -> int:
    reporter.phase(Phase.EXECUTING)
    with _line(order.socket) as connection:
        line = wire.Line(connection.fileno())
        line.send({"op": "run", "order": dataclasses.asdict(order), "memory_bytes": _memory_bytes()})
        signal.signal(signal.SIGTERM, _cancel_on(line))
        while (message := _next(line)) is not None:
            if (code := _heard(message, reporter)) is not None:
                return code
    raise TaskFailed("the SQL host died before it said how the query ended: the next query starts a new one")


def _heard(message: dict[str, Any], reporter: Reporter) -> int | None:
    """The exit code, once the query has ended."""
    match message:
        case {"log": str(text)}:
            print(text, flush=True)
        case {"progress": dict(known)}:
            reporter.progress(**known)
        case {"done": dict(known)}:
            reporter.progress(**known)
            return 0
        case {"failed": str(reason), "text": str(whole)}:
            if whole:
                print(whole, flush=True)
            raise TaskFailed(reason)
        case {"dead": True}:
            print("stopped: nothing of the query is left at the engine", flush=True)
            return STOPPED
    return None


def _memory_bytes() -> int | None:
    """The job's limit, which this program has been given; the engine is to have it, too."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else most


def _line(path: str) -> Any:
    try:
        return door.connect(Path(path))
    except OSError as problem:
        raise TaskFailed(f"no SQL host answers on {path!r}: {problem.strerror}") from None


def _next(line: wire.Line) -> wire.Message | None:
    while (message := line.next()) is None:
        if not line.read():
            return None
    return message


def _cancel_on(line: wire.Line) -> Any:
    def cancel(number: int, frame: FrameType | None) -> None:
        line.send({"op": "cancel"})

    return cancel
