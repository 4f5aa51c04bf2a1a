"""How a node belongs to the cluster: it beats, hears what wakes it, and leaves. Behind it a database, or a server."""

from collections.abc import Callable
from typing import Protocol

from waterclock.stores.base import Database, Topic
from waterclock.stores.ops import nodes
from waterclock.stores.ops.nodes import Answer, Node, Pulse


class Membership(Protocol):
    async def beat(self, node: Node, wall_us: int, pulse: Pulse) -> Answer:
        """The first beat makes it a member."""
        ...

    async def leave(self, node_id: str) -> None:
        """In good order."""
        ...

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]: ...


class StoreMembership:
    """`Membership` straight from the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def beat(self, node: Node, wall_us: int, pulse: Pulse) -> Answer:
        return await self._database.write(nodes.beat, node=node, wall_us=wall_us, pulse=pulse)

    async def leave(self, node_id: str) -> None:
        await self._database.write(nodes.stop_node, node_id=node_id)

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]:
        return self._database.listen(topic, heard)
