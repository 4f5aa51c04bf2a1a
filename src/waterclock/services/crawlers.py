"""Crawlers: kept for the clients that make one, and never run."""

from collections.abc import Mapping, Sequence

from waterclock.domain.access import Caller, Right
from waterclock.domain.crawler import Crawler
from waterclock.domain.errors import NotFound
from waterclock.services.paging import Page, PageRequest, page_of, position
from waterclock.stores.base import Database
from waterclock.stores.ops import crawlers as ops


class Crawlers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, caller: Caller, name: str, definition: Mapping[str, object], tags: Mapping[str, str]
    ) -> Crawler:
        caller.needs(Right.DEFINE)
        return await self._database.write(
            ops.create_crawler,
            org_id=caller.org_id,
            name=name,
            owner=caller.owner,
            definition=definition,
            tags=tags,
        )

    async def get(self, caller: Caller, name: str) -> Crawler:
        found = await self.get_many(caller, [name])
        if name not in found:
            raise NotFound("crawler", name)
        return found[name]

    async def get_many(self, caller: Caller, names: Sequence[str]) -> Mapping[str, Crawler]:
        """Those that exist, by name."""
        caller.needs(Right.READ)
        return await self._database.read(ops.get_crawlers, org_id=caller.org_id, names=names)

    async def list(self, caller: Caller, page: PageRequest) -> Page[Crawler]:
        caller.needs(Right.READ)
        after = position("crawlers", page.token, (str, int))
        found = await self._database.read(
            ops.list_crawlers,
            org_id=caller.org_id,
            after=str(after[0]) if after else "",
            after_id=int(str(after[1])) if after else 0,
            limit=page.size + 1,
        )
        return page_of("crawlers", found, page.size, lambda crawler: (crawler.name, crawler.id))

    async def delete(self, caller: Caller, name: str) -> None:
        caller.needs(Right.DEFINE)

        def allow(crawler: Crawler) -> None:
            caller.owns("crawler", name, crawler.owner)

        await self._database.write(ops.delete_crawler, org_id=caller.org_id, name=name, allow=allow)
