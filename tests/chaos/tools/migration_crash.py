"""A process that migrates a store and is killed -9 before its nth statement, or stops at an older version."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import asyncpg
from asyncmy.cursors import DictCursor

from waterclock.stores import migrations, views
from waterclock.stores.opening import database_from_url
from waterclock.stores.sqlite.session import SqliteTx

NEVER: Final = -1
FINISHED: Final = 0
FAILED: Final = 1


def crash(url: str, log: Path, *, before: int = NEVER, version: int | None = None) -> bool:
    """Whether it was killed; else it came to its end. Statements count from 0; `version` is the last step taken."""
    pid = os.fork()
    if pid == 0:
        _child(url, log, before, version)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, f"killed by {os.WTERMSIG(status)}"
        return True
    assert os.WEXITSTATUS(status) == FINISHED, f"the migration failed:\n{log.read_text()}"
    return False


def _child(url: str, log: Path, before: int, version: int | None) -> None:
    """Never returns: it is another process by now."""
    code = FAILED
    try:
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
        if version is not None:
            _know_only(version)
        asyncio.run(_migrate(url, before))
        code = FINISHED
    except BaseException as problem:  # whatever it is, it is told in the log and nowhere else
        os.write(2, f"{type(problem).__name__}: {problem}\n".encode())
    finally:
        os._exit(code)


async def _migrate(url: str, before: int) -> None:
    database = database_from_url(url)
    await database.open()
    if before != NEVER:
        _strike(before)
    await database.migrate()
    await database.close()


def _know_only(version: int) -> None:
    """The store as that version of the program made it, but for its views, which every version makes anew."""
    steps = tuple(step for step in migrations._files() if step[0] <= version)
    migrations._files = lambda: steps  # type: ignore[assignment]
    views._made = lambda _dialect: {}  # type: ignore[assignment]


def _strike(before: int) -> None:
    left = iter(range(before))

    def counted() -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    for owner in (asyncpg.Connection, DictCursor, SqliteTx):
        _wrap(owner, counted)


def _wrap(owner: Any, counted: Callable[[], None]) -> None:
    """What `execute` returns is handed on, to be awaited or not."""
    real = owner.execute

    def execute(self: object, *values: Any, **more: Any) -> Any:
        counted()
        return real(self, *values, **more)

    owner.execute = execute
