"""From the seed's list of outputs to what writes them; what is wrong with one is said with its place in the list."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import combinations
from typing import Any, Final

from waterclock.runners.lake.order import Order
from waterclock.runners.s3_connection import S3Connection
from waterclock.runners.sql import parquet, text
from waterclock.runners.sql.clickhouse import ClickHouseOutput
from waterclock.runners.sql.files import FileOutput
from waterclock.runners.sql.folder import Folder, Mode
from waterclock.runners.sql.hdfs import hdfs_folder
from waterclock.runners.sql.local import local_folder
from waterclock.runners.sql.outputs import Output, OutputFailed, Tag
from waterclock.runners.sql.places import Place, Scheme, place_of
from waterclock.runners.sql.s3 import S3Folder

_FILES: Final = "hadoop_config"
_TABLE: Final = "clickhouse_config"
_CONFIGS: Final = {"text_file": _FILES, "parquet": _FILES, "datainsider": _TABLE}
_MODES: Final = {"append": Mode.APPEND, "replace": Mode.REPLACE, "overwrite": Mode.REPLACE}
_LIBRARIES: Final = ("pyarrow.compute", "pyarrow.parquet", "hdfs_native", "httpx")
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
    if kind == "jdbc":
        raise OutputFailed("outputs of the type 'jdbc' are not served yet")
    if not isinstance(kind, str) or kind not in _CONFIGS:
        raise OutputFailed(f"type {kind!r} is not known: text_file, parquet and datainsider are")
    if not isinstance(config, Mapping):
        raise OutputFailed(f"config is missing: give one of the class {_CONFIGS[kind]}")
    if config.get("class_name", _CONFIGS[kind]) != _CONFIGS[kind]:
        raise OutputFailed(f"config.class_name is {config['class_name']!r}: {kind} needs {_CONFIGS[kind]}")
    if kind == "datainsider":
        return _table(config, tag=tag, order=order)
    place = place_of(_text(config, "hdfs_uri"), _text(config, "result_path"))
    places.append(place)
    folder = _folder(place, mode=_mode(config, "replace"), tag=tag, order=order)
    if kind == "parquet":
        return FileOutput(folder, parquet.ParquetRows, ending=parquet.ENDING)
    rows = partial(text.TextRows, separator=_separator(config), header=_flag(config, "header"))
    return FileOutput(folder, rows, ending=text.ENDING)


def _folder(place: Place, *, mode: Mode, tag: Tag, order: Order) -> Folder:
    match place.scheme:
        case Scheme.HDFS:
            return hdfs_folder(place, mode=mode, tag=tag, allows_private=order.allows_private)
        case Scheme.FILE:
            return local_folder(place, mode=mode, tag=tag, roots=order.roots)
        case Scheme.S3:
            return S3Folder(place, mode=mode, tag=tag, account=order.s3)


def _table(config: Mapping[str, Any], *, tag: Tag, order: Order) -> Output:
    database, table = _text(config, "database"), _text(config, "table_name")
    if table.startswith(".waterclock-"):
        raise OutputFailed("config.table_name begins with .waterclock-, which is kept for tables that are being loaded")
    mode = _mode(config, "append")
    return ClickHouseOutput(account=order.clickhouse, database=database, table=table, mode=mode, tag=tag)


def _check_apart(made: Sequence[Output], places: Sequence[Place]) -> None:
    """Each is put in place by itself: of two in one place, one would be gone."""
    for one, other in combinations(places, 2):
        if one.is_within(other) or other.is_within(one):
            raise OutputFailed(f"two outputs write to one place: {one} and {other}")
    named = [output.where for output in made]
    if twice := next((where for where in named if named.count(where) > 1), None):
        raise OutputFailed(f"two outputs write to one place: {twice}")


def _mode(config: Mapping[str, Any], usual: str) -> Mode:
    given = config.get("write_mode", usual)
    if not isinstance(given, str) or given.lower() not in _MODES:
        raise OutputFailed(f"config.write_mode is {given!r}: append and replace are known")
    return _MODES[given.lower()]


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


def _flag(config: Mapping[str, Any], name: str) -> bool:
    given = config.get(name, False)
    if not isinstance(given, bool):
        raise OutputFailed(f"config.{name} is {given!r}: give true or false")
    return given


def _text(config: Mapping[str, Any], name: str) -> str:
    given = config.get(name)
    if not isinstance(given, str) or not given.strip():
        raise OutputFailed(f"config.{name} is missing or empty")
    if "\0" in given:
        raise OutputFailed(f"config.{name} holds a NUL character")
    return given


@contextmanager
def _at(number: int) -> Iterator[None]:
    try:
        yield
    except OutputFailed as failed:
        raise OutputFailed(f"outputs[{number}]: {failed}") from None
