"""`python -m tests.chaos.tools.failpoints ROLE`: waterclock, with one place in it at which it stops itself (SIGSTOP).

The place is an operation of the store and a moment: `fire_due:uncommitted` (its statements are done, the commit is not
sent) or `fire_due:committed` (the commit was answered, and the caller does not know it yet). It is used once after
`arm`, by the first write that has done something. What became of it, and of those after it, is told in a file.
"""

import json
import os
import signal
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

from tests.acceptance.server import until
from tests.chaos.process import Process, state_of
from waterclock.faces.cli import main
from waterclock.stores.mysql import MysqlDatabase
from waterclock.stores.postgres import PostgresDatabase
from waterclock.stores.sqlite import SqliteDatabase

MODULE: Final = "tests.chaos.tools.failpoints"
UNCOMMITTED: Final = "uncommitted"
COMMITTED: Final = "committed"
_PLACE: Final = "CHAOS_FAILPOINT"
_ARMED: Final = "CHAOS_ARMED"
_TOLD: Final = "CHAOS_TOLD"

Write = Callable[..., Awaitable[Any]]


class Failpoint:
    """The harness's side: a process that is not started yet gets a place in it to stop at."""

    def __init__(self, process: Process, operation: str, moment: str) -> None:
        self.process = process
        self._armed = process.folder.with_suffix(".armed")
        self._told = process.folder.with_suffix(".told")
        process.module = MODULE
        process.extra = {
            _PLACE: f"{operation}:{moment}",
            _ARMED: str(self._armed),
            _TOLD: str(self._told),
        }

    def arm(self) -> None:
        self._armed.touch()

    def await_stop(self) -> None:
        """It is at the place, and stopped."""
        until(lambda: state_of(self.process.pid) == "T", f"{self.process!r} never came to its failpoint")
        assert not self._armed.exists()

    def told(self) -> list[dict[str, Any]]:
        """One line for each write of the operation since it was stopped: `outcome` and, of a fire, `triggers`."""
        return [json.loads(line) for line in self._told.read_text().splitlines()] if self._told.exists() else []


def stop_here(answer: object) -> bool:
    """Whether it was armed, and so has been stopped and resumed; a round that fired nothing is not worth it."""
    if not getattr(answer, "triggers", True):
        return False
    try:
        os.unlink(os.environ[_ARMED])
    except FileNotFoundError:
        return False
    os.kill(os.getpid(), signal.SIGSTOP)
    return True


def with_failpoint(write: Write, operation: str, moment: str) -> Write:
    told: list[dict[str, Any]] = []

    @wraps(write)
    async def writing(self: object, op: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        if op.__name__ != operation:
            return await write(self, op, *args, **kwargs)
        stopped = False

        @wraps(op)
        async def stopping(*inner: Any, **more: Any) -> Any:
            nonlocal stopped
            answer = await op(*inner, **more)
            stopped = (moment == UNCOMMITTED and stop_here(answer)) or stopped
            return answer

        try:
            answer = await write(self, stopping, *args, **kwargs)
        except BaseException as problem:
            tell(told, stopped, outcome=type(problem).__name__)
            raise
        stopped = (moment == COMMITTED and stop_here(answer)) or stopped
        tell(told, stopped, outcome="written", triggers=getattr(answer, "triggers", None))
        return answer

    return writing


def tell(told: list[dict[str, Any]], stopped: bool, **line: object) -> None:
    """Of the write that was stopped and of all after it."""
    if told or stopped:
        told.append(line)
        with Path(os.environ[_TOLD]).open("a") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    where, _, when = os.environ[_PLACE].partition(":")
    for store in (SqliteDatabase, PostgresDatabase, MysqlDatabase):
        store.write = with_failpoint(store.write, where, when)  # type: ignore[assignment]
    main(prog_name="waterclock")
