"""The heartbeat: says that this node lives, and how far its clock is from the database's."""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from waterclock import clock
from waterclock.domain.moment import SECOND
from waterclock.stores.base import Database
from waterclock.stores.ops.nodes import Node, beat

log: Final = logging.getLogger("waterclock.engine")

TOLERATED_SKEW_US: Final = 2 * SECOND


class Heartbeat:
    """`renew` renews the leases that this process holds itself."""

    name = "heartbeat"

    def __init__(
        self,
        database: Database,
        node: Node,
        *,
        every_seconds: float,
        renew: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._database = database
        self._node = node
        self._every_seconds = every_seconds
        self._renew = renew

    async def tick(self) -> float:
        skew = await self._database.write(beat, node=self._node, wall_us=clock.wall_us())
        if abs(skew) > TOLERATED_SKEW_US:
            log.warning(
                "this host's clock is %+.1f s from the database's; due times follow the database", skew / SECOND
            )
        if self._renew:
            await self._renew()
        return self._every_seconds
