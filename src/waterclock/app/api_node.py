"""The API process as a node: it beats like the others, so that `status` shows it and a drain reaches it."""

import contextlib
import os
import socket
import uuid
from collections.abc import AsyncIterator

import waterclock
from waterclock.app.folders import Folders
from waterclock.domain.errors import Unavailable
from waterclock.engine.heartbeat import Heartbeat
from waterclock.engine.loop import Loop
from waterclock.engine.membership import StoreMembership
from waterclock.faces.http.siblings import Siblings
from waterclock.settings import Settings
from waterclock.stores.base import Database, Topic
from waterclock.stores.ops.nodes import Node, Pulse


class ApiNode:
    """While it drains it answers as before; only who asks whether it is ready is told to go elsewhere."""

    def __init__(self, siblings: Siblings) -> None:
        self._siblings = siblings
        self._is_draining = False

    def pulse(self) -> Pulse:
        return Pulse(drained=self._is_draining)

    def drain(self, draining: bool) -> None:
        self._is_draining = draining
        self._siblings.drain(draining)


@contextlib.asynccontextmanager
async def joined(settings: Settings, database: Database, siblings: Siblings) -> AsyncIterator[None]:
    """A member of the cluster until it is left."""
    membership, node, record = StoreMembership(database), ApiNode(siblings), _record(settings)
    loop = Loop(Heartbeat(membership, record, every_seconds=settings.heartbeat_seconds, body=node))
    deaf = membership.listen(Topic.NODES, loop.wake)
    loop.start()
    try:
        yield
    finally:
        deaf()
        await loop.cancel()  # it may be waiting for a store that does not answer
        with contextlib.suppress(Unavailable):
            await membership.leave(record.id)


def _record(settings: Settings) -> Node:
    return Node(
        id=str(uuid.uuid4()),
        host=Folders(root=settings.data_dir).host_id(),
        name=socket.gethostname(),
        duties=("api",),
        version=waterclock.__version__,
        pid=os.getpid(),
    )
