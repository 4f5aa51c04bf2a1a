"""A node: the duties of its roles, started in order, woken by the store, stopped so that nothing is lost."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from typing import Final

from waterclock.engine.attempt import Attempts
from waterclock.engine.lateness import ON_TIME, Lateness
from waterclock.engine.loop import Duty, Loop
from waterclock.engine.membership import Membership
from waterclock.stores.base import Topic
from waterclock.stores.ops.nodes import Pulse

log: Final = logging.getLogger("waterclock.engine")

FLUSH_SECONDS: Final = 5.0


class Node:
    """What one engine process does: scheduler duties, worker duties, or both."""

    def __init__(self, membership: Membership, node_id: str) -> None:
        self._membership = membership
        self._node_id = node_id
        self._loops: list[Loop] = []
        self._deaf: list[Callable[[], None]] = []
        self._attempts: Attempts | None = None
        self._recording: Loop | None = None
        self._claiming: list[Loop] = []
        self._taking: list[Loop] = []  # what takes on work for the cluster: none of it while the node drains
        self._draining = False
        self.lateness: Lateness | None = None
        self.is_behind: Callable[[], bool] = lambda: False  # with what must leave this host: logs

    def add(self, duty: Duty, *topics: Topic, takes_on: bool = False, after_seconds: float = 0.0) -> Loop:
        """A duty, and what wakes it. `takes_on`: it rests while the node drains; `after_seconds`: it can wait."""
        loop = Loop(duty, after_seconds=after_seconds)
        self._loops.append(loop)
        if takes_on:
            self._taking.append(loop)
        self._deaf += [self._membership.listen(topic, loop.wake) for topic in topics]
        return loop

    def add_worker(self, attempts: Attempts, dispatchers: Iterable[Duty]) -> None:
        self._attempts = attempts
        self._recording = Loop(attempts.recorder)
        attempts.recorder.wake = self._recording.wake
        self._claiming = [self.add(dispatcher, Topic.ATTEMPTS, takes_on=True) for dispatcher in dispatchers]

    def room(self) -> None:
        """A slot is free: look for more at once."""
        for loop in self._claiming:
            loop.wake()

    def wake(self) -> None:
        """The cluster answers again: everybody looks, and tells what is left to tell."""
        for loop in self._loops:
            loop.wake()
        if self._recording:
            self._recording.wake()

    async def start(self) -> None:
        if self._attempts and self._recording:
            self._recording.start()
            await self._attempts.open()
        for loop in self._loops:
            loop.start()

    def drain(self, draining: bool) -> None:
        """Take nothing more from now on, and finish what runs; or take again."""
        if draining == self._draining:
            return
        self._draining = draining
        log.info("draining: nothing more is taken" if draining else "draining no more")
        for loop in self._taking:
            if draining:
                loop.pause()
            else:
                loop.go_on()

    @property
    def is_draining(self) -> bool:
        return self._draining

    def pulse(self) -> Pulse:
        running = self._attempts.total() if self._attempts else 0
        still = all(loop.is_resting for loop in self._taking)
        late = self.lateness.lately() if self.lateness else ON_TIME
        return Pulse(
            running=running,
            drained=self._draining and still and not running and not self.is_behind(),
            late_us=late.p99_us,
            late_median_us=late.median_us,
            late_most_us=late.most_us,
        )

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
        await self._membership.leave(self._node_id)
