"""Crawlers: kept, shown and deleted; there is nothing else to do with one."""

from collections.abc import Callable, Mapping, Sequence

from waterclock.domain.crawler import Crawler
from waterclock.domain.errors import AlreadyExists, NotFound
from waterclock.stores.base import Kind, Row, Tx
from waterclock.stores.ops.rows import dumped, loaded


async def create_crawler(
    tx: Tx, *, org_id: int, name: str, owner: str, definition: Mapping[str, object], tags: Mapping[str, str]
) -> Crawler:
    key = {"org_id": org_id, "name": name}
    if await tx.fetch_one("crawler_by_name", key):
        raise AlreadyExists("crawler", name)
    now = await tx.now()
    (crawler_id,) = await tx.numbers(Kind.CRAWLER, 1)
    given = {"owner": owner, "definition": dumped(definition), "tags": dumped(tags)}
    row = {**key, **given, "id": crawler_id, "created_at": now, "updated_at": now}
    await tx.run("insert_crawler", row)
    return _crawler(row)


async def get_crawlers(tx: Tx, *, org_id: int, names: Sequence[str]) -> dict[str, Crawler]:
    rows = await tx.fetch("crawlers_by_names", {"org_id": org_id, "names": list(names)})
    return {row["name"]: _crawler(row) for row in rows}


async def list_crawlers(tx: Tx, *, org_id: int, after: str, after_id: int, limit: int) -> list[Crawler]:
    values = {"org_id": org_id, "after": after, "after_id": after_id, "limit": limit}
    return [_crawler(row) for row in await tx.fetch("crawlers_of_org", values)]


async def delete_crawler(tx: Tx, *, org_id: int, name: str, allow: Callable[[Crawler], None]) -> None:
    row = await tx.fetch_one("lock_crawler", {"org_id": org_id, "name": name})
    if row is None:
        raise NotFound("crawler", name)
    allow(_crawler(row))
    await tx.run("delete_crawler", {"id": row["id"]})


def _crawler(row: Row) -> Crawler:
    return Crawler(
        id=row["id"],
        org_id=row["org_id"],
        name=row["name"],
        owner=row["owner"],
        definition=loaded(row["definition"]),
        tags=loaded(row["tags"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
