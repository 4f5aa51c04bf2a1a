"""A column on its way: how its database is asked for it, and what its values are made into."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class Scale(StrEnum):
    """What values of a column are compared as; kept with a watermark, so that none is compared as something else."""

    NUMBER = "number"
    MOMENT = "timestamp"
    DAY = "date"
    TEXT = "text"
    NONE = ""  # no watermark


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """`read` is said to its database, with the column's name in the place of {}."""

    name: str
    kind: str  # DuckDB's name for its type
    read: str = "{}"
    scale: Scale = Scale.NONE
    has_zone: bool = False  # its moments are in UTC, whatever they come as
    decimal: tuple[int, int] | None = None  # what its texts are made into


def typed(schema: "pa.Schema", columns: Sequence[Column]) -> "pa.Schema":
    """As rows come, and then as they are to be."""
    import pyarrow as pa

    for at, column in enumerate(columns):
        if column.decimal:
            schema = schema.set(at, schema.field(at).with_type(pa.decimal128(*column.decimal)))
        elif column.has_zone:
            schema = schema.set(at, schema.field(at).with_type(pa.timestamp("us", "UTC")))
    return schema


def scale_of(kind: str) -> Scale:
    """By DuckDB's name for a type."""
    if kind.startswith("DECIMAL(") and not kind.endswith("]"):
        return Scale.NUMBER
    return _SCALES.get(kind, Scale.NONE)


_SCALES = {
    **dict.fromkeys(
        (
            *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"),
            *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
        ),
        Scale.NUMBER,
    ),
    "TIMESTAMP": Scale.MOMENT,
    "TIMESTAMP WITH TIME ZONE": Scale.MOMENT,
    "DATE": Scale.DAY,
    "VARCHAR": Scale.TEXT,
    "UUID": Scale.TEXT,
}
