"""MySQL's and MariaDB's types: which shape each has, and what a shape is called in a table that we make."""

import re
from typing import Final

from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.shapes import Family, Shape

_TYPE: Final = re.compile(r"(\w+)(?:\(([\d,]+)\))?( unsigned)?.*", re.DOTALL)
_INTEGERS: Final = {"tinyint": 8, "smallint": 16, "mediumint": 16, "int": 32, "bigint": 64}
_NAMED: Final = {8: "tinyint", 16: "smallint", 32: "int", 64: "bigint"}
_FAMILIES: Final = {
    **dict.fromkeys(("text", "mediumtext", "longtext"), Family.TEXT),
    **dict.fromkeys(("blob", "mediumblob", "longblob"), Family.BYTES),
    **dict.fromkeys(("binary", "varbinary", "tinyblob"), Family.BYTES),
    **dict.fromkeys(("datetime", "timestamp"), Family.MOMENT),
    "date": Family.DATE,
    "time": Family.TIME,
    "json": Family.JSON,
}
_PLAIN: Final = {
    Family.BOOL: "tinyint(1)",
    Family.BYTES: "longblob",
    Family.DATE: "date",
    Family.TIME: "time(6)",
    Family.MOMENT: "datetime(6)",
    Family.JSON: "json",
    Family.NOTHING: "longtext",
}
_LONGEST: Final = 16_000  # characters of a varchar; then it is a text
_LONGEST_INDEXED: Final = 255
_MOST_DIGITS, _MOST_SCALE = 65, 30


def shape_named(kind: str) -> Shape:
    """`kind`: COLUMN_TYPE of the information schema, `decimal(10,2) unsigned`. A tinyint(1) is a small integer."""
    found = _TYPE.fullmatch(kind)
    name, sizes, unsigned = found.groups() if found else (kind, None, None)
    numbers = [int(number) for number in (sizes or "").split(",") if number]
    if name in _INTEGERS:
        return Shape(Family.UINT if unsigned else Family.INT, _INTEGERS[name])
    if name in ("float", "double"):
        return Shape(Family.FLOAT, 32 if name == "float" else 64)
    if name == "decimal":
        return Shape(Family.DECIMAL, *(numbers or (10, 0)))
    if name in ("char", "varchar"):
        return Shape(Family.TEXT, numbers[0] if numbers else 1)
    if name == "tinytext":
        return Shape(Family.TEXT, 63)  # 255 bytes
    return Shape(_FAMILIES.get(name, Family.OTHER))


def is_long(shape: Shape) -> bool:
    """Longer than an index has room for."""
    return shape.family in (Family.TEXT, Family.BYTES) and (shape.size or _LONGEST) > _LONGEST_INDEXED


def type_named(name: str, shape: Shape) -> str:
    match shape.family:
        case Family.INT:
            return _NAMED[shape.size or 64]
        case Family.UINT:
            return f"{_NAMED[shape.size or 64]} unsigned"
        case Family.FLOAT:
            return "float" if shape.size == 32 else "double"
        case Family.DECIMAL if (shape.size or 0) <= _MOST_DIGITS and 0 <= shape.scale <= _MOST_SCALE:
            return f"decimal({shape.size},{shape.scale})"
        case Family.TEXT:
            return f"varchar({shape.size})" if shape.size and shape.size <= _LONGEST else "longtext"
    if shape.family not in _PLAIN:
        raise OutputFailed(f"the column {name!r} is of a type that MySQL has no column for: cast it")
    return _PLAIN[shape.family]
