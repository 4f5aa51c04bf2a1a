"""Outputs of a query as they are sent, in either shape: what can never be written to is refused by its place."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.faces.api.fields import Fields, flag, several, text
from waterclock.faces.lake.fields import in_any_case, read_known, source, whole

LONGEST_PLACE: Final = 1_000
LONGEST_SEPARATOR: Final = 10
MOST_COLUMNS: Final = 100
MOST_HOURS: Final = 24 * 366


class WriteMode(StrEnum):
    APPEND = "append"
    REPLACE = "replace"
    UPSERT = "upsert"  # by key_columns: a row takes the place of the one with its key


class SchemaChanges(StrEnum):
    """What becomes of a column that the place does not have, or has narrower."""

    ADD = "add"
    REFUSE = "refuse"


def separator(field: str, value: object) -> str:
    found = str(text(LONGEST_SEPARATOR)(field, value))
    if any(letter in found.replace("\\t", "") for letter in '"\\\r\n'):
        raise InvalidInput("can hold neither a quote nor a backslash nor a line break", field=field, value=value)
    return found


HADOOP: Final = "hadoop_config"
CLICKHOUSE: Final = "clickhouse_config"
DATABASE: Final = "database_config"
DUCKDB: Final = "duckdb_config"

columns: Final = several(text(), MOST_COLUMNS)
_MODE: Final[Fields] = {
    "write_mode": in_any_case(WriteMode),
    "key_columns": columns,
    "keep_old_hours": whole(0, MOST_HOURS),
    "schema_changes": in_any_case(SchemaChanges),
}
_PARQUET: Final[Fields] = {
    "class_name": text(64),
    "hdfs_uri": text(LONGEST_PLACE),
    "result_path": text(LONGEST_PLACE),
    **_MODE,
}
_TEXT: Final[Fields] = {**_PARQUET, "separator": separator, "header": flag}
_CLICKHOUSE: Final[Fields] = {"class_name": text(64), "database": text(), "table_name": text(), **_MODE}
_DATABASE: Final[Fields] = {
    "class_name": text(64),
    "source": source,
    "schema": text(),
    "table_name": text(),
    **_MODE,
}
_DUCKDB: Final[Fields] = {"class_name": text(64), "path": text(LONGEST_PLACE), "table_name": text(), **_MODE}
# By the type of the output: the class of its config, what that has, and what it must have.
CONFIGS: Final[Mapping[str, tuple[str, Fields, tuple[str, ...]]]] = {
    "text_file": (HADOOP, _TEXT, ("result_path",)),
    "parquet": (HADOOP, _PARQUET, ("result_path",)),
    "datainsider": (CLICKHOUSE, _CLICKHOUSE, ("database", "table_name")),
    **dict.fromkeys(("postgresql", "mysql", "jdbc"), (DATABASE, _DATABASE, ("source", "table_name"))),
    "duckdb": (DUCKDB, _DUCKDB, ("path", "table_name")),
}


def output(field: str, value: object) -> dict[str, Any]:
    """In the seed's shape."""
    if not isinstance(value, dict):
        raise InvalidInput("must be a JSON object", field=field)
    if "type" not in value and str(value.get("class_name")) in _LATER:
        return _from_later(field, value)
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in CONFIGS:
        raise InvalidInput(f"must be one of {', '.join(CONFIGS)}", field=f"{field}.type", value=kind)
    class_name, fields, required = CONFIGS[kind]
    place = f"{field}.config"
    config = read_known(value.get("config"), fields, required=required, within=f"{place}.")
    if config.get("class_name", class_name) != class_name:
        raise InvalidInput(f"must be {class_name} where the type is {kind}", field=f"{place}.class_name")
    return _shown(place, kind, config)


def _shown(place: str, kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """In the seed's order. A result_path may hold the hdfs_uri, too."""
    class_name, fields, _ = CONFIGS[kind]
    all_of_it = {"class_name": class_name, **config}
    if class_name == HADOOP and "hdfs_uri" not in all_of_it:
        scheme, separator, rest = all_of_it["result_path"].partition("://")
        if not separator:
            raise InvalidInput("is required: host:port, hdfs://…, file:/// or s3://bucket", field=f"{place}.hdfs_uri")
        host, slash, path = rest.partition("/")
        all_of_it = {**all_of_it, "hdfs_uri": f"{scheme}://{host}{slash}", "result_path": f"/{path}"}
    check_upsert(kind, all_of_it.get("write_mode"), f"{place}.write_mode")
    if all_of_it.get("write_mode") == WriteMode.UPSERT and not all_of_it.get("key_columns"):
        raise InvalidInput("is required where write_mode is upsert", field=f"{place}.key_columns")
    return {"type": kind, "config": {name: all_of_it[name] for name in fields if name in all_of_it}}


def check_upsert(kind: str, mode: str | None, field: str) -> None:
    if kind == "text_file" and mode == WriteMode.UPSERT:
        raise InvalidInput("is text, which has no types to know a key by: parquet serves", field=field)


# The later shape: its class names, the type that each is in the seed's, and the names that it has for the same.
_LATER: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "hadoop_result_output": ("text_file", {}),
    "clickhouse_result_output": ("datainsider", {"database_name": "database"}),
}


def _from_later(field: str, value: Mapping[str, object]) -> dict[str, Any]:
    kind, names = _LATER[str(value["class_name"])]
    _, fields, required = CONFIGS[kind]
    theirs = {ours: name for name, ours in names.items()}
    readers = {theirs.get(ours, ours): reader for ours, reader in fields.items() if ours != "class_name"}
    needed = [theirs.get(ours, ours) for ours in required]
    given = read_known(value, readers, required=needed, within=f"{field}.")
    return _shown(field, kind, {names.get(name, name): found for name, found in given.items()})
