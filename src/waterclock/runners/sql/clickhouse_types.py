"""ClickHouse's types: what a server calls them, read; and what a column of a query becomes in a table that we make."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from waterclock.runners.sql.outputs import OutputFailed

if TYPE_CHECKING:
    import pyarrow as pa

_NAME: Final = re.compile(r"\s*([A-Za-z0-9_]+)\s*")
_WRAPPERS: Final = frozenset({"Nullable", "LowCardinality"})
# Asked of the server: an old one does not know them.
MAYBE_KNOWN: Final = ("Bool", "Date32", "DateTime64")
_MOST_DIGITS: Final = 38  # of a decimal that every server knows


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A type without its wrappers: `Nullable(Decimal(10, 2))` is Decimal with two arguments, nullable."""

    name: str
    arguments: tuple[str, ...] = ()
    nullable: bool = False

    def __str__(self) -> str:
        """As a server reads it, without its wrappers."""
        return f"{self.name}({', '.join(self.arguments)})" if self.arguments else self.name

    @property
    def inner(self) -> "Kind":
        """Of an array."""
        return kind_of(self.arguments[0])


def kind_of(text: str) -> Kind:
    found = _NAME.match(text)
    name = found.group(1) if found else text.strip()
    rest = text[found.end() :].strip() if found else ""
    arguments = _arguments(rest[1:-1]) if rest.startswith("(") and rest.endswith(")") else ()
    if name in _WRAPPERS and arguments:
        held = kind_of(arguments[0])
        return Kind(name=held.name, arguments=held.arguments, nullable=held.nullable or name == "Nullable")
    return Kind(name=name, arguments=arguments)


def made_type(field: "pa.Field", known: frozenset[str]) -> str:
    """For a table that does not exist; `known`: those of MAYBE_KNOWN that the server has.

    Nullable in any case: engines differ in which columns they know to be without NULL, and tables should not.
    """
    import pyarrow.types as types

    kind = field.type
    if types.is_dictionary(kind):
        return made_type(field.with_type(kind.value_type), known)
    if types.is_nested(kind) and not (types.is_struct(kind) or types.is_map(kind) or types.is_union(kind)):
        return f"Array({made_type(kind.value_field, known)})"
    return f"Nullable({_made_name(field.name, kind, known)})"


def _made_name(column: str, kind: "pa.DataType", known: frozenset[str]) -> str:
    import pyarrow.types as types

    if types.is_boolean(kind):
        return "Bool" if "Bool" in known else "UInt8"
    if types.is_integer(kind):
        return f"{'Int' if types.is_signed_integer(kind) else 'UInt'}{kind.bit_width}"
    if types.is_floating(kind):
        return "Float64" if kind.bit_width == 64 else "Float32"
    if types.is_decimal(kind):
        return _made_decimal(column, kind.precision, kind.scale)
    if types.is_date(kind):
        return "Date32" if "Date32" in known else "Date"
    if types.is_timestamp(kind):
        return "DateTime64(6, 'UTC')" if "DateTime64" in known else "DateTime('UTC')"
    if types.is_duration(kind) or types.is_interval(kind):
        raise OutputFailed(f"the column {column!r} is an interval, which ClickHouse has no column for: cast it")
    return "String"  # texts, bytes, times of day; maps and structs as JSON; NULL and nothing else


def _made_decimal(column: str, precision: int, scale: int) -> str:
    if precision > _MOST_DIGITS or scale < 0:
        raise OutputFailed(f"the column {column!r} is a decimal({precision}, {scale}), which is too long: cast it")
    return f"Decimal({precision}, {scale})"


def _arguments(text: str) -> tuple[str, ...]:
    """Split at the commas that stand in no brackets and no quotes."""
    found, depth, quoted, begin = [], 0, False, 0
    for at, letter in enumerate(text):
        if letter == "'" and (at == 0 or text[at - 1] != "\\"):
            quoted = not quoted
        elif not quoted:
            depth += (letter == "(") - (letter == ")")
            if letter == "," and depth == 0:
                found.append(text[begin:at].strip())
                begin = at + 1
    return (*found, text[begin:].strip())
