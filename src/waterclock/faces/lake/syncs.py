"""The fields of a sync job as they are sent: what it reads, how, and where the rows go."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_sync import SyncKind, SyncMode
from waterclock.faces.api.fields import MOST_SECONDS, Fields, flag, number, one_of, several, text
from waterclock.faces.lake.fields import in_any_case, source, whole
from waterclock.faces.lake.outputs import LONGEST_PLACE, columns, output

LONGEST_QUERY: Final = 16 * 1024 * 1024  # the body's own limit is less
LONGEST_VALUE: Final = 1_000
LONGEST_OBJECT: Final = 64 * 1024
DEEPEST: Final = 32
MOST_DESTINATIONS: Final = 100
MOST_PATHS: Final = 100
MOST_RECORDS: Final = 10**9


class OnBadLine(StrEnum):
    FAIL = "fail"
    SKIP = "skip"  # and count


class Store(StrEnum):
    """A destination by its name alone: the settings say where it is, dest_* which table."""

    CLICKHOUSE = "Clickhouse"
    HADOOP = "Hadoop"


class NullRows(StrEnum):
    """Rows without a value in the incremental column."""

    FAIL = "fail"
    SKIP = "skip"
    READ = "read"  # every time: a key keeps them from being doubled


class Method(StrEnum):
    GET = "GET"
    POST = "POST"


class Format(StrEnum):
    """Of files; the last four are other names for the same."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    EXCEL = "excel"
    TSV = "tsv"
    JSONL = "jsonl"
    NDJSON = "ndjson"
    XLSX = "xlsx"


class Missing(StrEnum):
    """A page without records."""

    FAIL = "fail"
    EMPTY = "empty"


class NewFields(StrEnum):
    FAIL = "fail"
    IGNORE = "ignore"


def value(field: str, given: object) -> object:
    """Of a column: where the first run begins."""
    if isinstance(given, str):
        return text(LONGEST_VALUE)(field, given)
    if not isinstance(given, int | float) or isinstance(given, bool):
        raise InvalidInput("must be text or a number", field=field, value=given)
    return given


def paths(field: str, given: object) -> object:
    """One, or several; each may be a pattern."""
    one = text(LONGEST_PLACE, least=0)
    return one(field, given) if isinstance(given, str) else several(one, MOST_PATHS)(field, given)


def settings(field: str, given: object) -> dict[str, Any]:
    """Of a format or a service: what they mean is said by who reads there; here only that they are few."""
    if not isinstance(given, dict):
        raise InvalidInput("must be a JSON object", field=field)
    if not _is_shallow(given, DEEPEST):
        raise InvalidInput(f"is nested more than {DEEPEST} deep", field=field)
    written = json.dumps(given)
    if len(written) > LONGEST_OBJECT:
        raise InvalidInput(f"is longer than {LONGEST_OBJECT} characters", field=field)
    if "\\u0000" in written:
        raise InvalidInput("cannot hold a NUL", field=field)
    return given


def _is_shallow(given: object, levels: int) -> bool:
    items = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
    return levels > 0 and all(_is_shallow(item, levels - 1) for item in items)


def destination(field: str, given: object) -> object:
    if not isinstance(given, str):
        return output(field, given)
    named = next((each for each in Store if each.lower() == given.lower()), None)
    if named is None:
        raise InvalidInput(f"must be {' or '.join(Store)}, or an output: {{type, config}}", field=field, value=given)
    return named


_COMMON: Final[Fields] = {
    "source": source,
    "source_id": source,  # the later shape's
    "sync_mode": one_of(SyncMode),
    "incremental_column": text(least=0),
    "last_synced_value": value,
    "key_columns": columns,
    "on_bad_line": in_any_case(OnBadLine),
    "dest_database_name": text(least=0),
    "dest_table_name": text(least=0),
    "destinations": several(destination, MOST_DESTINATIONS),
}
FIELDS: Final[Mapping[SyncKind, Fields]] = {
    SyncKind.DB: {
        **_COMMON,
        **dict.fromkeys(("database_name", "schema", "table_name"), text(least=0)),
        "query": text(LONGEST_QUERY, least=0),
        "lag_seconds": number(0, MOST_SECONDS),
        "inclusive": flag,
        "null_rows": in_any_case(NullRows),
    },
    SyncKind.SERVICE: {
        **_COMMON,
        "endpoint": text(LONGEST_PLACE, least=0),
        "method": one_of(Method),
        **dict.fromkeys(("params", "body", "paging", "since", "types"), settings),
        "records": text(LONGEST_VALUE, least=0),
        "missing_records": in_any_case(Missing),
        "new_fields": in_any_case(NewFields),
        "infer_records": whole(1, MOST_RECORDS),
        "lag_seconds": number(0, MOST_SECONDS),
        "inclusive": flag,
        "null_rows": in_any_case(NullRows),
    },
    SyncKind.FILE: {
        **_COMMON,
        "path": paths,
        "format": in_any_case(Format),
        "options": settings,
        "spreadsheet_id": text(least=0),
        "sheet": text(least=0),
    },
}
# In the order in which an answer has them.
SHOWN: Final = (
    *("source", "database_name", "schema", "table_name", "query"),
    *("endpoint", "method", "params", "body", "records", "missing_records", "paging", "types", "new_fields"),
    *("infer_records", "since"),
    *("path", "format", "options", "spreadsheet_id", "sheet", "on_bad_line"),
    *("sync_mode", "incremental_column", "last_synced_value", "lag_seconds", "inclusive", "null_rows", "key_columns"),
    *("dest_database_name", "dest_table_name", "destinations"),
)
# Exactly one of these must be there.
READ: Final[Mapping[SyncKind, tuple[str, ...]]] = {
    SyncKind.DB: ("table_name", "query"),
    SyncKind.SERVICE: ("endpoint",),
    SyncKind.FILE: ("path", "spreadsheet_id"),
}
