"""The tables that an organisation's queries name: kept, shown and deleted; they go with the claim of a query."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Final

from waterclock.domain.errors import AlreadyExists, NotAllowed, NotFound
from waterclock.domain.lake import LakeTable, Listed, TableFormat
from waterclock.stores.base import Kind, Row, Tx
from waterclock.stores.ops.lake_rows import pattern_of, total_of

MOST_TABLES: Final = 1_000  # of an organisation: all of them go with each claim of a query
NONE: Final[Mapping[int, tuple[LakeTable, ...]]] = {}


async def create_table(tx: Tx, *, org_id: int, creator: str, table: LakeTable) -> None:
    key = {"org_id": org_id, "name": table.name}
    if await tx.fetch_one("lake_table_by_name", key):
        raise AlreadyExists("lake table", table.name)
    if await total_of(tx, "count_lake_tables", {"org_id": org_id, "pattern": pattern_of(None)}) >= MOST_TABLES:
        raise NotAllowed(f"there are {MOST_TABLES} lake tables, and no more can be: delete one first")
    (number,) = await tx.numbers(Kind.LAKE_TABLE, 1)
    row = {"id": number, "format": table.format, "path": table.path, "creator": creator, "created_at": await tx.now()}
    await tx.run("insert_lake_table", {**key, **row})


async def list_tables(tx: Tx, *, org_id: int, keyword: str | None, offset: int, limit: int) -> Listed[LakeTable]:
    """By their names."""
    sought = {"org_id": org_id, "pattern": pattern_of(keyword)}
    rows = await tx.fetch("lake_tables_of_org", {**sought, "offset": offset, "limit": limit})
    return Listed(items=[_table(row) for row in rows], total=await total_of(tx, "count_lake_tables", sought))


async def delete_table(tx: Tx, *, org_id: int, name: str, allow: Callable[[str], None]) -> None:
    """`allow` is told who made it."""
    key = {"org_id": org_id, "name": name}
    row = await tx.fetch_one("lock_lake_table", key)
    if row is None:
        raise NotFound("lake table", name)
    allow(row["creator"])
    await tx.run("delete_lake_table", key)


async def tables_of(tx: Tx, org_ids: Collection[int]) -> Mapping[int, tuple[LakeTable, ...]]:
    """Of each of these organisations; nothing is asked where there are none."""
    if not org_ids:
        return NONE
    found = defaultdict[int, list[LakeTable]](list)
    for row in await tx.fetch("lake_tables_of_orgs", {"org_ids": sorted(org_ids)}):
        found[row["org_id"]].append(_table(row))
    return {org_id: tuple(found[org_id]) for org_id in org_ids}


def _table(row: Row) -> LakeTable:
    return LakeTable(name=row["name"], format=TableFormat(row["format"]), path=row["path"])
