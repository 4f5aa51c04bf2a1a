"""Messages: what operators are told, newest first, until they say that they have read it."""

from collections.abc import Sequence
from typing import Final

from waterclock.domain.access import Caller, Right
from waterclock.domain.message import Message, SoughtMessages
from waterclock.services.paging import Page, PageRequest, page_of, position
from waterclock.stores.base import Database
from waterclock.stores.ops import messages as ops
from waterclock.stores.ops.reading import FROM_THE_NEWEST

ALL: Final = SoughtMessages()


class Messages:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, caller: Caller, page: PageRequest, sought: SoughtMessages = ALL) -> Page[Message]:
        caller.needs(Right.READ)
        before = position("messages", page.token, (int,))
        found = await self._database.read(
            ops.list_messages,
            org_id=caller.org_id,
            before=int(str(before[0])) if before else FROM_THE_NEWEST[0],
            limit=page.size + 1,
            sought=sought,
        )
        return page_of("messages", found, page.size, lambda message: (message.id,))

    async def mark_read(self, caller: Caller, ids: Sequence[int] | None = None) -> int:
        """These, or all that are there by now; how many of them nobody had read before."""
        caller.needs(Right.RUN)
        if ids is not None:
            return await self._database.write(ops.read_messages, org_id=caller.org_id, ids=ids)
        last, read = await self._database.read(ops.newest_message, org_id=caller.org_id), 0
        while page := await self._database.write(ops.read_all_messages, org_id=caller.org_id, last=last):
            read += page
        return read
