"""The cluster as a whole: who serves it, how long its queues are, what happened lately, what time it is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waterclock import clock
from waterclock.domain.access import Caller, Right
from waterclock.domain.errors import Forbidden, NotAllowed, NotFound
from waterclock.domain.moment import Moment
from waterclock.services.access import FIRST_ORGANISATION
from waterclock.services.standing import LIBRARY, LOST_FOR_SECONDS, SeenNode, seen_nodes, warnings
from waterclock.stores.base import Database, Tx
from waterclock.stores.ops import gauges, nodes, reading
from waterclock.stores.ops.gauges import Leases, QueueLoad
from waterclock.stores.ops.nodes import Node
from waterclock.stores.ops.reading import Transition


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    now: Moment
    nodes: Sequence[SeenNode]
    runs: Mapping[str, int]  # live ones by state
    queues: Sequence[QueueLoad]
    leases: Leases
    latency_seconds: float = 0.0  # of the store's shortest answer

    @property
    def warnings(self) -> Sequence[str]:
        return warnings(self.nodes, self.queues)


class Cluster:
    def __init__(self, database: Database, *, alive_within_seconds: float = 30.0) -> None:
        self._database = database
        self._alive_within_seconds = alive_within_seconds

    async def now(self) -> Moment:
        """The store's clock: the one that decides what is due."""
        return await self._database.read(_now)

    async def status(self, caller: Caller) -> Status:
        caller.needs(Right.READ)
        return await self.gauged()

    async def gauged(self) -> Status:
        """For monitors, which are nobody: no names of jobs or people are in it."""
        asked_at = clock.monotonic()
        await self._database.read(_now)
        latency = clock.monotonic() - asked_at
        return await self._database.read(
            _status, alive_within_seconds=self._alive_within_seconds, latency_seconds=latency
        )

    async def nodes(self, caller: Caller) -> Sequence[SeenNode]:
        caller.needs(Right.READ)
        return await self._database.read(_nodes, alive_within_seconds=self._alive_within_seconds)

    async def drain(self, caller: Caller, node_id: str) -> SeenNode:
        """It takes nothing more from its next heartbeat on, and finishes what runs."""
        await self._changeable(caller, node_id)
        return await self._changed(node_id, is_there=await self._database.write(nodes.drain_node, node_id=node_id))

    async def resume(self, caller: Caller, node_id: str) -> SeenNode:
        await self._changeable(caller, node_id)
        return await self._changed(node_id, is_there=await self._database.write(nodes.resume_node, node_id=node_id))

    async def events(self, caller: Caller, *, after: int, limit: int) -> Sequence[Transition]:
        """Moves of the organisation's runs in their order, from the one behind `after`."""
        caller.needs(Right.READ)
        return await self._database.read(reading.transitions_after, org_id=caller.org_id, seq=after, limit=limit)

    async def _changeable(self, caller: Caller, node_id: str) -> None:
        caller.needs(Right.ADMINISTER)
        node = await self._database.read(nodes.find_node, node_id=node_id)
        if caller.org_id != FIRST_ORGANISATION and (node is None or node.org_id != caller.org_id):
            raise Forbidden("nodes serve all organisations: only admins of the first may drain them")
        if node is None:
            raise NotFound("node", node_id)
        if any(duty.startswith(LIBRARY) for duty in node.duties):
            raise NotAllowed(f"node {node_id!r} is a program with a scheduler of its own: shut it down there")

    async def _changed(self, node_id: str, *, is_there: bool) -> SeenNode:
        node = await self._database.read(_node, node_id=node_id, alive_within_seconds=self._alive_within_seconds)
        if not is_there or node is None:  # it has been stopped meanwhile
            raise NotFound("node", node_id)
        return node


async def _now(tx: Tx) -> Moment:
    return await tx.now()


async def _nodes(tx: Tx, *, alive_within_seconds: float) -> Sequence[SeenNode]:
    found = await nodes.list_nodes(tx, within_seconds=max(LOST_FOR_SECONDS, alive_within_seconds))
    return seen_nodes(found, await tx.now(), alive_within_seconds)


async def _node(tx: Tx, *, node_id: str, alive_within_seconds: float) -> SeenNode | None:
    node: Node | None = await nodes.find_node(tx, node_id=node_id)
    return seen_nodes([node], await tx.now(), alive_within_seconds)[0] if node else None


async def _status(tx: Tx, *, alive_within_seconds: float, latency_seconds: float) -> Status:
    return Status(
        now=await tx.now(),
        nodes=await _nodes(tx, alive_within_seconds=alive_within_seconds),
        runs=await nodes.queue_sizes(tx),
        queues=await gauges.queue_loads(tx),
        leases=await gauges.leases(tx),
        latency_seconds=latency_seconds,
    )
