"""A query's columns as ClickHouse reads them in TabSeparated, each fitted to the column of the table that it goes to.

The server would wrap a number that is too large and cut what a decimal has too much, without a word: so the fitting is
done here, where a value that does not fit is an error that names its column.
"""

from typing import TYPE_CHECKING, Any, Final

from waterclock.runners.sql.clickhouse_types import Kind
from waterclock.runners.sql.json_text import json_texts
from waterclock.runners.sql.lines import joined, plain
from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.text import spark_text

if TYPE_CHECKING:
    import pyarrow as pa

NULL: Final = "\\N"
_ARROW: Final = {
    **{f"{sign}Int{bits}": f"{sign.lower()}int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("Date", "Date32"), "date32"),
    "Float32": "float32",
    "Float64": "float64",
    "Bool": "bool_",
}
_SCALED: Final = {"Decimal32": 9, "Decimal64": 18, "Decimal128": 38}  # digits of those that name only their scale
_ESCAPES: Final = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"}
_DAYS: Final = {"Date": (0, 49_672), "Date32": (-25_567, 120_529)}  # 1970 to 2105, 1900 to 2299
_SECONDS: Final = {"DateTime": (0, 2**32 - 1), "DateTime64": (-2_208_988_800, 10_413_791_999)}  # the same years


def tab_text(column: "pa.Array", kind: Kind, name: str) -> "pa.Array":
    """A column of large binaries, escaped, with `\\N` for NULL."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count and not kind.nullable:
        raise OutputFailed(f"the column {name!r} holds NULL, which the table's column does not take: coalesce() it")
    try:
        texts = _texts(plain(column), kind, name)
    except pa.ArrowException as problem:
        raise OutputFailed(f"the column {name!r} does not fit into {kind.name}: {problem}") from None
    return pc.fill_null(texts.cast(pa.large_binary()), NULL.encode())


def _texts(column: "pa.Array", kind: Kind, name: str) -> "pa.Array":
    import pyarrow as pa

    if kind.name == "Array":
        return pa.array(_arrays(column, kind, name), pa.large_binary())
    if kind.name in ("DateTime", "DateTime64"):
        return _moments(column, kind, name)
    if kind.name.startswith("Decimal"):
        return _decimals(column, kind)
    if kind.name in _ARROW:
        fitted = column.cast(getattr(pa, _ARROW[kind.name])())
        _check_days(fitted, kind, name)
        return fitted.cast(pa.large_string())
    return _escaped(_strings(column, name))


def _strings(column: "pa.Array", name: str) -> "pa.Array":
    """For String, and for all types that the server reads from a text: UUID, Enum, IPv4, …"""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_large_binary(column.type):
        return column
    if types.is_nested(column.type):
        return pa.array(json_texts(column), pa.large_string())
    return spark_text(column, name)


def _escaped(texts: "pa.Array") -> "pa.Array":
    import pyarrow.compute as pc

    for letter, escape in _ESCAPES.items():
        if pc.any(pc.match_substring(texts, letter)).as_py():
            texts = pc.replace_substring(texts, letter, escape)
    return texts


def _decimals(column: "pa.Array", kind: Kind) -> "pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    digits, scale = (_SCALED.get(kind.name, 38), *map(int, kind.arguments))[-2:]
    fitted = column.cast(pa.decimal128(digits, scale) if digits <= 38 else pa.decimal256(digits, scale))
    texts = fitted.cast(pa.large_string())
    if pc.any(pc.match_substring(texts, "E")).as_py():  # tiny ones; old servers do not read that
        values = fitted.to_pylist()
        texts = pa.array([None if value is None else format(value, "f") for value in values], pa.large_string())
    return texts


def _check_days(column: "pa.Array", kind: Kind, name: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind.name not in _DAYS:
        return
    first, last = _DAYS[kind.name]
    least, most = _bounds(column.cast(pa.int32()))
    if least is not None and (least < first or most > last):
        wrong = pc.min_max(column).as_py()["min" if least < first else "max"]
        raise OutputFailed(f"the column {name!r} holds {wrong}, which {kind.name} cannot hold: cast it to a string")


def _moments(column: "pa.Array", kind: Kind, name: str) -> "pa.Array":
    """An instant as seconds since 1970, where its column has another zone; else as the clock on the wall shows it."""
    import pyarrow as pa
    import pyarrow.types as types

    digits = int(kind.arguments[0]) if kind.name == "DateTime64" else 0
    if not types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us"))
    micros = column.cast(pa.timestamp("us", column.type.tz))
    _check_moments(micros, kind, digits, name)
    if column.type.tz is None or "'UTC'" in kind.arguments:
        return micros.cast(pa.timestamp("us")).cast(pa.timestamp("us" if digits else "s")).cast(pa.large_string())
    return _seconds(micros.cast(pa.int64()), name, with_fraction=digits > 0)


def _check_moments(micros: "pa.Array", kind: Kind, digits: int, name: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = micros.cast(pa.int64())
    least, most = _bounds(numbers)
    if least is None:
        return
    step = 10 ** max(6 - digits, 0)
    if step > 1 and pc.any(pc.not_equal(pc.multiply(pc.divide(numbers, step), step), numbers)).as_py():
        words = "has fractions of a second" if digits == 0 else f"has more than {digits} digits of a second"
        raise OutputFailed(f"the column {name!r} {words}, which {kind.name} would lose: use date_trunc()")
    first, last = _SECONDS[kind.name]
    if not first * 1_000_000 <= least <= most < (last + 1) * 1_000_000:
        years = "1970 or after 2106" if kind.name == "DateTime" else "1900 or after 2299"
        raise OutputFailed(f"the column {name!r} holds a moment before {years}, which {kind.name} cannot hold")


def _seconds(micros: "pa.Array", name: str, *, with_fraction: bool) -> "pa.Array":
    """Ten digits at least: a shorter number could be taken for a year. There is none below zero."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.any(pc.less(micros, 0)).as_py():
        raise OutputFailed(f"the column {name!r} holds a moment before 1970, which only a DateTime64(6, 'UTC') takes")
    seconds = pc.divide(micros, 1_000_000)
    texts = pc.utf8_lpad(seconds.cast(pa.large_string()), 10, "0")
    if not with_fraction:
        return texts
    rest = pc.subtract(micros, pc.multiply(seconds, 1_000_000))
    return joined([texts, pc.utf8_lpad(rest.cast(pa.large_string()), 6, "0")], ".")


def _arrays(column: "pa.Array", kind: Kind, name: str) -> list[bytes | None]:
    """`[1,2,NULL]`, `['a','b']`: the elements as a column of their own, then put together again."""
    import pyarrow as pa
    import pyarrow.types as types

    if not types.is_nested(column.type) or types.is_struct(column.type) or types.is_map(column.type):
        raise OutputFailed(f"the column {name!r} is of the type {column.type}, and its column in the table is an array")
    inner = kind.inner
    flat = pa.concat_arrays([column.flatten()])
    if flat.null_count and not inner.nullable:
        raise OutputFailed(f"the column {name!r} holds arrays with NULL, which its column in the table does not take")
    elements = iter(_elements(_texts(plain(flat), inner, name), inner))
    return [None if each is None else b"[%s]" % b",".join(next(elements) for _ in each) for each in column.to_pylist()]


def _elements(texts: "pa.Array", kind: Kind) -> list[bytes]:
    import pyarrow as pa

    is_number = kind.name in _ARROW and "Date" not in kind.name
    bare = is_number or kind.name == "Array" or kind.name.startswith("Decimal")
    return [_element(text, bare=bare) for text in texts.cast(pa.large_binary()).to_pylist()]


def _element(text: bytes | None, *, bare: bool) -> bytes:
    if text is None:
        return b"NULL"
    if bare:
        return b"-nan" if text == b"nan" else text  # an old server takes the n for a NULL
    return b"'%s'" % text.replace(b"'", b"\\'")


def _bounds(column: "pa.Array") -> Any:
    import pyarrow.compute as pc

    found = pc.min_max(column).as_py()
    return found["min"], found["max"]
