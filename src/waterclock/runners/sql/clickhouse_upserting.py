"""What an upsert into ClickHouse says to the server: which rows are last of their key, and which old ones stay."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from waterclock.runners.sql.clickhouse_columns import Column
from waterclock.runners.sql.clickhouse_server import identifier

if TYPE_CHECKING:
    import pyarrow as pa

ROW: Final = Column(name=".waterclock-row", type="UInt64")  # in what order the rows came


def numbered(batch: "pa.RecordBatch", first: int) -> "pa.RecordBatch":
    import pyarrow as pa

    numbers = pa.array(range(first, first + batch.num_rows), pa.uint64())
    return batch.append_column(ROW.name, numbers)


def without_keys(keys: Sequence[Column], new: str) -> str:
    """The rows whose key is not among the new ones; one that holds NULL is none, and stays.

    All in the type that the column is to have: an old server compares nothing else.
    """
    known = ", ".join(f"CAST(assumeNotNull({identifier(column.name)}) AS {column.kind})" for column in keys)
    empty = [f"isNull({identifier(column.name)})" for column in keys]
    return f"{' OR '.join(empty)} OR ({known}) NOT IN (SELECT {known} FROM {new})"  # noqa: S608
