"""What becomes of a table in ClickHouse when rows come whose columns are not its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from waterclock.runners.sql.clickhouse_columns import Column
from waterclock.runners.sql.clickhouse_types import Kind, kind_of, made_type
from waterclock.runners.sql.evolving import TableColumn, planned
from waterclock.runners.sql.shapes import Family, Shape

if TYPE_CHECKING:
    import pyarrow as pa

_BITS: Final = (8, 16, 32, 64)
_SHAPES: Final = {
    **{f"Int{bits}": Shape(Family.INT, bits) for bits in _BITS},
    **{f"UInt{bits}": Shape(Family.UINT, bits) for bits in _BITS},
    **{f"Float{bits}": Shape(Family.FLOAT, bits) for bits in (32, 64)},
    **dict.fromkeys(("Date", "Date32"), Shape(Family.DATE)),
    **dict.fromkeys(("DateTime", "DateTime64"), Shape(Family.MOMENT)),
    "Bool": Shape(Family.BOOL),
    "String": Shape(Family.ANY),  # of bytes, whatever they are
    "Array": Shape(Family.JSON),
}
_NAMES: Final = {shape: name for name, shape in _SHAPES.items() if shape.size}
_SCALED: Final = {"Decimal32": 9, "Decimal64": 18, "Decimal128": 38}


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """`columns`: those of the rows, in their order; `statements`: what an ALTER TABLE says, one at a time."""

    columns: tuple[Column, ...] = ()
    statements: tuple[str, ...] = ()


def evolved(schema: "pa.Schema", there: Sequence[Column], known: frozenset[str], where: str) -> Changes:
    before = {column.name: column for column in there}

    def type_of(name: str, shape: Shape) -> str:
        if name not in before:
            return made_type(schema.field(name), known)
        kind = before[name].kind
        return f"Nullable({_name_of(shape)})" if kind.nullable else _name_of(shape)

    plan = planned(schema, [_described(column) for column in there], type_of, where=where)
    added = [f"ADD COLUMN {_as_column(column)}" for column in plan.added]
    wider = [f"MODIFY COLUMN {_as_column(column)}" for column in plan.widened]
    columns = tuple(_as_column(column, before.get(column.name)) for column in plan.columns)
    return Changes(columns=columns, statements=(*added, *wider))


def shape_named(kind: Kind) -> Shape:
    if kind.name.startswith("Decimal"):
        digits, scale = (_SCALED.get(kind.name, 38), *map(int, kind.arguments))[-2:]
        return Shape(Family.DECIMAL, digits, scale)
    return _SHAPES.get(kind.name, Shape(Family.OTHER))


def _described(column: Column) -> TableColumn:
    return TableColumn(
        name=column.name,
        type=column.type,
        shape=shape_named(kind_of(column.type)),
        needs_value=column.needs_value,
        is_made=column.is_made,
    )


def _as_column(column: TableColumn, before: Column | None = None) -> Column:
    return Column(name=column.name, type=column.type, default=before.default if before else "")


def _name_of(shape: Shape) -> str:
    return f"Decimal({shape.size}, {shape.scale})" if shape.family is Family.DECIMAL else _NAMES[shape]
