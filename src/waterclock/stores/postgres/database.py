"""A PostgreSQL server, or several behind one URL, as a `Database`."""

import asyncio
import contextlib
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

from waterclock import clock
from waterclock.domain.errors import CommitUnknown, Unavailable
from waterclock.stores.base import Kind, Operation, Partitions, Tx
from waterclock.stores.numbers import Numbers
from waterclock.stores.postgres import migrating
from waterclock.stores.postgres.at_once import INSTEAD
from waterclock.stores.postgres.connection import PostgresConnection
from waterclock.stores.postgres.faults import DRIVER_ERRORS, meaning
from waterclock.stores.postgres.listener import Listener
from waterclock.stores.postgres.partitions import PostgresPartitions
from waterclock.stores.postgres.places import PostgresPlaces
from waterclock.stores.postgres.planning import KEPT_PLANS
from waterclock.stores.postgres.pool import Pool, drop
from waterclock.stores.postgres.session import PostgresSession
from waterclock.stores.server import (
    ANSWER_SECONDS,
    BORROW_SECONDS,
    IDLE_SECONDS,
    LOCK_SECONDS,
    ConnectionLost,
    ServerDatabase,
    words,
)

T = TypeVar("T")
P = ParamSpec("P")

CONNECTIONS: Final = 10
SINGLE: Final = 4  # for statements that are sent alone: none before the first of them
# A process paused between the parse and the execution of a statement is neither idle nor in a statement: only this
# ends it. Servers before PostgreSQL 17 do not know it.
TRANSACTION_SECONDS: Final = 10
DRAW: Final = "UPDATE counters SET value = value + $1 WHERE kind = $2 RETURNING value"

_SETTINGS: Final = {
    "application_name": "waterclock",
    "timezone": "UTC",
    "lock_timeout": f"{LOCK_SECONDS}s",
    "statement_timeout": f"{ANSWER_SECONDS * 1000:.0f}ms",
    "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
    "tcp_user_timeout": "5s",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "plan_cache_mode": "force_custom_plan",  # a plan made for an empty table is ruin for a full one
    "random_page_cost": "1.1",  # what we ask for is in memory, or on a disk that does not seek
    "max_parallel_workers_per_gather": "0",
    "jit": "off",  # compiling costs more than our short statements
}
_KEPT: Final = {**_SETTINGS, **KEPT_PLANS}
_HOW: Final = {
    "connection_class": PostgresConnection,
    "timeout": BORROW_SECONDS,
    "server_settings": _SETTINGS,
    "statement_cache_size": 1000,
    "max_cached_statement_lifetime": 0,
}


class PostgresDatabase(ServerDatabase):
    """Implements `Database`. One pool for operations, a small one for what is one statement; a connection beside them
    for numbers, one for wake-ups."""

    def __init__(self, url: str, *, connections: int = CONNECTIONS) -> None:
        super().__init__("PostgreSQL")
        self._url = url
        self._places = PostgresPlaces(url, self._move)
        self._connections = connections
        self._me = secrets.token_hex(6)
        self._pool: Pool | None = None
        self._single: Pool | None = None
        self._beside: Pool | None = None
        self._numbers = Numbers(self._draw)
        self._partitions = PostgresPartitions(self._connect, lambda: self.offset_us)
        self._listener = Listener(self._connect, self._places.has_left, self._me, self._listeners)

    def apart(self) -> "ApartDatabase":
        return ApartDatabase(self._url, connections=1)

    async def open(self) -> None:
        try:
            self._pool = await self._opened(Pool(self._lend, self._connections))
            self._beside = await self._opened(Pool(self._lend, 1))
            self._single = Pool(partial(self._lend, _KEPT), SINGLE)
        except DRIVER_ERRORS as problem:
            raise Unavailable(f"cannot connect to PostgreSQL: {words(problem)}") from problem
        await self._listener.open()

    async def close(self) -> None:
        await self._listener.close()
        for pool in (self._pool, self._single, self._beside):
            if pool is not None:
                pool.close()
        self._pool = self._single = self._beside = None

    async def migrate(self) -> Sequence[str]:
        try:
            connection = await self._connect()
        except DRIVER_ERRORS as problem:
            raise Unavailable(f"cannot connect to PostgreSQL: {words(problem)}") from problem
        try:
            return await migrating.migrate(connection)
        finally:
            connection.terminate()

    async def write(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        at_once: Callable[..., Awaitable[T]] | None = INSTEAD.get(operation)
        if at_once is None:
            return await super().write(operation, *args, **kwargs)
        return await self._whole(lambda: self._sent(lambda session: at_once(session, *args, **kwargs)))

    async def send(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One statement is a transaction of its own; where its answer is lost, so is whether it was done."""
        return await self._whole(lambda: self._sent(lambda tx: operation(tx, *args, **kwargs)))

    async def _sent(self, work: Callable[[PostgresSession], Awaitable[T]]) -> T:
        session = await self._lent(self._single)
        try:
            await session.replan()
            done = await work(session)
        except ConnectionLost as problem:
            session.drop()
            await self._suspect()
            raise CommitUnknown(f"{self.name} did not answer, whether it was done is unknown: {problem}") from problem
        except asyncio.CancelledError:
            session.drop()
            raise
        finally:
            await session.give_back()
        self._listeners.tell(session.topics)
        return done

    @property
    def partitions(self) -> Partitions | None:
        return self._partitions

    async def look_up(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One statement is a transaction of its own: two round trips less. It goes by key, so its plan is kept."""
        return await self._whole(lambda: self._alone(lambda tx: operation(tx, *args, **kwargs)))

    async def _alone(self, work: Callable[[Tx], Awaitable[T]]) -> T:
        session = await self._lent(self._single)
        try:
            await session.replan()
            return await work(session)
        except (ConnectionLost, asyncio.CancelledError):
            session.drop()
            raise
        finally:
            await session.give_back()

    async def _borrow(self) -> PostgresSession:
        return await self._lent(self._pool)

    async def _lent(self, pool: Pool | None) -> PostgresSession:
        if pool is None:
            raise Unavailable("the PostgreSQL store is closed")
        asked_at = clock.monotonic()
        try:
            connection = await pool.acquire()
        except DRIVER_ERRORS as problem:
            raise Unavailable(f"no connection to PostgreSQL: {words(problem)}") from problem
        return PostgresSession(
            connection,
            partial(self._give_back, pool),
            sender=self._me,
            numbers=self._numbers,
            offset_us=self.offset_us,
            asked_at=asked_at,
        )

    def _give_back(self, pool: Pool, connection: Any) -> None:
        """Its transaction has ended, and nothing else changes a connection: there is nothing to reset."""
        if self._pool is None:
            drop(connection)
            return
        has_left = not connection.is_closed() and self._places.has_left(connection)
        pool.release(connection)
        if has_left:
            self._forget(self._pool, self._single)

    async def _suspect(self) -> None:
        self._forget(self._pool, self._single)

    async def _move(self) -> None:
        """To another server: it may not know of numbers that were drawn elsewhere."""
        self._numbers.forget()
        self._forget(self._pool, self._single, self._beside)

    def _forget(self, *pools: Pool | None) -> None:
        for pool in pools:
            if pool is not None:
                pool.clear()

    async def _draw(self, kind: Kind, count: int) -> int:
        if (beside := self._beside) is None:
            raise Unavailable("the PostgreSQL store is closed")
        try:
            connection = await beside.acquire()
        except DRIVER_ERRORS as problem:
            raise meaning(problem, "numbers") from problem
        try:
            value: int = await connection.fetchval(DRAW, count, kind, timeout=BORROW_SECONDS)
        except DRIVER_ERRORS as problem:
            beside.clear()
            raise meaning(problem, "numbers") from problem
        except BaseException:
            drop(connection)
            raise
        finally:
            beside.release(connection)
        return value

    async def _opened(self, pool: Pool) -> Pool:
        """With a first connection: a server that is not there is told at once."""
        pool.release(await pool.acquire())
        return pool

    async def _connect(self) -> Any:
        connection = await self._places.connect(**_HOW)
        await _prepare(connection)
        return connection

    async def _lend(self, settings: Mapping[str, str] = _SETTINGS) -> Any:
        """To operations: none of them may hold its rows for longer, whatever becomes of its process."""
        how = {**_HOW, "server_settings": settings}
        connection = await self._places.connect(command_timeout=ANSWER_SECONDS, **how)
        try:
            await _prepare(connection)
            if connection.get_server_version().major >= 17:
                await connection.execute(f"SET transaction_timeout = '{TRANSACTION_SECONDS}s'")
        except BaseException:
            drop(connection)
            raise
        return connection


class ApartDatabase(PostgresDatabase):
    """For another loop, one caller at a time: its connections are made as they are needed, and it hears no wake-ups."""

    async def open(self) -> None:
        self._pool, self._beside = Pool(self._lend, self._connections), Pool(self._lend, 1)
        self._single = Pool(partial(self._lend, _KEPT), 1)


async def _prepare(connection: Any) -> None:
    """The kernel notices a vanished peer, too: unacknowledged bytes and a long silence end the connection."""
    transport = connection._transport
    sock = transport.get_extra_info("socket") if transport else None
    if sock is not None and sock.family != socket.AF_UNIX:
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 5)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 2)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 5_000)
