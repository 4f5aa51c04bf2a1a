"""The tables that a query may name: which of them it does, and whether their paths may be read."""

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import unquote, urlsplit

from waterclock.domain.lake import LakeTable, TableFormat
from waterclock.reachable import private_address_of
from waterclock.runners.lake.order import Order
from waterclock.runners.sql.engine import QueryFailed

# How each format is read, by the names that Spark has for it.
OPTIONS: Final[Mapping[TableFormat, Mapping[str, str]]] = {
    TableFormat.PARQUET: {},
    # A quote inside quotes is written twice, as everybody but Spark has it.
    TableFormat.CSV: {"header": "true", "inferSchema": "true", "escape": '"'},
    TableFormat.JSON: {},
    TableFormat.DELTA: {},
}


def readable(order: Order, query: str) -> Sequence[LakeTable]:
    """Those that the query's text mentions: a view costs a look at its files, and an organisation may have many."""
    text = query.lower()
    return [replace(table, path=_path(table, order)) for table in order.tables if table.name.lower() in text]


def _path(table: LakeTable, order: Order) -> str:
    """As the engine is to be given it."""
    if "\0" in table.path:
        raise QueryFailed(f"table {table.name!r}: its path holds a NUL")
    if "://" not in table.path:
        return _file(table.name, table.path, order.roots)
    parts = urlsplit(table.path)
    match parts.scheme:
        case "file" if parts.netloc in ("", "localhost"):
            return _file(table.name, unquote(parts.path), order.roots)
        case "hdfs" if order.allows_private or private_address_of(parts.hostname or "") is None:
            return table.path
        case "hdfs":
            raise QueryFailed(
                f"table {table.name!r}: {parts.hostname!r} is not a public address; an admin may allow such ones "
                "with the setting lake.private"
            )
        case "s3":
            return table.path
    raise QueryFailed(f"table {table.name!r}: {table.path!r} is none of a path, file://, hdfs:// and s3://")


def _file(name: str, path: str, roots: Sequence[str]) -> str:
    """Inside a root, wherever links lead. It must be there: Sail takes nothing at all for a table without columns."""
    real = [os.path.realpath(os.path.join(root, path)) for root in roots]
    inside = [each for each in real if any(_is_inside(each, root) for root in roots)]
    if not inside:
        raise QueryFailed(
            f"table {name!r}: {path!r} lies outside the folders that lake jobs may read on this worker: "
            f"{', '.join(roots) or 'none'} (setting lake.roots)"
        )
    for each in inside:
        if any(_has_something(found) for found in (each, *glob.glob(each))):
            return each
    raise QueryFailed(f"table {name!r}: there is nothing at {inside[0]!r}")


def _has_something(path: str) -> bool:
    return bool(os.listdir(path)) if os.path.isdir(path) else os.path.exists(path)


def _is_inside(path: str, root: str) -> bool:
    folder = os.path.realpath(root)
    return path == folder or path.startswith(folder.rstrip("/") + "/")
