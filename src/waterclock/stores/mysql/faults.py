"""What an error of asyncmy means to whoever runs an operation."""

from typing import Final

from asyncmy import errors

from waterclock.domain.errors import Unavailable
from waterclock.stores.base import StatementFailed, Values
from waterclock.stores.duplicates import duplicate
from waterclock.stores.server import ConnectionLost, RolledBack, words

# Everything that asyncmy and the transport below it raise for one call.
DRIVER_ERRORS: Final = (errors.MySQLError, OSError, TimeoutError, EOFError)

_DUPLICATE: Final = frozenset({1062, 1586})
# A deadlock, a lock waited for too long, a row that changed under a snapshot, a group of servers that disagreed.
_ROLLED_BACK: Final = frozenset({1213, 1205, 1020, 3101})
# Too many connections, out of memory or disk, interrupted by its time-out.
_BUSY: Final = frozenset({1040, 1203, 1021, 1037, 1038, 1041, 1114, 1317, 1969, 3024})
# Takes no writes, or has left its group: after a failover another server of the same setting does.
_NOT_HERE: Final = frozenset({1290, 1792, 1836, 3100, 1047, 3032})
_LOST: Final = frozenset({1053, 1077, 1152, 1153, 1158, 1159, 1160, 1161, 1184, 1927, 4031}) | _NOT_HERE
_CLIENT: Final = range(2000, 3000)  # raised on this side: cannot connect, gone away, lost while it answered


def code_of(problem: BaseException) -> int:
    return problem.args[0] if problem.args and isinstance(problem.args[0], int) else 0


def meaning(problem: BaseException, name: str, values: Values | None = None) -> Exception:
    """The error to raise instead."""
    code = code_of(problem) if isinstance(problem, errors.MySQLError) else 0
    if code in _ROLLED_BACK:
        return RolledBack(f"{name}: {problem}")
    if code in _DUPLICATE:
        return duplicate(name, values)
    if code in _BUSY:
        return Unavailable(f"MySQL: {name}: {problem}")
    if not isinstance(problem, errors.MySQLError) or code in _LOST or code in _CLIENT:
        return ConnectionLost(f"{name}: {words(problem)}")
    if isinstance(problem, errors.InterfaceError):
        return ConnectionLost(f"{name}: {problem}")
    return StatementFailed(name, problem)
