"""What type a column is: guessed from texts, brought together from several files, or as the job says."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from waterclock.runners.sync.formats.options import Options, type_named
from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import pyarrow as pa

_DAY: Final = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_TIME: Final = r"[ T](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?"
_ZONE: Final = r"(?:Z|[+-]\d{2}:?\d{2})"
# From narrow to wide. What begins with a zero that means nothing is no number, and neither is one of 20 digits: they
# are names that are made of digits, and would come out as others.
_SHAPES: Final = (
    ("int", r"-?(?:0|[1-9]\d{0,17})"),
    ("double", r"-?(?:(?:0|[1-9]\d{0,17})(?:\.\d+)?(?:[eE][+-]?\d{1,3})?|\.\d+)|[nN]a[nN]|-?inf"),
    ("bool", r"(?i:true|false)"),
    ("date", _DAY),
    ("timestamp", f"{_DAY}(?:{_TIME})?"),
    ("timestamp_utc", f"{_DAY}{_TIME}{_ZONE}"),
)
_PATTERNS: Final = tuple((name, re.compile(shape, re.ASCII)) for name, shape in _SHAPES)


def type_of_texts(values: Iterable[str]) -> "pa.DataType":
    """The narrowest that all fit; of none, null."""
    import pyarrow as pa

    fitting, is_empty = list(_PATTERNS), True
    for value in values:
        is_empty = False
        fitting = [(name, pattern) for name, pattern in fitting if pattern.fullmatch(value.strip())]
    if is_empty:
        return pa.null()
    return type_named(fitting[0][0] if fitting else "text", "")


def together(schemas: Sequence[tuple[str, "pa.Schema"]], *, has_types: bool) -> "pa.Schema":
    """By name, in the order in which they come: `(file, its columns)`.

    int and double are double, date and timestamp are timestamp. What else disagrees is text, where the files hold
    nothing but text; where values have types it is refused.
    """
    import pyarrow as pa

    found: dict[str, tuple[str, pa.DataType]] = {}
    for name, schema in schemas:
        for field in schema:
            before = found.get(field.name, (name, pa.null()))
            found[field.name] = (name, _wider(field.name, before, (name, field.type), has_types=has_types))
    return pa.schema([(column, kind) for column, (_, kind) in found.items()])


def wanted_of(schema: "pa.Schema", options: Options) -> "pa.Schema":
    """Of one file: what the job asks for, typed where it says so: no other file can disagree with that."""
    import pyarrow as pa

    columns = [field for field in schema if options.only is None or field.name in options.only]
    types = {name: type_named(kind, name) for name, kind in options.types.items()}
    return pa.schema([(field.name, types.get(field.name, field.type)) for field in columns])


def settled(schema: "pa.Schema", options: Options) -> "pa.Schema":
    """As the job wants it; what was always empty is text."""
    import pyarrow as pa

    named = {field.name: field.type for field in schema}
    types = {name: type_named(kind, name) for name, kind in options.types.items()}
    if options.only is not None and (missing := [name for name in options.only if name not in named]):
        raise SourceFailed(f"options.columns: no file has {missing[0]!r}; there are {', '.join(named)}")
    columns = options.only if options.only is not None else (*named, *(name for name in types if name not in named))
    chosen = [(name, types.get(name, named.get(name, pa.null()))) for name in columns]
    return pa.schema([(name, pa.string() if pa.types.is_null(kind) else kind) for name, kind in chosen])


def check_names(names: Sequence[str], file: str) -> list[str]:
    """Of a header: what has no name is called by its place."""
    named = [name.strip() or f"column_{number}" for number, name in enumerate(names, 1)]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise SourceFailed(
            f"{file}, line 1: the column {twice!r} is there twice: options.header: false names them anew"
        )
    return named


def _wider(
    column: str, one: tuple[str, "pa.DataType"], other: tuple[str, "pa.DataType"], *, has_types: bool
) -> "pa.DataType":
    import pyarrow as pa

    kinds = {one[1], other[1]}
    if kinds == {pa.date32(), pa.timestamp("us")}:
        return pa.timestamp("us")
    try:
        both = [pa.schema([("_", kind)]) for kind in (one[1], other[1])]
        return pa.unify_schemas(both, promote_options="permissive").field(0).type
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        if not has_types:
            return pa.string()
        raise SourceFailed(
            f"the column {column!r} is {one[1]} in {one[0]} and {other[1]} in {other[0]}: "
            f'sync them apart, or read it as text (options.columns: {{"{column}": "text"}})'
        ) from None
