"""Which rows an incremental sync reads: after the last run's watermark, up to one that is taken before they are read.

So the watermark is what was really read: a row that comes meanwhile is after it. And it is never in the future: a row
that a wrong clock has dated to next year is read next year, and does not hide all that come until then. Moments without
a zone may be a day ahead, for nobody knows which clock they are of; `lag_seconds` holds all back behind the clock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from waterclock.runners.sync.database.asked import Asked, Increment, NullRows
from waterclock.runners.sync.database.columns import Column, Scale
from waterclock.runners.sync.database.dialect import Dialect
from waterclock.runners.sync.database.line import Line
from waterclock.runners.sync.database.wording import select
from waterclock.runners.sync.source import SourceFailed

_NOTHING: Final = "1 = 0"
_TIMES: Final = (Scale.MOMENT, Scale.DAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    conditions: tuple[str, ...] = ()
    bookmark: Mapping[str, Any] | None = None


def window_of(dialect: Dialect, line: Line, asked: Asked, columns: Sequence[Column]) -> Window:
    increment = asked.increment
    if increment is None or (increment.is_full and asked.most_rows is not None):
        return Window()
    column = _column(increment, columns, dialect.where)
    _check(increment, column, dialect.where)
    if not increment.is_full and increment.null_rows is NullRows.FAIL:
        _refuse_nulls(dialect, line, asked, column)
    highest = _highest(dialect, line, asked, column)
    bookmark = highest and {"column": column.name, "value": highest, "type": str(column.scale)}
    if increment.is_full:
        return Window(bookmark=bookmark or None)
    return Window(conditions=(_within(dialect, increment, column, highest),), bookmark=bookmark or None)


def text_of(value: object) -> str:
    """Of a watermark, so that its database reads the same value from it."""
    match value:
        case datetime():
            return value.isoformat(sep=" ")
        case date():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case float():
            return repr(value)
    return str(value)


def null_words(where: str, column: str) -> str:
    return (
        f"{where}: {column} is NULL in some rows, which no watermark finds: give key_columns, and each run reads them "
        "anew; or null_rows: skip leaves them out; or choose another incremental_column"
    )


def _column(increment: Increment, columns: Sequence[Column], where: str) -> Column:
    found = next((each for each in columns if each.name == increment.column), None)
    if found is None:
        known = ", ".join(each.name for each in columns)
        raise SourceFailed(f"{where}: there is no incremental_column {increment.column!r} among {known}")
    return found


def _check(increment: Increment, column: Column, where: str) -> None:
    if column.scale is Scale.NONE:
        raise SourceFailed(
            f"{where}: {column.name} is {column.kind}, and no incremental_column: numbers, moments, days and texts are"
        )
    if increment.lag_seconds is not None and column.scale not in _TIMES:
        raise SourceFailed(f"{where}: lag_seconds is for moments and days, and {column.name} is {column.kind}")
    before = increment.after.scale if increment.after else ""
    if before and before != column.scale and not {before, column.scale} <= set(_TIMES):
        raise SourceFailed(
            f"{where}: {column.name} was a {before} when the watermark was taken, and is a {column.scale} now "
            f"({column.kind}): run a full sync, or reset the job's bookmark"
        )


def _refuse_nulls(dialect: Dialect, line: Line, asked: Asked, column: Column) -> None:
    name = dialect.identifier(column.name)
    if line.ask(select("1 AS found", dialect.relation(asked), f"{name} IS NULL", limit=1)):
        raise SourceFailed(null_words(dialect.where, column.name))


def _highest(dialect: Dialect, line: Line, asked: Asked, column: Column) -> str | None:
    increment = asked.increment
    assert increment is not None
    name = dialect.identifier(column.name)
    conditions = [f"{name} >= {dialect.literal(increment.after.value, column)}"] if increment.after else []
    if column.scale in _TIMES:
        conditions.append(f"{name} <= {dialect.latest(column, increment.lag_seconds)}")
    highest = column.read.format(f"max({name})")
    [found] = line.ask(select(f"{highest} AS highest", dialect.relation(asked), *conditions))
    return None if found["highest"] is None else text_of(found["highest"])


def _within(dialect: Dialect, increment: Increment, column: Column, highest: str | None) -> str:
    name = dialect.identifier(column.name)
    within = _NOTHING
    if highest is not None:
        within = f"{name} <= {dialect.literal(highest, column)}"
        if increment.after:
            compared = ">=" if increment.inclusive else ">"
            within += f" AND {name} {compared} {dialect.literal(increment.after.value, column)}"
    return f"({within} OR {name} IS NULL)" if increment.null_rows is NullRows.READ else within
