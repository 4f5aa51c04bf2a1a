"""Shipping straight into the log store, for a worker that reaches it itself."""

from waterclock.runners.log_store import LogStore, take
from waterclock.runners.log_threads import LogThreads
from waterclock.runners.outbox import Outgoing


class IntoStore:
    """The engine's `Destination` over a store."""

    def __init__(self, store: LogStore) -> None:
        self._store = store
        self._threads = LogThreads()

    async def ship(self, log: Outgoing, offset: int, data: bytes, *, last: bool) -> int:
        return await self._threads.run(take, self._store, log.name, offset, data, last=last)
