"""Rows as lines of text, as Spark's CSV writer makes them.

- The separator is `,` unless another is given; lines end with a line feed; the text is UTF-8.
- A value that holds the separator, a quote or a line break is quoted: `"a,b"`; inside, a quote is `\\"` and a backslash
  is two. Other values stand as they are. NULL is nothing at all, and an empty text is `""`.
- `true`, `42`, `1.0`, `1.0E7`, `NaN`, `12.50` (a decimal with all its places), `2026-11-16`, `[61 62]` (bytes),
  `2026-11-16T09:30:00.000Z` (in the session's time zone; without a zone for TIMESTAMP_NTZ).
- Spark refuses arrays, maps, structs and columns without a type in CSV. Here the former are JSON, as its to_json makes
  it, and the latter are NULL.
- Spark takes spaces off both ends of a value, cuts a second's digits after the third, and leaves out a row whose only
  column is NULL. Here all of it is kept; such a row is an empty line.
"""

import re
from typing import TYPE_CHECKING, Final

from waterclock.runners.sql.folder import Sink
from waterclock.runners.sql.json_text import json_texts
from waterclock.runners.sql.lines import joined, line_bytes, plain
from waterclock.runners.sql.numbers import java_number
from waterclock.runners.sql.outputs import OutputFailed

if TYPE_CHECKING:
    import pyarrow as pa

ENDING: Final = "csv"
_ROWS: Final = 64 * 1024  # at a time
_UTC: Final = frozenset({"UTC", "Etc/UTC", "Z", "GMT", "+00:00"})
_ZONE: Final = r"([+-][0-9]{2})([0-9]{2})$"


class TextRows:
    def __init__(self, sink: Sink, schema: "pa.Schema", *, separator: str = ",", header: bool = False) -> None:
        import pyarrow as pa

        self._sink, self._separator = sink, separator
        if header:
            names = [pa.array([name], pa.large_string()) for name in schema.names]
            self._write(names)

    def write(self, batch: "pa.RecordBatch") -> None:
        for first in range(0, batch.num_rows, _ROWS):
            rows = batch.slice(first, _ROWS)
            texts = [spark_text(column, field.name) for column, field in zip(rows.columns, rows.schema, strict=True)]
            self._write(texts)

    def finish(self) -> None: ...

    def _write(self, texts: "list[pa.Array]") -> None:
        self._sink.write(line_bytes([_quoted(each, self._separator) for each in texts], self._separator))


def spark_text(column: "pa.Array", name: str) -> "pa.Array":
    """A column of texts, NULL where it had NULL."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    column = plain(column)
    kind = column.type
    if types.is_nested(kind):
        return pa.array(json_texts(column), pa.large_string())
    if types.is_floating(kind):
        return _floats(column)
    if types.is_large_binary(kind):
        values = column.to_pylist()
        return pa.array([None if each is None else f"[{each.hex(' ').upper()}]" for each in values], pa.large_string())
    if types.is_timestamp(kind):
        return _moments(column)
    if types.is_duration(kind) or types.is_interval(kind):
        raise OutputFailed(f"the column {name!r} is an interval, which text has no form for: cast it to a string")
    try:
        return pc.cast(column, pa.large_string())
    except pa.ArrowNotImplementedError:
        raise OutputFailed(f"the column {name!r} is of the type {kind}, which text has no form for: cast it") from None


def _floats(column: "pa.Array") -> "pa.Array":
    """Most need no more than a `.0`; the others are worded one by one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.cast(column, pa.large_string())
    size = pc.abs(column)
    is_plain = pc.or_(pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7)), pc.equal(size, 0.0))
    texts = pc.if_else(pc.match_substring(texts, "."), texts, joined([texts, ".0"]))
    if pc.all(is_plain).as_py() is not False:
        return texts
    worded = [java_number(text) for text in pc.cast(column.filter(pc.invert(is_plain)), pa.large_string()).to_pylist()]
    return pc.replace_with_mask(texts, pc.invert(pc.fill_null(is_plain, True)), pa.array(worded, pa.large_string()))


def _moments(column: "pa.Array") -> "pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    zone = column.type.tz
    is_utc = zone in _UTC  # there need be no table of zones for it
    on_the_wall = column.cast(pa.timestamp(column.type.unit)) if zone is None or is_utc else pc.local_timestamp(column)
    texts = on_the_wall.cast(pa.timestamp("us"), safe=False).cast(pa.large_string())
    texts = pc.replace_substring(texts, " ", "T")
    texts = pc.if_else(pc.ends_with(texts, "000"), pc.utf8_slice_codeunits(texts, 0, -3), texts)
    if zone is None:
        return texts
    if is_utc:
        return joined([texts, "Z"])
    offsets = pc.strftime(column, format="%z").cast(pa.large_string())
    return joined([texts, pc.replace_substring_regex(offsets, _ZONE, r"\1:\2")])


def _quoted(texts: "pa.Array", separator: str) -> "pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    needs = pc.match_substring_regex(texts, f'{re.escape(separator)}|["\\r\\n]')
    if pc.any(needs).as_py():
        escaped = pc.replace_substring(pc.replace_substring(texts, "\\", "\\\\"), '"', '\\"')
        texts = pc.if_else(needs, joined(['"', escaped, '"']), texts)
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar('""', pa.large_string()), texts)
    return pc.fill_null(texts, "")
