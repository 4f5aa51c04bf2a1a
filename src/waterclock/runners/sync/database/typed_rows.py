"""Rows of Python's values as Arrow batches: the first ones say what the columns are, and all others have to fit."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from waterclock.runners.sync.database.rows import gathered
from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import pyarrow as pa

Chunk = Sequence[Sequence[Any]]


class TypedRows:
    total: int | None = None

    def __init__(
        self,
        names: Sequence[str],
        chunks: Iterator[Chunk],
        *,
        where: str,
        batch_rows: int,
        bookmark: Mapping[str, Any] | None,
        close: Callable[[], None],
    ) -> None:
        self._names, self._chunks, self._where = names, chunks, where
        self._batch_rows, self._bookmark, self._close = batch_rows, bookmark, close
        self._first = next(chunks, ())
        self._is_read = False
        self._schema = _schema(names, self._first, where)

    @property
    def schema(self) -> "pa.Schema":
        return self._schema

    def batches(self) -> Iterator["pa.RecordBatch"]:
        try:
            yield from gathered(self._read(), self._batch_rows)
            self._is_read = True
        finally:
            self.close()

    def bookmark(self) -> Mapping[str, Any] | None:
        return self._bookmark if self._is_read else None

    def close(self) -> None:
        self._close()

    def _read(self) -> Iterator["pa.RecordBatch"]:
        if self._first:
            yield self._batch(self._first)
        for chunk in self._chunks:
            yield self._batch(chunk)

    def _batch(self, chunk: Chunk) -> "pa.RecordBatch":
        import pyarrow as pa

        columns = [
            _array(values, field.name, self._where, field.type)
            for values, field in zip(zip(*chunk, strict=True), self._schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _schema(names: Sequence[str], first: Chunk, where: str) -> "pa.Schema":
    import pyarrow as pa

    if twice := next((name for name in names if names.count(name) > 1), None):
        raise SourceFailed(f"{where}: the column {twice!r} is there twice: give each a name of its own with AS")
    columns = list(zip(*first, strict=True)) or [()] * len(names)
    types = [_inferred(values, name, where) for values, name in zip(columns, names, strict=True)]
    return pa.schema(
        [(name, pa.string() if pa.types.is_null(kind) else kind) for name, kind in zip(names, types, strict=True)]
    )


def _inferred(values: Sequence[Any], name: str, where: str) -> "pa.DataType":
    import pyarrow as pa

    try:
        kind = pa.array([plain(value) for value in values]).type
    except (pa.ArrowException, TypeError, OverflowError):
        return pa.string()  # of several types, as SQLite may have them
    if pa.types.is_decimal(kind) and kind.precision <= pa.decimal128(38).precision:
        return pa.decimal128(38, max(kind.scale, 0))  # the next may be longer
    return kind


def _array(values: Sequence[Any], name: str, where: str, kind: "pa.DataType") -> "pa.Array":
    import pyarrow as pa

    as_text = pa.types.is_string(kind)
    try:
        return pa.array([text_of(value) if as_text else plain(value) for value in values], kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
        raise SourceFailed(
            f"{where}: {name} began as {kind}, and then came something else: {problem}. Cast it in a query"
        ) from None


def plain(value: Any) -> Any:
    """As Arrow knows it; moments in UTC."""
    match value:
        case datetime() if value.tzinfo:
            return value.astimezone(UTC)
        case UUID() | timedelta():
            return str(value)
        case dict() | list() | tuple() | set():
            return json.dumps(value, default=str, ensure_ascii=False)
        case memoryview() | bytearray():
            return bytes(value)
    return value


def text_of(value: Any) -> str | None:
    found = plain(value)
    if isinstance(found, bytes):
        return found.hex()
    return found if found is None or isinstance(found, str) else str(found)
