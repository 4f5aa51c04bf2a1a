"""A node: the duties of its roles, started in order, woken by the store, stopped so that nothing is lost."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from typing import Final

from waterclock.engine.attempt import Attempts
from waterclock.engine.loop import Duty, Loop
from waterclock.stores.base import Database, Topic
from waterclock.stores.ops.nodes import stop_node

log: Final = logging.getLogger("waterclock.engine")

FLUSH_SECONDS: Final = 5.0


class Node:
    """What one engine process does: scheduler duties, worker duties, or both."""

    def __init__(self, database: Database, node_id: str) -> None:
        self._database = database
        self._node_id = node_id
        self._loops: list[Loop] = []
        self._deaf: list[Callable[[], None]] = []
        self._attempts: Attempts | None = None
        self._recording: Loop | None = None
        self._claiming: list[Loop] = []

    def add(self, duty: Duty, *topics: Topic) -> Loop:
        """A duty, and what wakes it."""
        loop = Loop(duty)
        self._loops.append(loop)
        self._deaf += [self._database.listen(topic, loop.wake) for topic in topics]
        return loop

    def add_worker(self, attempts: Attempts, dispatchers: Iterable[Duty]) -> None:
        self._attempts = attempts
        self._recording = Loop(attempts.recorder)
        attempts.recorder.wake = self._recording.wake
        self._claiming = [self.add(dispatcher, Topic.ATTEMPTS) for dispatcher in dispatchers]

    def room(self) -> None:
        """A slot is free: look for more at once."""
        for loop in self._claiming:
            loop.wake()

    async def start(self) -> None:
        if self._attempts and self._recording:
            self._recording.start()
            await self._attempts.open()
        for loop in self._loops:
            loop.start()

    async def stop_claiming(self) -> None:
        """No new work; what runs goes on, and its leases are renewed."""
        await asyncio.gather(*(loop.stop() for loop in self._claiming))

    async def stop(self) -> None:
        """No new work, what is known is written, what runs goes on under its supervisor."""
        for deaf in self._deaf:
            deaf()
        await asyncio.gather(*(loop.stop() for loop in self._loops))
        if self._attempts and self._recording:
            await self._attempts.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECONDS):
                    while not self._attempts.recorder.idle:
                        self._recording.wake()
                        await asyncio.sleep(FLUSH_SECONDS / 50)
            await self._recording.cancel()
        await self._database.write(stop_node, node_id=self._node_id)
