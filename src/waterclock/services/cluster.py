"""The cluster as a whole: who serves it, how long its queues are, what happened lately, what time it is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waterclock.domain.access import Caller, Right
from waterclock.domain.moment import Moment
from waterclock.stores.base import Database, Tx
from waterclock.stores.ops import nodes, reading
from waterclock.stores.ops.nodes import Node
from waterclock.stores.ops.reading import Transition


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    now: Moment
    nodes: Sequence[Node]
    queues: Mapping[str, int]  # live runs by state


class Cluster:
    def __init__(self, database: Database, *, alive_within_seconds: float = 30.0) -> None:
        self._database = database
        self._alive_within_seconds = alive_within_seconds

    async def now(self) -> Moment:
        """The store's clock: the one that decides what is due."""
        return await self._database.read(_now)

    async def status(self, caller: Caller) -> Status:
        caller.needs(Right.READ)
        return await self._database.read(_status, within_seconds=self._alive_within_seconds)

    async def events(self, caller: Caller, *, after: int, limit: int) -> Sequence[Transition]:
        """Moves of the organisation's runs in their order, from the one behind `after`."""
        caller.needs(Right.READ)
        return await self._database.read(reading.transitions_after, org_id=caller.org_id, seq=after, limit=limit)


async def _now(tx: Tx) -> Moment:
    return await tx.now()


async def _status(tx: Tx, *, within_seconds: float) -> Status:
    return Status(
        now=await tx.now(),
        nodes=await nodes.list_nodes(tx, within_seconds=within_seconds),
        queues=await nodes.queue_sizes(tx),
    )
