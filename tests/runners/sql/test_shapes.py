"""What a column must hold once rows of another shape come: itself, something wider, or nothing without a loss."""

import pytest

from waterclock.runners.sql import duckdb_types, mysql_types, postgresql_types
from waterclock.runners.sql.clickhouse_evolving import shape_named
from waterclock.runners.sql.clickhouse_types import kind_of
from waterclock.runners.sql.shapes import Family, Shape, widened

I8, I32, I64 = (Shape(Family.INT, bits) for bits in (8, 32, 64))
U32, U64 = (Shape(Family.UINT, bits) for bits in (32, 64))
F32, F64 = (Shape(Family.FLOAT, bits) for bits in (32, 64))
TEXT, BYTES, DATE, MOMENT, JSON = map(Shape, (Family.TEXT, Family.BYTES, Family.DATE, Family.MOMENT, Family.JSON))
BOOL, OTHER, ANY, NOTHING = map(Shape, (Family.BOOL, Family.OTHER, Family.ANY, Family.NOTHING))


def decimal(size: int | None, scale: int = 0) -> Shape:
    return Shape(Family.DECIMAL, size, scale)


@pytest.mark.parametrize(
    ("there", "given", "becomes"),
    [
        (I32, I64, I64),
        (I64, I8, I64),
        (I32, U32, I64),
        (I64, U64, None),
        (U32, I32, I64),
        (U64, I64, None),
        (I8, BOOL, I8),
        (BOOL, I8, None),
        (I32, TEXT, None),
        (I32, F64, None),
        (F32, F64, F64),
        (F64, F32, F64),
        (F64, I32, F64),
        (F64, I64, None),
        (F32, I32, None),
        (decimal(6, 2), decimal(10, 4), decimal(10, 4)),
        (decimal(10, 2), decimal(6, 4), decimal(12, 4)),
        (decimal(38, 0), decimal(10, 4), None),
        (decimal(None), decimal(38, 9), decimal(None)),
        (decimal(6, 2), I32, decimal(12, 2)),
        (decimal(6, 2), F64, None),
        (TEXT, I32, TEXT),
        (TEXT, BYTES, None),
        (BYTES, TEXT, None),
        (BYTES, BYTES, BYTES),
        (Shape(Family.TEXT, 10), TEXT, Shape(Family.TEXT, 10)),  # the values will tell
        (Shape(Family.TEXT, 10), Shape(Family.TEXT, 20), Shape(Family.TEXT, 20)),
        (DATE, MOMENT, None),
        (MOMENT, DATE, MOMENT),
        (MOMENT, Shape(Family.MOMENT, has_zone=True), MOMENT),
        (DATE, DATE, DATE),
        (OTHER, TEXT, OTHER),
        (OTHER, I32, None),
        (JSON, TEXT, JSON),
        (JSON, JSON, JSON),
        (ANY, BYTES, ANY),
        (I32, NOTHING, I32),
    ],
)
def test_a_column_becomes_what_both_fit_into(there: Shape, given: Shape, becomes: Shape | None) -> None:
    assert widened(there, given) == becomes


SHAPES = [BOOL, I32, I64, F32, F64, TEXT, BYTES, DATE, MOMENT, decimal(12, 4), Shape(Family.TIME)]


@pytest.mark.parametrize("types", [postgresql_types, mysql_types, duckdb_types], ids=lambda each: each.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_column_that_was_made_is_known_again(types: object, shape: Shape) -> None:
    named = types.type_named("x", shape)  # type: ignore[attr-defined] # modules of one shape
    found = types.shape_named(named)  # type: ignore[attr-defined]
    assert widened(found, shape) == found


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("character varying(10)", Shape(Family.TEXT, 10)),
        ("numeric(10,2)", decimal(10, 2)),
        ("numeric", decimal(None)),
        ("timestamp(3) with time zone", Shape(Family.MOMENT, has_zone=True)),
        ("uuid", OTHER),
        ("integer[]", OTHER),
    ],
)
def test_types_of_postgresql_are_read(kind: str, shape: Shape) -> None:
    assert postgresql_types.shape_named(kind) == shape


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("int(10) unsigned zerofill", U32),
        ("tinyint(1)", I8),
        ("decimal(10,2) unsigned", decimal(10, 2)),
        ("varchar(20)", Shape(Family.TEXT, 20)),
        ("enum('a','b')", OTHER),
        ("datetime(6)", MOMENT),
    ],
)
def test_types_of_mysql_are_read(kind: str, shape: Shape) -> None:
    assert mysql_types.shape_named(kind) == shape


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("Nullable(Int32)", I32),
        ("LowCardinality(Nullable(String))", ANY),
        ("Decimal(10, 2)", decimal(10, 2)),
        ("Decimal64(4)", decimal(18, 4)),
        ("DateTime64(6, 'UTC')", MOMENT),
        ("Array(Int8)", JSON),
        ("UUID", OTHER),
    ],
)
def test_types_of_clickhouse_are_read(kind: str, shape: Shape) -> None:
    assert shape_named(kind_of(kind)) == shape
