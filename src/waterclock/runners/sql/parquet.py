"""Rows as Parquet: snappy, as Spark writes it, in row groups that are worth reading at once."""

from typing import TYPE_CHECKING, Final

from waterclock.runners.sql.folder import Sink
from waterclock.runners.sql.outputs import OutputFailed

if TYPE_CHECKING:
    import pyarrow as pa

ENDING: Final = "parquet"
_GROUP_BYTES: Final = 64 * 1024 * 1024
_GROUP_ROWS: Final = 1_000_000


class ParquetRows:
    """An engine's batches are small: they are gathered until they make a row group."""

    def __init__(self, sink: Sink, schema: "pa.Schema") -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = schema.names
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise OutputFailed(f"Parquet needs a name of its own for each column, and these are there twice: {twice}")
        # A column of nothing but NULL has no type, and most readers refuse it; and any may hold NULL, as Spark has it.
        fields = [each.with_type(pa.string()) if pa.types.is_null(each.type) else each for each in schema]
        self._schema = pa.schema([each.with_nullable(True) for each in fields])
        self._file = pa.PythonFile(_Written(sink), mode="w")
        try:
            self._writer = pq.ParquetWriter(self._file, self._schema, compression="snappy")
        except pa.ArrowException as problem:
            raise OutputFailed(f"Parquet cannot hold these columns: {problem}") from None
        self._gathered: list[pa.RecordBatch] = []
        self._bytes = self._rows = 0

    def write(self, batch: "pa.RecordBatch") -> None:
        self._gathered.append(batch)
        self._bytes += batch.nbytes
        self._rows += batch.num_rows
        if self._bytes >= _GROUP_BYTES or self._rows >= _GROUP_ROWS:
            self._write_group()

    def finish(self) -> None:
        self._write_group()
        self._writer.close()
        self._file.flush()

    def _write_group(self) -> None:
        import pyarrow as pa

        gathered, self._gathered, self._bytes, self._rows = self._gathered, [], 0, 0
        if gathered:
            table = pa.Table.from_batches(gathered)
            self._writer.write_table(table.cast(self._schema), row_group_size=table.num_rows or None)


class _Written:
    """What pyarrow asks of a file that it writes to."""

    closed = False

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def write(self, data: bytes) -> int:
        self._sink.write(bytes(data))
        return len(data)

    def flush(self) -> None: ...

    def close(self) -> None: ...
