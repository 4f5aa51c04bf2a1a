"""Where rows go, in one word of a command line: text:PLACE, parquet:PLACE, clickhouse:DATABASE.TABLE and others."""

import json
from typing import Any, Final
from urllib.parse import urlsplit

from waterclock.faces.cli.failure import Refused

FILES: Final = {"text": "text_file", "parquet": "parquet"}
SCHEMES: Final = ("hdfs", "file", "s3")
DATABASES: Final = ("postgresql", "mysql")
MODES: Final = ("append", "replace")
PLACES: Final = (
    "text:PLACE or parquet:PLACE (hdfs://host:9000/path, file:///path, s3://bucket/path), clickhouse:DATABASE.TABLE"
)
OTHERS: Final = "postgresql:SOURCE:TABLE, mysql:SOURCE:TABLE, duckdb:PATH:TABLE, or an output as JSON; repeatable."
HELP: Final = f"Where the rows go: {PLACES}[:replace], {OTHERS}"


def output_of(given: str, option: str = "--output") -> dict[str, Any]:
    """As the server takes it, or Refused with what to write."""
    try:
        return _output(given)
    except _Unreadable as why:
        raise Refused(f"{option} {given}: {why}") from None


class _Unreadable(Exception):
    """What it must be."""


def _output(given: str) -> dict[str, Any]:
    if given.lstrip().startswith("{"):
        return _written(given)
    kind, _, place = given.partition(":")
    if kind in FILES:
        return {"type": FILES[kind], "config": _files(place)}
    if kind == "clickhouse":
        return {"type": "datainsider", "config": _clickhouse(place)}
    if kind in DATABASES:
        return {"type": kind, "config": _database(kind, place)}
    if kind == "duckdb":
        return {"type": kind, "config": _duckdb(place)}
    raise _Unreadable("must begin with text:, parquet:, clickhouse:, postgresql:, mysql: or duckdb:, or be JSON")


def _written(given: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(given)
    except ValueError as problem:
        raise _Unreadable(f"is not JSON: {problem}") from None
    return found


def _files(place: str) -> dict[str, Any]:
    scheme, _, rest = place.partition("://")
    try:
        path = urlsplit(place).path
    except ValueError:
        path = ""
    if scheme not in SCHEMES or not path.strip("/"):
        raise _Unreadable("must name a place: hdfs://host:9000/path, file:///path or s3://bucket/path")
    return {
        "class_name": "hadoop_config",
        "hdfs_uri": f"{scheme}://{rest.partition('/')[0]}",
        "result_path": f"/{rest.partition('/')[2]}",
    }


def _clickhouse(place: str) -> dict[str, Any]:
    table, _, mode = place.partition(":")
    database, dot, name = table.partition(".")
    if not database or not dot or not name or mode not in ("", *MODES):
        raise _Unreadable("must be clickhouse:DATABASE.TABLE, with :append or :replace behind it")
    return {"class_name": "clickhouse_config", "database": database, "table_name": name, "write_mode": mode or MODES[0]}


def _database(kind: str, place: str) -> dict[str, Any]:
    """A table may have its schema in front."""
    source, _, table = place.rpartition(":")
    schema, _, name = table.rpartition(".")
    if not source or not name:
        raise _Unreadable(f"must be {kind}:SOURCE:TABLE or {kind}:SOURCE:SCHEMA.TABLE, SOURCE being one of the lake's")
    return {
        "class_name": "database_config",
        "source": source,
        **({"schema": schema} if schema else {}),
        "table_name": name,
    }


def _duckdb(place: str) -> dict[str, Any]:
    path, _, name = place.rpartition(":")
    if not path or not name:
        raise _Unreadable("must be duckdb:PATH:TABLE, PATH being a file below the lake's folder or a root")
    return {"class_name": "duckdb_config", "path": path, "table_name": name}
