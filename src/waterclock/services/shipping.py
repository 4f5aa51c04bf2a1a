"""Shipping: what a worker over HTTP sends of its logs, taken by whoever may, into the log store."""

import asyncio
from typing import Final

from waterclock.domain.access import Caller, Right
from waterclock.domain.errors import InvalidInput, NotAllowed, NotFound
from waterclock.domain.log_name import log_name
from waterclock.domain.moment import SECOND
from waterclock.runners.log_store import LogStore
from waterclock.runners.log_threads import LogThreads
from waterclock.stores.base import Database
from waterclock.stores.ops.log_places import Shipped, shipped_log

# A worker whose host was down for some hours still tells what its runs have written. Only who holds the fence may, and
# only until the log was finished: so a long time costs nothing.
ACCEPTED_SECONDS: Final = 24 * 3600


class Shipping:
    """`cap_bytes`: no log is longer, whatever its worker allows itself."""

    def __init__(self, database: Database, store: LogStore, *, cap_bytes: int) -> None:
        self._database = database
        self._store = store
        self._cap_bytes = cap_bytes
        self._threads = LogThreads()
        self._finishing: dict[str, asyncio.Future[None]] = {}

    async def ship(
        self, caller: Caller, attempt_id: int, fence: int, offset: int, data: bytes, *, last: bool = False
    ) -> int:
        """How many bytes of this log are in the store now: from there on the worker goes on.

        What is there is not written twice; bytes past a gap are not taken. `last`: no more comes after these.
        """
        caller.needs(Right.WORK)
        found = await self._database.read(shipped_log, org_id=caller.org_id, attempt_id=attempt_id)
        if found is None:
            raise NotFound("attempt", attempt_id)
        _check(found, fence)
        if offset < 0 or offset + len(data) > self._cap_bytes:
            raise InvalidInput(
                f"a log has at most {self._cap_bytes} bytes (log_cap_bytes of the server)", field="offset"
            )
        name = log_name(found.wire_id, found.run_at)
        if last and offset == 0:
            return await self._threads.run(self._store.put, name, data)
        there = await self._threads.run(self._store.append, name, offset, data)
        if last and there >= offset + len(data):
            await self._finish(name)
        return there

    async def _finish(self, name: str) -> None:
        """Once, though the worker may have lost its patience and ask again: a long log takes a while to be merged."""
        under_way = self._finishing.get(name)
        if under_way is None:
            under_way = self._finishing[name] = asyncio.ensure_future(self._threads.run(self._store.finish, name))
            under_way.add_done_callback(lambda _: self._finishing.pop(name, None))
        await asyncio.shield(under_way)


def _check(found: Shipped, fence: int) -> None:
    if found.fence != fence:
        raise NotAllowed(
            f"attempt {found.wire_id} was claimed again (fence {found.fence}): its log is another worker's"
        )
    if found.ended_at is not None and found.now - found.ended_at > ACCEPTED_SECONDS * SECOND:
        raise NotAllowed(f"attempt {found.wire_id} ended more than {ACCEPTED_SECONDS // 3600} hours ago")
