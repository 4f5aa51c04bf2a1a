"""Parquet: columns with types, and no lines that could be bad: a file is read whole or refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from waterclock.runners.sync.formats.format import BadLines, File
from waterclock.runners.sync.formats.options import Options
from waterclock.runners.sync.formats.spooling import at_any_point
from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS: Final = 50_000


class ParquetFormat:
    has_types = True

    def __init__(self, options: Options) -> None:
        self._options = options

    def look(self, file: File) -> "pa.Schema | None":
        import pyarrow as pa

        with _opened(file) as parquet:
            return pa.schema([(field.name, _plain(field.type)) for field in parquet.schema_arrow])

    def batches(self, file: File, schema: "pa.Schema", bad: BadLines) -> Iterator["pa.RecordBatch"]:
        with _opened(file) as parquet:
            there = [name for name in schema.names if name in parquet.schema_arrow.names]
            for batch in parquet.iter_batches(batch_size=_ROWS, columns=there, use_threads=False):
                yield _as(schema, batch, file.name)


@contextmanager
def _opened(file: File) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with at_any_point(file) as data:
        try:
            yield pq.ParquetFile(data)
        except (pa.ArrowException, OSError) as problem:
            words = str(problem).partition("\n")[0]
            raise SourceFailed(f"{file.name} cannot be read as Parquet: {words}") from None


def _as(schema: "pa.Schema", batch: "pa.RecordBatch", name: str) -> "pa.RecordBatch":
    import pyarrow as pa

    def column(field: "pa.Field") -> "pa.Array":
        if field.name not in batch.schema.names:
            return pa.nulls(batch.num_rows, field.type)
        try:
            return batch.column(field.name).cast(field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
            raise SourceFailed(f"{name}: column {field.name}: not {field.type}: {problem}") from None

    return pa.RecordBatch.from_arrays([column(field) for field in schema], schema=schema)


def _plain(kind: "pa.DataType") -> "pa.DataType":
    """Without a dictionary: each file may have its own."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind
