"""The columns by which an upsert knows a row again: the rows must have them, and a value in each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.words import listed

if TYPE_CHECKING:
    import pyarrow as pa


def check_keys(schema: "pa.Schema", keys: Sequence[str], where: str) -> None:
    if missing := [name for name in keys if name not in schema.names]:
        has = listed(schema.names)
        raise OutputFailed(f"{where}: key_columns names {listed(missing)}, which the rows do not have: they have {has}")


def check_key_values(batch: "pa.RecordBatch", keys: Sequence[str], where: str) -> None:
    """NULL is equal to nothing: such a row would be added again by every run."""
    for name in keys:
        if batch.column(name).null_count:
            raise OutputFailed(f"{where}: the key column {name!r} holds NULL: a row is known again by its key alone")
