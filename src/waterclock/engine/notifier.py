"""The notifier: routes messages to the channels that want them, and sends what is due. Nobody waits for it.

Sending is done in tasks of its own, so many for each channel: one that hangs holds up itself, never another channel,
the loop or a run. What this process took and does not speak of again is sent anew when its lease is over.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Final, Protocol

from waterclock.domain.channel import Delivery, Place, seal_context
from waterclock.domain.errors import Unavailable, WaterclockError
from waterclock.domain.moment import SECOND
from waterclock.domain.notice import notice_of
from waterclock.notices.base import Sender
from waterclock.stores.base import Database
from waterclock.stores.ops.deliveries import (
    Pending,
    look_for_notices,
    record_failed,
    record_sent,
    route_messages,
    take_deliveries,
)

log: Final = logging.getLogger("waterclock.engine")

PAGE: Final = 200
AT_ONCE: Final = 32
AT_ONCE_PER_CHANNEL: Final = 2
LEASE_SECONDS: Final = 90.0  # more than a sender ever takes, with time to write down how it went
POLL_SECONDS: Final = 5.0  # the safety net, should a wake-up be lost
FLUSH_SECONDS: Final = 5.0


class Seals(Protocol):
    """Whoever opens what is sealed in the store."""

    def open(self, sealed: str, *, context: str = "") -> str: ...


class Notifier:
    name = "notifier"

    def __init__(
        self, database: Database, sender: Sender, seals: Seals, *, lease_seconds: float = LEASE_SECONDS
    ) -> None:
        self.freed: Callable[[], None] = lambda: None  # there is room for more
        self._database = database
        self._sender = sender
        self._seals = seals
        self._lease_seconds = lease_seconds
        self._sending: dict[asyncio.Task[None], Place] = {}

    async def tick(self) -> float:
        pending, routed = await self._database.read(look_for_notices), 0
        if pending.unrouted:
            routed = await self._database.write(route_messages, limit=PAGE)
            pending = await self._database.read(look_for_notices)
        if room := _room(pending, Counter(self._sending.values())):
            taken = await self._database.write(take_deliveries, room=room, lease_seconds=self._lease_seconds)
            for delivery in taken:
                self._begin(delivery)
        return 0.0 if routed == PAGE else _rest(pending)

    async def close(self) -> None:
        """What is being sent has a moment to be done and written down; the rest is sent again after its lease."""
        if self._sending:
            await asyncio.wait(self._sending, timeout=FLUSH_SECONDS)
        for task in self._sending:
            task.cancel()

    @property
    def idle(self) -> bool:
        return not self._sending

    def _begin(self, delivery: Delivery) -> None:
        task = asyncio.create_task(self._deliver(delivery), name="notice")
        self._sending[task] = delivery.place
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._sending.pop(task, None)
        if not task.cancelled() and (problem := task.exception()):
            log.error("a notice is sent again after its lease", exc_info=problem)
        self.freed()

    async def _deliver(self, delivery: Delivery) -> None:
        try:
            error = await self._sent(delivery)
            if error is None:
                await self._database.write(record_sent, delivery=delivery)
            else:
                log.warning("channel %r: message %d: %s", delivery.channel.name, delivery.message.id, error)
                await self._database.write(record_failed, delivery=delivery, error=error)
        except Unavailable as problem:
            log.warning("what became of a notice is not written down: %s; it may be sent twice", problem)

    async def _sent(self, delivery: Delivery) -> str | None:
        """None, or why not."""
        try:
            address = self._seals.open(delivery.channel.sealed, context=seal_context(*delivery.place))
            await self._sender.send(address, notice_of(delivery.message))
        except WaterclockError as problem:
            return str(problem)
        return None


def _room(pending: Pending, sending: "Counter[Place]") -> dict[Place, int]:
    """How many of each channel that has something due may be taken: the longest due come first."""
    left, room = AT_ONCE - sending.total(), {}
    for place, due_at in sorted(pending.due.items(), key=lambda item: (item[1], item[0])):
        count = min(AT_ONCE_PER_CHANNEL - sending[place], left)
        if due_at <= pending.now and count > 0:
            room[place], left = count, left - count
    return room


def _rest(pending: Pending) -> float:
    """Until something else is due; what is due now either was taken, or waits for room, which wakes us."""
    later = [due_at for due_at in pending.due.values() if due_at > pending.now]
    return min((min(later) - pending.now) / SECOND, POLL_SECONDS) if later else POLL_SECONDS
