"""The connection that hears NOTIFY; when it was away it wakes everybody, for something may have been missed."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Final

import asyncpg

from waterclock.stores.base import Topic
from waterclock.stores.postgres.faults import DRIVER_ERRORS
from waterclock.stores.postgres.session import CHANNEL
from waterclock.stores.wakeups import Listeners

CHECK_SECONDS: Final = 5.0  # how often a silent connection must prove that it lives
AWAY_SECONDS: Final = 0.5  # between two tries to come back


class Listener:
    """`connect` makes a connection of its own; `me` marks our own messages, which our process has heard already.

    `has_left` tells of a connection whether its server takes no writes any more: nobody will be heard there.
    """

    def __init__(
        self, connect: Callable[[], Any], has_left: Callable[[Any], bool], me: str, listeners: Listeners
    ) -> None:
        self._connect = connect
        self._has_left = has_left
        self._me = me
        self._listeners = listeners
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Returns once it listens: no wake-up that is sent afterwards is lost."""
        listening = asyncio.Event()
        self._task = asyncio.create_task(self._stay(listening), name="postgres-listener")
        await listening.wait()

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _stay(self, listening: asyncio.Event) -> None:
        while True:
            connection = None
            try:
                connection = await self._connect()
                await connection.add_listener(CHANNEL, self._hear)
                listening.set()
                self._listeners.tell(Topic)
                await self._keep(connection)
            except DRIVER_ERRORS:
                listening.set()  # the first time nobody is to wait for long: the safety net is polling
                await asyncio.sleep(AWAY_SECONDS)
            finally:
                if connection is not None:
                    connection.terminate()

    async def _keep(self, connection: Any) -> None:
        """Until it is lost: DRIVER_ERRORS."""
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        while not connection.is_closed():
            try:
                async with asyncio.timeout(CHECK_SECONDS):  # wait_for may swallow a cancellation
                    await lost.wait()
            except TimeoutError:
                await connection.execute("SELECT 1", timeout=CHECK_SECONDS)
                if self._has_left(connection):
                    break
        raise asyncpg.InterfaceError("the listening connection is of no use any more")

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: str) -> None:
        sender, _, topics = payload.partition(":")
        if sender != self._me:
            self._listeners.tell(Topic(word) for word in topics.split(",") if word in set(Topic))
