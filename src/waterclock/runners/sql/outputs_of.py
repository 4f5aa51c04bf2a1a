"""From the seed's list of outputs to what writes them; what is wrong with one is said with its place in the list."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, Final

from waterclock.runners.lake.order import Order
from waterclock.runners.s3_connection import S3Connection
from waterclock.runners.sql import database_outputs, parquet, text
from waterclock.runners.sql.clickhouse import ClickHouseOutput
from waterclock.runners.sql.configs import flag_in, how_of, table_in, text_in
from waterclock.runners.sql.files import FileOutput
from waterclock.runners.sql.folder import Folder, Mode
from waterclock.runners.sql.hdfs import hdfs_folder
from waterclock.runners.sql.how import How
from waterclock.runners.sql.local import local_folder
from waterclock.runners.sql.outputs import Output, OutputFailed, Tag
from waterclock.runners.sql.places import Place, Scheme, place_of
from waterclock.runners.sql.rewriting import RewrittenParquet
from waterclock.runners.sql.s3 import S3Folder

_FILES: Final = "hadoop_config"
_TABLE: Final = "clickhouse_config"
_CONFIGS: Final = {
    **dict.fromkeys(("text_file", "parquet"), _FILES),
    "datainsider": _TABLE,
    **dict.fromkeys(database_outputs.SERVERS, "database_config"),
    database_outputs.FILE: "duckdb_config",
}
_LIBRARIES: Final = (
    "pyarrow.compute",
    "pyarrow.parquet",
    "hdfs_native",
    "httpx",
    "psycopg",
    "pymysql",
)  # DuckDB starts a thread
_LONGEST_SEPARATOR: Final = 10


def outputs_of(given: Sequence[Mapping[str, Any]], *, tag: Tag, order: Order) -> list[Output]:
    """`given`: `{type, config}` each. Nothing is touched and nobody is asked before the first call of an output."""
    made: list[Output] = []
    places: list[Place] = []
    for number, each in enumerate(given):
        with _at(number):
            made.append(_output(each, tag=tag, order=order, places=places))
    _check_apart(made, places)
    return made


def preload() -> None:
    """What the outputs need, where it is there: for a process that forks, so that its forks have it."""
    for name in _LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    with suppress(ImportError):
        import pyarrow as pa

        pa.array([""])  # the first one imports pandas, where it is there
    with suppress(ImportError):
        S3Connection(endpoint="", region="us-east-1", keys={"access_key": "-", "secret_key": "-"}).client()


def _output(given: Mapping[str, Any], *, tag: Tag, order: Order, places: list[Place]) -> Output:
    kind, config = given.get("type"), given.get("config")
    if not isinstance(kind, str) or kind not in _CONFIGS:
        raise OutputFailed(f"type {kind!r} is not known: {', '.join(_CONFIGS)} are")
    if not isinstance(config, Mapping):
        raise OutputFailed(f"config is missing: give one of the class {_CONFIGS[kind]}")
    if config.get("class_name", _CONFIGS[kind]) != _CONFIGS[kind]:
        raise OutputFailed(f"config.class_name is {config['class_name']!r}: {kind} needs {_CONFIGS[kind]}")
    if kind == "datainsider":
        return _table(config, tag=tag, order=order)
    if _CONFIGS[kind] != _FILES:
        return database_outputs.table_output(kind, config, tag=tag, order=order)
    place = place_of(text_in(config, "hdfs_uri"), text_in(config, "result_path"))
    places.append(place)
    how = how_of(config, "replace", order)
    if how.mode is Mode.UPSERT:
        return _rewritten(kind, place, how, tag=tag, order=order)
    folder = _folder(place, how=how, tag=tag, order=order)
    if kind == "parquet":
        return FileOutput(folder, parquet.ParquetRows, ending=parquet.ENDING)
    rows = partial(text.TextRows, separator=_separator(config), header=flag_in(config, "header"))
    return FileOutput(folder, rows, ending=text.ENDING)


def _rewritten(kind: str, place: Place, how: How, *, tag: Tag, order: Order) -> Output:
    if kind != "parquet":
        raise OutputFailed("config.write_mode is upsert: text files have no types to know a key by; parquet serves")
    folder = _folder(place, how=replace(how, mode=Mode.REPLACE), tag=tag, order=order)
    return RewrittenParquet(folder, how=how)


def _folder(place: Place, *, how: How, tag: Tag, order: Order) -> Folder:
    match place.scheme:
        case Scheme.HDFS:
            return hdfs_folder(place, how=how, tag=tag, allows_private=order.allows_private)
        case Scheme.FILE:
            return local_folder(place, how=how, tag=tag, roots=order.roots)
        case Scheme.S3:
            return S3Folder(place, how=how, tag=tag, account=order.s3)


def _table(config: Mapping[str, Any], *, tag: Tag, order: Order) -> Output:
    database, table = text_in(config, "database"), table_in(config)
    how = how_of(config, "append", order)
    return ClickHouseOutput(account=order.clickhouse, database=database, table=table, how=how, tag=tag)


def _check_apart(made: Sequence[Output], places: Sequence[Place]) -> None:
    """Each is put in place by itself: of two in one place, one would be gone."""
    for one, other in combinations(places, 2):
        if one.is_within(other) or other.is_within(one):
            raise OutputFailed(f"two outputs write to one place: {one} and {other}")
    named = [output.where for output in made]
    if twice := next((where for where in named if named.count(where) > 1), None):
        raise OutputFailed(f"two outputs write to one place: {twice}")


def _separator(config: Mapping[str, Any]) -> str:
    given = config.get("separator", ",")
    if not isinstance(given, str) or not 0 < len(given) <= _LONGEST_SEPARATOR:
        raise OutputFailed(
            f"config.separator is {given!r}: give 1 to {_LONGEST_SEPARATOR} characters, such as , or \\t"
        )
    separator = given.replace("\\t", "\t")  # as Spark's option has it
    if any(letter in separator for letter in '"\\\r\n'):
        raise OutputFailed("config.separator may hold neither a quote nor a backslash nor a line break")
    return separator


@contextmanager
def _at(number: int) -> Iterator[None]:
    try:
        yield
    except OutputFailed as failed:
        raise OutputFailed(f"outputs[{number}]: {failed}") from None
