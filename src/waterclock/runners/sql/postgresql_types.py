"""PostgreSQL's types: which shape each has, and what a shape is called in a table that we make."""

import re
from typing import Final

from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.shapes import Family, Shape

_SHAPES: Final = {
    "boolean": Shape(Family.BOOL),
    "smallint": Shape(Family.INT, 16),
    "integer": Shape(Family.INT, 32),
    "bigint": Shape(Family.INT, 64),
    "real": Shape(Family.FLOAT, 32),
    "double precision": Shape(Family.FLOAT, 64),
    "text": Shape(Family.TEXT),
    "bytea": Shape(Family.BYTES),
    "date": Shape(Family.DATE),
    "json": Shape(Family.JSON),
    "jsonb": Shape(Family.JSON),
}
_SIZED: Final = re.compile(r"(numeric|character varying|character)(?:\((\d+)(?:,(-?\d+))?\))?")
_INTEGERS: Final = {8: "smallint", 16: "smallint", 32: "integer", 64: "bigint"}
_UNSIGNED: Final = {8: "smallint", 16: "integer", 32: "bigint", 64: "numeric(20,0)"}  # it has no types for them
_PLAIN: Final = {
    Family.BOOL: "boolean",
    Family.BYTES: "bytea",
    Family.DATE: "date",
    Family.TIME: "time without time zone",
    Family.JSON: "jsonb",
    Family.NOTHING: "text",
}


def shape_named(kind: str) -> Shape:
    """`kind`: as format_type() words it."""
    if kind in _SHAPES:
        return _SHAPES[kind]
    if kind.startswith("timestamp"):
        return Shape(Family.MOMENT, has_zone=kind.endswith("with time zone"))
    if kind.startswith("time") and kind.endswith("without time zone"):
        return Shape(Family.TIME)
    if found := _SIZED.fullmatch(kind):
        name, size, scale = found.groups()
        family = Family.DECIMAL if name == "numeric" else Family.TEXT
        return Shape(family, int(size) if size else None, int(scale or 0))
    return Shape(Family.OTHER)


def type_named(name: str, shape: Shape) -> str:
    match shape.family:
        case Family.INT:
            return _INTEGERS[shape.size or 64]
        case Family.UINT:
            return _UNSIGNED[shape.size or 64]
        case Family.FLOAT:
            return "real" if shape.size == 32 else "double precision"
        case Family.DECIMAL:
            return "numeric" if shape.size is None else f"numeric({shape.size},{shape.scale})"
        case Family.TEXT:
            return "text" if shape.size is None else f"character varying({shape.size})"
        case Family.MOMENT:
            return f"timestamp {'with' if shape.has_zone else 'without'} time zone"
    if shape.family not in _PLAIN:
        raise OutputFailed(f"the column {name!r} is of a type that PostgreSQL has no column for: cast it")
    return _PLAIN[shape.family]
