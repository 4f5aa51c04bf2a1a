"""Rows on their way from DuckDB: in batches of so many, or fewer where rows are wide."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from waterclock.runners.sync.database.finite import check_finite
from waterclock.runners.sync.database.line import Line

if TYPE_CHECKING:
    import pyarrow as pa

READ_ROWS: Final = 4_096  # at a time, of which batches are made
BATCH_BYTES: Final = 32 * 1024 * 1024


class DuckRows:
    """What was not read to its end is cancelled by `close`: else all that is to come would have to be waited for."""

    def __init__(
        self,
        line: Line,
        reader: "pa.RecordBatchReader",
        *,
        schema: "pa.Schema",
        batch_rows: int,
        total: int | None,
        bookmark: Mapping[str, Any] | None,
    ) -> None:
        self._line, self._reader = line, reader
        self._batch_rows, self._total, self._bookmark = batch_rows, total, bookmark
        self._schema = schema
        self._is_read = self._is_closed = False

    @property
    def schema(self) -> "pa.Schema":
        return self._schema

    @property
    def total(self) -> int | None:
        """An estimate of the database's own."""
        return self._total

    def batches(self) -> Iterator["pa.RecordBatch"]:
        try:
            yield from gathered(self._read(), self._batch_rows)
            self._is_read = True
        finally:
            self.close()

    def bookmark(self) -> Mapping[str, Any] | None:
        return self._bookmark if self._is_read else None

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if not self._is_read and self._line.cancel:
            self._line.cancel()
        del self._reader
        self._line.close()

    def _read(self) -> Iterator["pa.RecordBatch"]:
        with self._line.reading():
            for batch in self._reader:
                check_finite(batch, self._line.where)
                yield batch if batch.schema == self._schema else batch.cast(self._schema)


def gathered(batches: Iterator["pa.RecordBatch"], most_rows: int) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        rows = sum(each.num_rows for each in waiting) + batch.num_rows
        if waiting and (rows > most_rows or sum(each.nbytes for each in waiting) >= BATCH_BYTES):
            yield pa.concat_batches(waiting)
            waiting = []
        waiting.append(batch)
    if waiting:
        yield pa.concat_batches(waiting)
