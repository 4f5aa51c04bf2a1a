"""What a job reads of a database, as its task says: a table or a query, and of an incremental sync from where."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from waterclock.domain.lake_sync import SyncMode
from waterclock.runners.sync.source import SourceFailed, Wanted

_PART: Final = re.compile(r'"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|([^."`]+)')
_MOST_PARTS: Final = 2


class NullRows(StrEnum):
    """Rows whose incremental column is NULL are neither before nor after a watermark."""

    READ = "read"  # all of them, by each run: with keys they are found again
    SKIP = "skip"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A watermark. What a job begins with has no scale, until the column's is known."""

    value: str
    scale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Increment:
    column: str
    after: Mark | None  # None: from the first row
    is_full: bool = False  # all rows are read, and the watermark is only for the next run
    inclusive: bool = False
    null_rows: NullRows = NullRows.FAIL
    lag_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One of `table`, a name or a schema's and a name, and `query`."""

    table: tuple[str, ...] = ()
    query: str = ""
    increment: Increment | None = None
    most_rows: int | None = None


def asked_of(wanted: Wanted) -> Asked:
    task = {**_mapping(wanted.task.get("options")), **wanted.task}
    table, query = str(task.get("table_name") or "").strip(), str(task.get("query") or "").strip()
    if bool(table) == bool(query):
        raise SourceFailed("give table_name or query, one of them")
    if "\0" in table + query:
        raise SourceFailed("table_name or query holds a NUL character")
    schema = (str(task["schema"]),) if task.get("schema") else ()
    return Asked(
        table=(*schema, *parts_of(table))[-_MOST_PARTS:] if table else (),
        query=query.rstrip("; \t\r\n"),
        increment=_increment(task, wanted.since),
        most_rows=wanted.most_rows,
    )


def parts_of(table: str) -> tuple[str, ...]:
    """`shop.orders`; a part that holds a dot is quoted: `shop."orders.2026"`."""
    found = [next(part for part in match.groups() if part) for match in _PART.finditer(table)]
    if not 1 <= len(found) <= _MOST_PARTS or len(_PART.sub("", table)) != len(found) - 1:
        raise SourceFailed(f'table_name {table!r} is no name such as orders, shop.orders or shop."orders.2026"')
    return tuple(part.replace('""', '"').replace("``", "`") for part in found)


def _increment(task: Mapping[str, Any], since: Mapping[str, Any] | None) -> Increment | None:
    is_full = task.get("sync_mode") != SyncMode.INCREMENTAL
    column = str(task.get("incremental_column") or "")
    if not column:
        if is_full:
            return None
        raise SourceFailed("an IncrementalSync needs incremental_column, which grows with every new row")
    has_keys = bool(task.get("key_columns"))
    return Increment(
        column=column,
        after=None if is_full else _after(task, column, since),
        is_full=is_full,
        inclusive=bool(task.get("inclusive", has_keys)),
        null_rows=_null_rows(task.get("null_rows"), has_keys=has_keys),
        lag_seconds=_lag(task.get("lag_seconds")),
    )


def _after(task: Mapping[str, Any], column: str, since: Mapping[str, Any] | None) -> Mark | None:
    """What the last run left, if that was of the same column; else where the job begins."""
    if since and since.get("column") == column and since.get("value") is not None:
        return Mark(value=str(since["value"]), scale=str(since.get("type") or ""))
    first = task.get("last_synced_value")
    return None if first is None or first == "" else Mark(value=str(first))


def _null_rows(given: object, *, has_keys: bool) -> NullRows:
    try:
        return NullRows(str(given)) if given else NullRows.READ if has_keys else NullRows.FAIL
    except ValueError:
        raise SourceFailed(f"null_rows must be one of {', '.join(NullRows)}") from None


def _lag(given: object) -> float | None:
    if given is None:
        return None
    if not isinstance(given, int | float) or isinstance(given, bool) or not 0 <= given < 1e9:
        raise SourceFailed("lag_seconds must be a number, 0 or more")
    return float(given)


def _mapping(given: object) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
