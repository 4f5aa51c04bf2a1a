"""The heartbeat: says that this node lives and how it is; hears how far its clock is off and whether it is to drain."""

import logging
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from waterclock import clock
from waterclock.domain.moment import SECOND
from waterclock.engine.membership import Membership
from waterclock.stores.ops.nodes import NO_PULSE, TOLERATED_SKEW_US, Node, Pulse

log: Final = logging.getLogger("waterclock.engine")

DRAINING_SECONDS: Final = 1.0  # somebody may be waiting for the end of it


class Body(Protocol):
    """Whose heart it is."""

    def pulse(self) -> Pulse: ...

    def drain(self, draining: bool) -> None: ...


class Heartbeat:
    """`renew` renews the leases that this process holds itself. Without a `body` it cannot be drained."""

    name = "heartbeat"

    def __init__(
        self,
        membership: Membership,
        node: Node,
        *,
        every_seconds: float,
        renew: Callable[[], Awaitable[None]] | None = None,
        body: Body | None = None,
    ) -> None:
        self._membership = membership
        self._node = node
        self._every_seconds = every_seconds
        self._renew = renew
        self._body = body
        self.skew_us = 0  # how far this host's clock was ahead of the database's at the last beat

    async def tick(self) -> float:
        pulse = self._body.pulse() if self._body else NO_PULSE
        answer = await self._membership.beat(self._node, clock.wall_us(), pulse)
        self.skew_us = answer.skew_us
        if abs(answer.skew_us) > TOLERATED_SKEW_US:
            log.warning(
                "this host's clock is %+.1f s from the database's; due times follow the database",
                answer.skew_us / SECOND,
            )
        if self._body:
            self._body.drain(answer.draining)
        if self._renew:
            await self._renew()
        return min(self._every_seconds, DRAINING_SECONDS) if answer.draining else self._every_seconds
