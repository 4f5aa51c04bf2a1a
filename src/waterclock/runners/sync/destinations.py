"""Where a sync writes to: its destinations as outputs, how each is to be written, and what two of them share.

A destination is an output in a query's shape, or a name: `Clickhouse` is the worker's own server, `Hadoop` the worker's
own file system (`hadoop.uri`, else its lake folder), both by `dest_database_name` and `dest_table_name`.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from waterclock.domain.lake_sync import SyncMode
from waterclock.runners.sql.outputs import OutputFailed, said_of
from waterclock.runners.sql.places import Scheme, place_of

KEPT_HOURS: Final = 24  # what a full sync has replaced
CLICKHOUSE: Final = "clickhouse"
HADOOP: Final = "hadoop"
_FILES: Final = frozenset({"parquet", "text_file"})
_DATABASES: Final = frozenset({"postgresql", "mysql", "jdbc"})
_USUAL_SCHEMA: Final = "public"

Output = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What a worker has of its own."""

    clickhouse: str = ""  # its URL
    hadoop: str = ""  # hdfs://, file:// or s3://, with the folder that databases lie in


def destinations_of(task: Mapping[str, Any], mode: SyncMode, own: Own) -> list[dict[str, Any]]:
    """As `outputs_of` reads them. Where none is named the rows go where this worker keeps its own."""
    given = task.get("destinations") or [CLICKHOUSE if own.clickhouse else HADOOP]
    if not isinstance(given, list):
        raise OutputFailed("destinations must be a list")
    found = []
    for number, each in enumerate(given):
        with said_of(f"destinations[{number}]"):
            named = _named(each, task, own) if isinstance(each, str) else each
            if not isinstance(named, Mapping):
                raise OutputFailed(f"{named!r} is neither a name nor has it a type and a config")
            found.append({**named, "config": {**_config(named), **_written(task, mode, _config(named))}})
    return found


def where_of(output: Output, own: Own) -> str:
    """The same for all who write to one place, whatever job and mode: a table, a folder, a file of DuckDB's."""
    kind, config = output.get("type"), _config(output)
    if kind in _FILES:
        place = place_of(_text(config, "hdfs_uri"), _text(config, "result_path"))
        return f"file://{os.path.realpath(place.path)}" if place.scheme is Scheme.FILE else str(place)
    if kind == "datainsider":
        return f"clickhouse {own.clickhouse.rstrip('/')} {_text(config, 'database')}.{_text(config, 'table_name')}"
    if kind in _DATABASES:
        schema = config.get("schema") or _USUAL_SCHEMA
        table = _text(config, "table_name") if schema == _USUAL_SCHEMA else f"{schema}.{_text(config, 'table_name')}"
        return f"source {config.get('source_id', config.get('source'))} {table}"
    if kind == "duckdb":  # one process at a time may write to such a file
        return f"duckdb {os.path.realpath(_text(config, 'path'))}"
    raise OutputFailed(f"type {kind!r} is not known to this worker")


def wheres_of(outputs: Sequence[Output], own: Own) -> list[str]:
    found = set()
    for number, each in enumerate(outputs):
        with said_of(f"destinations[{number}]"):
            found.add(where_of(each, own))
    return sorted(found)


def _named(name: str, task: Mapping[str, Any], own: Own) -> dict[str, Any]:
    database, table = task.get("dest_database_name") or "default", task.get("dest_table_name")
    if not isinstance(table, str) or not table:
        raise OutputFailed(f"dest_table_name is missing: the destination {name} needs it")
    match name.lower():
        case "clickhouse":
            return {
                "type": "datainsider",
                "config": {"class_name": "clickhouse_config", "database": database, "table_name": table},
            }
        case "hadoop":
            path = f"/{database}/{table}"
            return {
                "type": "parquet",
                "config": {"class_name": "hadoop_config", "hdfs_uri": own.hadoop, "result_path": path},
            }
    raise OutputFailed(f"the destination {name!r} is not known: Clickhouse and Hadoop are, or give a type and a config")


def _written(task: Mapping[str, Any], mode: SyncMode, config: Mapping[str, Any]) -> dict[str, Any]:
    if mode is SyncMode.FULL:
        return {"write_mode": "replace", "keep_old_hours": config.get("keep_old_hours", KEPT_HOURS)}
    if keys := task.get("key_columns"):
        return {"write_mode": "upsert", "key_columns": keys}
    return {"write_mode": "append"}


def _config(output: Output) -> Mapping[str, Any]:
    config = output.get("config")
    return config if isinstance(config, Mapping) else {}


def _text(config: Mapping[str, Any], name: str) -> str:
    given = config.get(name)
    if not isinstance(given, str) or not given.strip():
        raise OutputFailed(f"config.{name} is missing or empty")
    return given
