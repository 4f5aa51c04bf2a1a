"""What an error of asyncpg means to whoever runs an operation."""

from typing import Final

import asyncpg

from waterclock.domain.errors import Unavailable
from waterclock.stores.base import StatementFailed, Values
from waterclock.stores.duplicates import duplicate
from waterclock.stores.server import ConnectionLost, RolledBack, words

# Everything that asyncpg and the transport below it raise for one call.
DRIVER_ERRORS: Final = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)

_ROLLED_BACK: Final = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,  # a newer version added a column under it: the next time it is prepared anew
)
_BUSY: Final = (asyncpg.LockNotAvailableError, asyncpg.QueryCanceledError, asyncpg.InsufficientResourcesError)
_LOST: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TransactionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,  # after a failover: another server of the same URL takes writes now
    asyncpg.InternalClientError,
    asyncpg.InterfaceError,
)


def meaning(problem: BaseException, name: str, values: Values | None = None) -> Exception:
    """The error to raise instead."""
    if isinstance(problem, _ROLLED_BACK):
        return RolledBack(f"{name}: {problem}")
    if isinstance(problem, asyncpg.UniqueViolationError):
        return duplicate(name, values)
    if isinstance(problem, _BUSY):
        return Unavailable(f"PostgreSQL: {name}: {problem}")
    if isinstance(problem, _LOST) and not isinstance(problem, ValueError):  # a value that cannot be encoded is a bug
        return ConnectionLost(f"{name}: {words(problem)}")
    return StatementFailed(name, problem)
