"""Where a query's rows go, in one word of a command line: text:PLACE, parquet:PLACE, clickhouse:DATABASE.TABLE."""

import json
from typing import Any, Final
from urllib.parse import urlsplit

from waterclock.faces.cli.failure import Refused

FILES: Final = {"text": "text_file", "parquet": "parquet"}
SCHEMES: Final = ("hdfs", "file", "s3")
MODES: Final = ("append", "replace")
HELP: Final = (
    "Where the rows go: text:PLACE or parquet:PLACE (hdfs://host:9000/path, file:///path, s3://bucket/path), "
    "clickhouse:DATABASE.TABLE[:replace], or an output as JSON; repeatable."
)


def output_of(given: str) -> dict[str, Any]:
    """As the server takes it, or Refused with what to write."""
    if given.lstrip().startswith("{"):
        return _written(given)
    kind, _, place = given.partition(":")
    if kind in FILES:
        return {"type": FILES[kind], "config": _files(given, place)}
    if kind == "clickhouse":
        return {"type": "datainsider", "config": _clickhouse(given, place)}
    raise Refused(f"--output {given}: must begin with text:, parquet: or clickhouse:, or be JSON")


def _written(given: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(given)
    except ValueError as problem:
        raise Refused(f"--output {given}: is not JSON: {problem}") from None
    return found


def _files(given: str, place: str) -> dict[str, Any]:
    scheme, _, rest = place.partition("://")
    try:
        path = urlsplit(place).path
    except ValueError:
        path = ""
    if scheme not in SCHEMES or not path.strip("/"):
        raise Refused(f"--output {given}: must name a place: hdfs://host:9000/path, file:///path or s3://bucket/path")
    return {
        "class_name": "hadoop_config",
        "hdfs_uri": f"{scheme}://{rest.partition('/')[0]}",
        "result_path": f"/{rest.partition('/')[2]}",
    }


def _clickhouse(given: str, place: str) -> dict[str, Any]:
    table, _, mode = place.partition(":")
    database, dot, name = table.partition(".")
    if not database or not dot or not name or mode not in ("", *MODES):
        raise Refused(f"--output {given}: must be clickhouse:DATABASE.TABLE, with :append or :replace behind it")
    return {
        "class_name": "clickhouse_config",
        "database": database,
        "table_name": name,
        "write_mode": mode or MODES[0],
    }
