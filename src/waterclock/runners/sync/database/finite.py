"""Moments and days that have no end: PostgreSQL has them, and what is made of them elsewhere is the year 294247."""

from typing import TYPE_CHECKING

from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import pyarrow as pa


def check_finite(batch: "pa.RecordBatch", where: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_timestamp(column.type):
            numbers, most = column.view(pa.int64()), 2**63 - 1
        elif pa.types.is_date32(column.type):
            numbers, most = column.view(pa.int32()), 2**31 - 1
        else:
            continue
        ends = pc.min_max(numbers)
        if ends["max"].as_py() == most or ends["min"].as_py() == -most:
            raise SourceFailed(
                f"{where}: {name} holds infinity, which no destination knows: read it by a query that makes another "
                f"value of it, such as nullif({name}, 'infinity')"
            )
