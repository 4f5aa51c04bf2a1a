"""CSV: read by pyarrow a block at a time; a line that it refuses is found and named.

Nothing between two separators is NULL, `""` an empty text (and NULL in a column that is not text). Empty lines are
nothing.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from waterclock.runners.sync.formats.bisecting import Unreadable, readable
from waterclock.runners.sync.formats.columns import check_names, type_of_texts
from waterclock.runners.sync.formats.format import LOOKED_AT_ROWS, BadLines, File
from waterclock.runners.sync.formats.gzip import unpacked
from waterclock.runners.sync.formats.options import Options
from waterclock.runners.sync.formats.records import Block, Dialect, blocks
from waterclock.runners.sync.places.place import CHUNK_BYTES, Stream
from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import pyarrow as pa

_LOOKED_AT_BYTES: Final = 1024 * 1024
_BOM: Final = codecs.BOM_UTF8
_WIDTH: Final = re.compile(r"Expected (\d+) columns, got (\d+)")
_VALUE: Final = re.compile(r"In CSV column #(\d+): .*?conversion error to (\S+): (.*)", re.DOTALL)
_CAST: Final = re.compile(r"Failed to parse string: (.*) as a scalar of type (\S+)", re.DOTALL)
_LONGEST: Final = 200


class CsvFormat:
    has_types = False

    def __init__(self, options: Options) -> None:
        self._options = options
        self._dialect = Dialect(separator=options.separator, quote=options.quote, escape=options.escape)

    def look(self, file: File) -> "pa.Schema | None":
        import pyarrow as pa

        first = next(self._blocks(file, size=_LOOKED_AT_BYTES), None)
        if first is None or first.is_open:
            return None
        names, rest = self._head(first, file.name)
        if not names:
            return None
        data = b"".join(each.data for each in islice(self._dialect.split(rest), LOOKED_AT_ROWS))
        texts = self._parsed(data, names, dict.fromkeys(names, pa.binary()), names)
        columns = [
            type_of_texts(value.decode(errors="replace") for value in column.to_pylist() if value is not None)
            for column in texts.columns
        ]
        return pa.schema(list(zip(names, columns, strict=True)))

    def batches(self, file: File, schema: "pa.Schema", bad: BadLines) -> Iterator["pa.RecordBatch"]:
        names: list[str] = []
        for block in self._blocks(file):
            if block.is_open:
                bad.add(file.name, block.line, "a quote is opened, and not closed before the end")
                return
            if not names:
                names, block = self._head(block, file.name)  # noqa: PLW2901
            if block.data and (batch := self._batch(block, names, schema, file.name, bad)) is not None:
                yield batch

    def _blocks(self, file: File, **more: int) -> Iterator[Block]:
        stream = unpacked(file.stream, file.name)
        if self._options.encoding != "utf-8":
            stream = _Decoded(stream, self._options.encoding, file.name)
        return blocks(stream, self._dialect, file.name, **more)

    def _head(self, first: Block, name: str) -> tuple[list[str], Block]:
        """The names of the columns, and what comes after them."""
        first = Block(first.data.removeprefix(_BOM), first.line)
        at = 0
        for line in self._dialect.split(first):
            at += len(line.data)
            if line.data.strip():
                break
        else:
            return [], Block(b"", first.line)
        cells = self._cells(line, name)
        if self._options.header:
            return check_names(cells, name), Block(first.data[at:], line.line + line.lines)
        given = self._options.only or ()
        return [*given[: len(cells)], *(f"column_{number + 1}" for number in range(len(given), len(cells)))], first

    def _cells(self, line: Block, name: str) -> list[str]:
        text = line.data.decode(errors="replace").rstrip("\r\n")
        separator, quote, escape = self._options.separator, self._options.quote, self._options.escape
        rows = io.StringIO(text, newline="")
        try:
            if not quote:
                return next(csv.reader(rows, delimiter=separator, quoting=csv.QUOTE_NONE), [])
            return next(csv.reader(rows, delimiter=separator, quotechar=quote, escapechar=escape or None), [])
        except csv.Error as problem:
            raise SourceFailed(f"{name}, line {line.line}: it is no header: {problem}") from None

    def _batch(
        self, block: Block, names: list[str], schema: "pa.Schema", name: str, bad: BadLines
    ) -> "pa.RecordBatch | None":
        parse = partial(self._typed, names=names, schema=schema)
        try:
            return parse([block])
        except Unreadable:
            refuse = partial(_refuse, name=name, bad=bad)
            return readable(list(self._dialect.split(block)), parse, refuse)

    def _typed(self, records: Sequence[Block], *, names: list[str], schema: "pa.Schema") -> "pa.RecordBatch":
        import pyarrow as pa

        data = b"".join(each.data for each in records)
        types = {field.name: field.type for field in schema}
        quote = self._options.quote.encode()
        has_empty = bool(quote) and quote + quote in data  # perhaps in a column of numbers
        read_as = {name: pa.string() if has_empty else kind for name, kind in types.items()}
        try:
            table = self._parsed(data, names, read_as, schema.names, strictly=True)
            found = [table.column(field.name) for field in schema]
            columns = [_cast(*each) for each in zip(found, schema, strict=True)] if has_empty else found
        except pa.ArrowInvalid as problem:
            raise Unreadable(_reason(str(problem), names)) from None
        whole = pa.table(columns, schema=schema).combine_chunks().to_batches()
        return whole[0] if whole else pa.RecordBatch.from_pylist([], schema=schema)

    def _parsed(
        self, data: bytes, names: list[str], types: dict[str, Any], wanted: list[str], *, strictly: bool = False
    ) -> "pa.Table":
        """What has another number of columns is left out, unless it is to be an error."""
        import pyarrow as pa
        import pyarrow.csv as pc

        if not data:
            return pa.schema([(name, types[name]) for name in wanted]).empty_table()
        options = self._options
        return pc.read_csv(
            pa.BufferReader(data),
            read_options=pc.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1),
            parse_options=pc.ParseOptions(
                delimiter=options.separator,
                quote_char=options.quote or False,
                escape_char=options.escape or False,
                newlines_in_values=True,
                invalid_row_handler=None if strictly else lambda _: "skip",
            ),
            convert_options=pc.ConvertOptions(
                column_types=types,
                include_columns=wanted,
                include_missing_columns=True,
                null_values=["", *options.nulls],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )


class _Decoded:
    """Another encoding as UTF-8. Bytes that it has no character for are kept, so that their line is refused later."""

    def __init__(self, stream: Stream, encoding: str, name: str) -> None:
        self._stream, self._encoding, self._name = stream, encoding, name
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="surrogateescape")

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        while data := self._stream.read(size):
            if text := self._decoded(data):
                return text
        return self._decoded(b"", final=True)

    def _decoded(self, data: bytes, *, final: bool = False) -> bytes:
        try:
            return self._decoder.decode(data, final).encode(errors="surrogateescape")
        except UnicodeError as problem:
            raise SourceFailed(f"{self._name} cannot be read as {self._encoding}: {problem}") from None

    def file(self) -> BinaryIO | None:
        return None

    def check(self) -> None:
        self._stream.check()

    def close(self) -> None:
        self._stream.close()


def _cast(column: "pa.ChunkedArray", field: "pa.Field") -> "pa.ChunkedArray":
    """From texts, where nothing in quotes is nothing, too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(field.type):
        return column
    trimmed = pc.utf8_trim_whitespace(column)
    try:
        return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed).cast(field.type)
    except pa.ArrowInvalid as problem:
        found = _CAST.search(str(problem))
        what = f"invalid value {found.group(1)}" if found else str(problem)
        raise Unreadable(f"column {field.name}: not {field.type}: {what}"[:_LONGEST]) from None


def _refuse(record: Block, reason: str, *, name: str, bad: BadLines) -> None:
    bad.add(name, record.line, reason)


def _reason(words: str, names: Sequence[str]) -> str:
    if found := _WIDTH.search(words):
        return f"it has {found.group(2)} columns, and {found.group(1)} are expected"
    if found := _VALUE.search(words):
        column, kind, what = names[int(found.group(1))], found.group(2), found.group(3)
        return f"column {column}: not {kind}: {what}"[:_LONGEST]
    return words.partition("\n")[0][:_LONGEST]
