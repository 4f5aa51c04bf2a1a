"""A database behind a network: each operation is whole, tried again only where that is safe, and answered in time."""

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Final, ParamSpec, Protocol, TypeVar

from waterclock import clock
from waterclock.domain.errors import CommitUnknown, Unavailable
from waterclock.stores.base import Database, Operation, Partitions, Topic, Tx, is_by_key
from waterclock.stores.wakeups import Listeners

T = TypeVar("T")
P = ParamSpec("P")

BORROW_SECONDS: Final = 2.0  # to get a connection, a new one included
ANSWER_SECONDS: Final = (
    4.5  # to get a connection and the answer to one statement: callers hear of an outage in less than 5 s
)
LOCK_SECONDS: Final = 3  # to wait for somebody else's row
IDLE_SECONDS: Final = 3  # inside a transaction: a paused process must not hold its rows for longer
PAUSES: Final = (0.005, 0.02, 0.05, 0.1, 0.2, 0.4)  # before each new try of what the database rolled back
AGAIN_SECONDS: Final = 2.5  # a deadlock is noticed after 1 s; later than this the caller has waited enough
FRESH_SECONDS: Final = 1.0  # a connection that is lost this soon was dead before: one more try


def words(problem: BaseException) -> str:
    """What it says; a TimeoutError says nothing."""
    return str(problem) or type(problem).__name__


class RolledBack(Exception):
    """The database chose this transaction to make room for another: nothing of it is left, try again."""


class ConnectionLost(Exception):
    """Nothing more can be asked on this connection; what was not committed is undone by the server."""


class Session(Protocol):
    """One connection, lent for one transaction. Its errors are those of this module, or the caller's."""

    async def begin(self, *, read_only: bool, by_key: bool = False) -> Tx:
        """`by_key`: as `stores.base.by_key` says of the operation."""
        ...

    async def commit(self) -> set[Topic]:
        """The topics that this process's own listeners are to hear of."""
        ...

    async def roll_back(self) -> None:
        """Never raises: a connection that cannot roll back is dropped."""
        ...

    def drop(self) -> None:
        """At once, without a word to the server."""
        ...

    async def give_back(self) -> None: ...


class ServerDatabase(ABC):
    """What PostgreSQL and MySQL have in common: the life of one operation."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.offset_us = 0
        self._listeners = Listeners()

    @property
    def partitions(self) -> Partitions | None:
        return None

    def apart(self) -> "Database | None":
        return None

    async def write(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        by_key = is_by_key(operation)
        return await self._whole(
            lambda: self._once(lambda tx: operation(tx, *args, **kwargs), read_only=False, by_key=by_key)
        )

    async def send(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write(operation, *args, **kwargs)

    async def read(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._whole(lambda: self._once(lambda tx: operation(tx, *args, **kwargs), read_only=True))

    async def look_up(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.read(operation, *args, **kwargs)

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]:
        return self._listeners.add(topic, heard)

    @abstractmethod
    async def _borrow(self) -> Session:
        """Unavailable where there is none to be had in time."""

    @abstractmethod
    async def _suspect(self) -> None:
        """A connection was lost: the others may be dead, too, and are not to be lent again."""

    async def _whole(self, once: Callable[[], Awaitable[T]]) -> T:
        since, last = clock.monotonic(), Exception()
        for pause in PAUSES:
            try:
                return await once()
            except RolledBack as problem:
                last = problem
                if clock.monotonic() > since + AGAIN_SECONDS:
                    break
                await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            except ConnectionLost as problem:
                await self._suspect()
                if isinstance(last, ConnectionLost) or clock.monotonic() > since + FRESH_SECONDS:
                    raise Unavailable(f"{self.name} does not answer: {problem}") from problem
                last = problem
        raise Unavailable(f"{self.name} rolled back too often: {last}") from last

    async def _once(self, work: Callable[[Tx], Awaitable[T]], *, read_only: bool, by_key: bool = False) -> T:
        session = await self._borrow()
        try:
            result = await _done(work, session, read_only, by_key)
            self._listeners.tell(await _committed(session, self.name, read_only))
            return result
        finally:
            await session.give_back()


async def _done(work: Callable[[Tx], Awaitable[T]], session: Session, read_only: bool, by_key: bool) -> T:
    """The work, not yet committed; or nothing of it."""
    try:
        return await work(await session.begin(read_only=read_only, by_key=by_key))
    except (ConnectionLost, asyncio.CancelledError):
        session.drop()
        raise
    except BaseException:
        await session.roll_back()
        raise


async def _committed(session: Session, name: str, read_only: bool) -> set[Topic]:
    try:
        return await session.commit()
    except asyncio.CancelledError:
        session.drop()
        raise
    except ConnectionLost as problem:
        session.drop()
        if read_only:
            raise
        raise CommitUnknown(f"{name} did not answer to a commit, its outcome is unknown: {problem}") from problem
    except BaseException:
        await session.roll_back()
        raise
