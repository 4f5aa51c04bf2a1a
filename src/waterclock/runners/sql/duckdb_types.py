"""DuckDB's types: which shape each has, and what a shape is called in a table that we make."""

import re
from typing import Final

from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.shapes import Family, Shape

_INTEGERS: Final = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}
_NAMES: Final = {
    **{Shape(Family.INT, bits): name for bits, name in _INTEGERS.items()},
    **{Shape(Family.UINT, bits): f"U{name}" for bits, name in _INTEGERS.items()},
    Shape(Family.BOOL): "BOOLEAN",
    Shape(Family.FLOAT, 32): "FLOAT",
    Shape(Family.FLOAT, 64): "DOUBLE",
    Shape(Family.BYTES): "BLOB",
    Shape(Family.DATE): "DATE",
    Shape(Family.TIME): "TIME",
    Shape(Family.MOMENT): "TIMESTAMP",
    Shape(Family.MOMENT, has_zone=True): "TIMESTAMP WITH TIME ZONE",
    Shape(Family.JSON): "JSON",
    Shape(Family.TEXT): "VARCHAR",
    Shape(Family.NOTHING): "VARCHAR",
}
_SHAPES: Final = {name: shape for shape, name in _NAMES.items()} | {"VARCHAR": Shape(Family.TEXT)}
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),(\d+)\)")


def shape_named(kind: str) -> Shape:
    if found := _DECIMAL.fullmatch(kind):
        digits, scale = map(int, found.groups())
        return Shape(Family.DECIMAL, digits, scale)
    if kind.startswith("TIMESTAMP_"):
        return Shape(Family.MOMENT)
    if kind.endswith("]") or kind.startswith(("STRUCT(", "MAP(")):
        return Shape(Family.JSON)
    return _SHAPES.get(kind, Shape(Family.OTHER))


def type_named(name: str, shape: Shape) -> str:
    if shape.family is Family.DECIMAL:
        return f"DECIMAL({shape.size},{shape.scale})"
    if shape.family is Family.TEXT:
        return "VARCHAR"
    if shape not in _NAMES:
        raise OutputFailed(f"the column {name!r} is of a type that DuckDB has no column for: cast it")
    return _NAMES[shape]
