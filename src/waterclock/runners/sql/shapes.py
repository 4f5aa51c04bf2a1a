"""What a column can hold, whatever a database calls it; and what it must hold once rows of another shape come."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa


class Family(StrEnum):
    NOTHING = "nothing"  # a column of NULL
    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    FLOAT = "float"
    DECIMAL = "decimal"
    TEXT = "text"
    BYTES = "bytes"
    DATE = "date"
    TIME = "time"
    MOMENT = "moment"
    JSON = "json"  # arrays, maps, structs
    ANY = "any"  # takes whatever is written to it: a text without a length in a database that knows no other
    OTHER = "other"  # uuid, enum, inet …: the database reads it from a text


MOST_DIGITS: Final = 38
_DIGITS: Final = {8: 3, 16: 5, 32: 10, 64: 20}  # of an integer of so many bits, signed or not
_EXACT: Final = {32: 16, 64: 32}  # integers of so many bits have a place of their own in a float of so many


@dataclass(frozen=True, slots=True)
class Shape:
    family: Family
    size: int | None = None  # bits, characters, or digits in all; None: as many as there are
    scale: int = 0  # digits after the point
    has_zone: bool = False  # of moments

    @property
    def whole(self) -> int:
        """Digits before the point."""
        return (self.size or 0) - self.scale


def shape_of(kind: "pa.DataType") -> Shape:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return shape_of(kind.value_type)
    if types.is_integer(kind):
        return Shape(Family.INT if types.is_signed_integer(kind) else Family.UINT, kind.bit_width)
    if types.is_floating(kind):
        return Shape(Family.FLOAT, max(kind.bit_width, 32))
    if types.is_decimal(kind):
        return Shape(Family.DECIMAL, kind.precision, kind.scale)
    if types.is_timestamp(kind):
        return Shape(Family.MOMENT, has_zone=kind.tz is not None)
    return Shape(next((family for family, check in _checks() if check(kind)), Family.OTHER))


def _checks() -> "list[tuple[Family, Callable[[pa.DataType], bool]]]":
    import pyarrow.types as types

    return [
        (Family.NOTHING, types.is_null),
        (Family.BOOL, types.is_boolean),
        (Family.DATE, types.is_date),
        (Family.TIME, types.is_time),
        (Family.JSON, types.is_nested),
        *((Family.TEXT, check) for check in (types.is_string, types.is_large_string, types.is_string_view)),
        *((Family.BYTES, check) for check in (types.is_binary, types.is_large_binary, types.is_binary_view)),
        (Family.BYTES, types.is_fixed_size_binary),
    ]


def widened(there: Shape, given: Shape) -> Shape | None:
    """What the column must be for both; `there` itself where it needs no change, None where only a loss would do."""
    if given.family is Family.NOTHING or there.family is Family.ANY or there == given:
        return there
    match there.family, given.family:
        case Family.TEXT, Family.TEXT:
            return _longer(there, given)
        case (Family.TEXT, Family.BYTES) | (Family.BYTES, _):
            return there if given.family is Family.BYTES and there.family is Family.BYTES else None
        case (Family.TEXT, _) | (Family.OTHER | Family.JSON, Family.TEXT) | (Family.INT | Family.UINT, Family.BOOL):
            return there
        case (Family.MOMENT, Family.MOMENT | Family.DATE) | (Family.JSON, Family.JSON):
            return there
        case (Family.INT | Family.UINT, Family.INT | Family.UINT):
            return _larger(there, given)
        case Family.FLOAT, Family.FLOAT:
            return there if (there.size or 64) >= (given.size or 64) else given
        case Family.FLOAT, Family.INT | Family.UINT:
            return there if (given.size or 64) <= _EXACT[there.size or 64] else None
        case Family.DECIMAL, Family.DECIMAL:
            return _more_digits(there, given)
        case Family.DECIMAL, Family.INT | Family.UINT:
            return _more_digits(there, Shape(Family.DECIMAL, _DIGITS[given.size or 64]))
        case _:
            return there if there.family is given.family else None


def _longer(there: Shape, given: Shape) -> Shape:
    """Rows do not say how long their texts may be, and a value that is too long is refused when it comes."""
    if there.size is None or given.size is None or given.size <= there.size:
        return there
    return replace(there, size=given.size)


def _larger(there: Shape, given: Shape) -> Shape | None:
    """An integer without a sign needs one more bit where there is one."""
    have, need = there.size or 64, given.size or 64
    if there.family is given.family:
        return there if have >= need else given
    if there.family is Family.INT:
        return there if have > need else _signed(need * 2)
    return _signed(max(need, have * 2))


def _signed(bits: int) -> Shape | None:
    return Shape(Family.INT, bits) if bits <= 64 else None


def _more_digits(there: Shape, given: Shape) -> Shape | None:
    if there.size is None:
        return there
    if given.size is None:
        return given
    scale = max(there.scale, given.scale)
    size = max(there.whole, given.whole) + scale
    if (size, scale) == (there.size, there.scale):
        return there
    return Shape(Family.DECIMAL, size, scale) if size <= MOST_DIGITS else None
