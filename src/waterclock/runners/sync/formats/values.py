"""Rows of Python values into batches: JSON lines, and the cells of a workbook or a sheet."""

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

import orjson

from waterclock.runners.sync.formats.bisecting import Unreadable, readable
from waterclock.runners.sync.formats.format import BadLines

if TYPE_CHECKING:
    import pyarrow as pa

ROWS: Final = 10_000  # at a time
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_LONGEST: Final = 120


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    values: Sequence[object]  # in the order of the schema


def type_of_value(value: object) -> "pa.DataType":
    import pyarrow as pa

    match value:
        case None:
            return pa.null()
        case bool():
            return pa.bool_()
        case int() if _SMALLEST <= value <= _LARGEST:
            return pa.int64()
        case float():
            return pa.float64()
        case datetime.datetime():
            return pa.timestamp("us")
        case datetime.date():
            return pa.date32()
        case _:
            return pa.string()


def batches_of(rows: Iterable[Row], schema: "pa.Schema", *, name: str, bad: BadLines) -> Iterator["pa.RecordBatch"]:
    left = iter(rows)
    while some := list(islice(left, ROWS)):
        parse = partial(_parsed, schema=schema)
        if (batch := readable(some, parse, partial(_refuse, name=name, bad=bad))) is not None:
            yield batch


def _parsed(rows: Sequence[Row], *, schema: "pa.Schema") -> "pa.RecordBatch":
    import pyarrow as pa

    columns = zip(*(row.values for row in rows), strict=True) if len(schema) else ()
    arrays = [_array(list(values), field) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(values: list[object], field: "pa.Field") -> "pa.Array":
    import pyarrow as pa

    kind = field.type
    try:
        if pa.types.is_string(kind):
            return pa.array([each if each is None else text_of(each) for each in values], kind)
        if pa.types.is_decimal(kind) or (pa.types.is_temporal(kind) and any(isinstance(each, str) for each in values)):
            return pa.array([each if each is None else text_of(each) for each in values], pa.string()).cast(kind)
        if pa.types.is_boolean(kind) or not any(isinstance(each, bool) for each in values):
            return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeEncodeError):
        pass
    shown = repr(next((each for each in values if each is not None), None))[:_LONGEST]
    raise Unreadable(f"column {field.name}: not {kind}: invalid value {shown}")


def text_of(value: object) -> str:
    """As JSON has it, where it is no text."""
    match value:
        case str():
            return value
        case bool() | dict() | list():
            return orjson.dumps(value).decode()
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case _:
            return str(value)


def _refuse(row: Row, reason: str, *, name: str, bad: BadLines) -> None:
    bad.add(name, row.line, reason)
