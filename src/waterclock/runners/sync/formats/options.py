"""How a job's files are to be read: its `format`, `options` and `on_bad_line`, read or refused by name."""

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from waterclock.runners.sync.service.given import Given
from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import pyarrow as pa

_KNOWN: Final = ("header", "separator", "encoding", "quote", "escape", "nulls", "sheet", "columns")
_DECIMAL: Final = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")
_TYPES: Final = ("text", "int", "double", "bool", "date", "timestamp", "timestamp_utc", "decimal(12,2)")


class FileFormat(StrEnum):
    CSV = "csv"
    JSON = "json"  # a JSON object a line
    PARQUET = "parquet"
    EXCEL = "excel"


_ENDINGS: Final[Mapping[str, FileFormat]] = {
    **dict.fromkeys(("csv", "tsv", "txt"), FileFormat.CSV),
    **dict.fromkeys(("json", "jsonl", "ndjson"), FileFormat.JSON),
    **dict.fromkeys(("parquet", "pq"), FileFormat.PARQUET),
    **dict.fromkeys(("xlsx", "xlsm"), FileFormat.EXCEL),
}
_OTHER_NAMES: Final[Mapping[str, str]] = {"jsonl": "json", "ndjson": "json", "tsv": "csv", "xlsx": "excel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    header: bool = True
    separator: str = ","
    quote: str = '"'
    escape: str = ""
    encoding: str = "utf-8"
    nulls: tuple[str, ...] = ()  # besides nothing at all
    sheet: str | int = 0
    types: Mapping[str, str] = field(default_factory=dict)  # of columns that are not to be guessed
    only: tuple[str, ...] | None = None  # these columns and no others; without a header they are named by it


def format_of(task: Mapping[str, Any], names: Sequence[str]) -> FileFormat:
    """What the job says, or what the names of its files end with."""
    if given := Given(task).text("format", ""):
        return FileFormat(Given({"format": _other(given)}).choice("format", list(FileFormat), ""))
    found = {_ENDINGS.get(_ending(name)): name for name in names}
    if len(found) > 1:
        raise SourceFailed(
            f"the files are of several formats ({', '.join(found.values())}): narrow path, or give format"
        )
    [(format, name)] = found.items()
    if format is None:
        raise SourceFailed(f"what {name} holds cannot be told by its name: give format ({', '.join(FileFormat)})")
    return format


def options_of(task: Mapping[str, Any], names: Sequence[str]) -> Options:
    given = Given(task).inner("options")
    if unknown := [name for name in Given(task).mapping("options") if name not in _KNOWN]:
        raise SourceFailed(f"options.{unknown[0]} is not known: {', '.join(_KNOWN)} are")
    is_tsv = bool(names) and all(_ending(name) == "tsv" for name in names)
    types, only = _columns(given)
    return Options(
        header=given.truth("header", default=True),
        separator=_letter(given, "separator", "\t" if is_tsv else ","),
        quote=_letter(given, "quote", '"', may_be_none=True),
        escape=_letter(given, "escape", "", may_be_none=True),
        encoding=_encoding(given.text("encoding", "utf-8")),
        nulls=given.texts("nulls"),
        sheet=_sheet(given.raw("sheet")),
        types=types,
        only=only,
    )


def skips_bad_lines(task: Mapping[str, Any]) -> bool:
    return Given(task).choice("on_bad_line", ("fail", "skip"), "fail") == "skip"


def type_named(name: str, column: str) -> "pa.DataType":
    import pyarrow as pa

    if (found := _DECIMAL.fullmatch(name)) and int(found[2]) <= int(found[1]) in range(1, 39):
        return pa.decimal128(int(found[1]), int(found[2]))
    known = {
        **dict.fromkeys(("text", "string"), pa.string()),
        **dict.fromkeys(("int", "integer", "int64", "bigint"), pa.int64()),
        **dict.fromkeys(("double", "float", "float64"), pa.float64()),
        **dict.fromkeys(("bool", "boolean"), pa.bool_()),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
        "timestamp_utc": pa.timestamp("us", "UTC"),
    }
    if name not in known:
        raise SourceFailed(f"options.columns: {column!r} is of the type {name!r}: known are {', '.join(_TYPES)}")
    return known[name]


def _columns(given: Given) -> tuple[Mapping[str, str], tuple[str, ...] | None]:
    """`{"id": "int"}`, or a list of names, or of `{name, type}`: a list is all that is read."""
    columns = given.raw("columns")
    if columns is None:
        return {}, None
    if isinstance(columns, Mapping):
        return {name: Given(columns, "options.columns.").text(name) for name in columns}, None
    if not isinstance(columns, list | tuple) or not columns:
        raise SourceFailed("options.columns must be an object of names and types, or a list of names")
    each = [Given({"name": one} if isinstance(one, str) else one, "options.columns.") for one in columns]
    names = tuple(one.text("name") for one in each)
    return {one.text("name"): one.text("type") for one in each if "type" in one}, names


def _letter(given: Given, name: str, usual: str, *, may_be_none: bool = False) -> str:
    value = given.raw(name)
    if value is None or (value == "" and may_be_none):
        return usual if value is None else ""
    letter = value.replace("\\t", "\t") if isinstance(value, str) else value
    if not isinstance(letter, str) or len(letter) != 1 or not letter.isascii() or letter in "\r\n":
        raise SourceFailed(f"options.{name} is {value!r}: give one ASCII character, such as , or \\t")
    return letter


def _encoding(name: str) -> str:
    try:
        codecs.getincrementaldecoder(name)
        "a".encode(name)  # which is refused where it is no encoding of text
        return codecs.lookup(name).name
    except LookupError:
        raise SourceFailed(f"options.encoding {name!r} is not known: utf-8, cp1252, cp949, utf-16 … are") from None


def _sheet(given: Any) -> str | int:
    if given is None:
        return 0
    if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
        raise SourceFailed("options.sheet must be the name of a sheet, or its number, from 0")
    return given


def _ending(name: str) -> str:
    return name.partition("?")[0].lower().removesuffix(".gz").rpartition(".")[2]


def _other(name: str) -> str:
    return _OTHER_NAMES.get(name.lower(), name.lower())
