"""A column's values as texts that databases read: made by Arrow, and exact.

A moment is in UTC, without its zone; more than six digits of a second are cut, for no database here has more.
"""

from typing import TYPE_CHECKING, Final

from waterclock.runners.sql.json_text import json_texts
from waterclock.runners.sql.lines import joined, line_bytes, plain
from waterclock.runners.sql.outputs import OutputFailed

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS: Final = 64 * 1024  # at a time
_COPY_NULL: Final = "\\N"
_COPY_ESCAPES: Final = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def texts_of(column: "pa.Array", name: str) -> "pa.Array":
    """Large strings, NULL where it had NULL; bytes are in hexadecimal."""
    import pyarrow as pa
    import pyarrow.types as types

    column = plain(column)
    kind = column.type
    if types.is_nested(kind):
        return pa.array(json_texts(column), pa.large_string())
    if types.is_large_binary(kind):
        return pa.array([None if value is None else value.hex() for value in column.to_pylist()], pa.large_string())
    if types.is_timestamp(kind):
        utc = column.cast(pa.timestamp(kind.unit)) if kind.tz else column
        return utc.cast(pa.timestamp("us"), safe=False).cast(pa.large_string())
    if types.is_time(kind):
        column = column.cast(pa.time64("us"), safe=False)
    try:
        return column.cast(pa.large_string())
    except pa.ArrowNotImplementedError:
        raise OutputFailed(f"the column {name!r} is of the type {kind}, which no table has: cast it") from None


def copy_lines(batch: "pa.RecordBatch") -> list[bytes]:
    """As PostgreSQL's COPY reads them."""
    found = []
    for first in range(0, batch.num_rows, _ROWS):
        rows = batch.slice(first, _ROWS)
        columns = [_copied(values, field.name) for values, field in zip(rows.columns, rows.schema, strict=True)]
        found.append(line_bytes(columns, "\t"))
    return found


def _copied(column: "pa.Array", name: str) -> "pa.Array":
    import pyarrow.compute as pc
    import pyarrow.types as types

    texts, kind = texts_of(column, name), plain(column).type
    if types.is_large_binary(kind):
        texts = joined(["\\\\x", texts])
    elif types.is_timestamp(kind) and kind.tz:
        texts = joined([texts, "+00"])
    elif types.is_nested(kind) or types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        for letter, escape in _COPY_ESCAPES.items():
            if pc.any(pc.match_substring(texts, letter)).as_py():
                texts = pc.replace_substring(texts, letter, escape)
    return pc.fill_null(texts, _COPY_NULL)


def mysql_rows(batch: "pa.RecordBatch") -> "pa.Array":
    """`(1,'a',NULL),` for each row, for a session with NO_BACKSLASH_ESCAPES."""
    columns = [_literals(values, field.name) for values, field in zip(batch.columns, batch.schema, strict=True)]
    return joined(["(", joined(columns, ","), "),"])


def _literals(column: "pa.Array", name: str) -> "pa.Array":
    import pyarrow.compute as pc
    import pyarrow.types as types

    texts, kind = texts_of(column, name), plain(column).type
    if types.is_floating(kind) and pc.any(pc.invert(pc.is_finite(column))).as_py():
        raise OutputFailed(f"the column {name!r} holds NaN or infinity, which MySQL has no value for: make them NULL")
    if types.is_large_binary(kind):
        texts = joined(["X'", texts, "'"])
    elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        if pc.any(pc.match_substring(texts, "'")).as_py():
            texts = pc.replace_substring(texts, "'", "''")
        texts = joined(["'", texts, "'"])
    return pc.fill_null(texts, "NULL")
