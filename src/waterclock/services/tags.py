"""Tags: seen by everyone in the organisation, changed by the owner of what carries them."""

from collections.abc import Collection, Mapping
from typing import Final

from waterclock.domain.access import Caller, Right
from waterclock.domain.errors import NotFound
from waterclock.domain.tagging import Resource, Taggable, Tagged, with_tags, without_tags
from waterclock.services.paging import Page, PageRequest, page_of, position, token
from waterclock.stores.base import Database
from waterclock.stores.ops import tags as ops

# The names that the whole lists give their tokens: a list goes on from the same place with tags and without.
LISTS: Final = {Taggable.JOB: "jobs", Taggable.TRIGGER: "triggers", Taggable.CRAWLER: "crawlers"}


class Tags:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, caller: Caller, resource: Resource) -> Mapping[str, str]:
        _reach(caller, resource, Right.READ)
        return (await self._database.read(ops.get_tags, org_id=caller.org_id, resource=resource)).tags

    async def add(self, caller: Caller, resource: Resource, tags: Mapping[str, str]) -> None:
        """A key that is there already gets the new value."""
        await self._change(caller, resource, lambda known: with_tags(known, tags))

    async def remove(self, caller: Caller, resource: Resource, keys: Collection[str]) -> None:
        """A key that is not there is gone already."""
        await self._change(caller, resource, lambda known: without_tags(known, keys))

    async def names(
        self,
        caller: Caller,
        kind: Taggable,
        namespace: str,
        wanted: Mapping[str, str],
        page: PageRequest,
        *,
        job_name: str | None = None,
    ) -> Page[str]:
        """Of those that carry all the tags. Where they are very rare a page may be short, and its token goes on."""
        caller.needs(Right.READ)
        after = position(LISTS[kind], page.token, (str, int))
        found = await self._database.read(
            ops.names_with_tags,
            org_id=caller.org_id,
            kind=kind,
            namespace=namespace,
            wanted=wanted,
            after=(str(after[0]), int(str(after[1]))) if after else ("", 0),
            limit=page.size + 1,
            job_name=job_name,
        )
        places = page_of(LISTS[kind], found.names, page.size, lambda place: place)
        next_token = places.next_token or (token(LISTS[kind], *found.more) if found.more else None)
        return Page(items=[name for name, _ in places.items], next_token=next_token)

    async def _change(self, caller: Caller, resource: Resource, revise: ops.Revision) -> None:
        _reach(caller, resource, Right.DEFINE)

        def allow(tagged: Tagged) -> None:
            caller.owns(resource.kind, resource.name, tagged.owner)

        await self._database.write(ops.change_tags, org_id=caller.org_id, resource=resource, revise=revise, allow=allow)


def _reach(caller: Caller, resource: Resource, right: Right) -> None:
    """Another account's is not found, whatever it is called."""
    caller.needs(right)
    if resource.account != caller.account:
        raise NotFound(resource.kind, resource.name)
