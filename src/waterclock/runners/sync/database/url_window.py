"""Which rows an incremental sync reads where all that is known of a column are its values, as Python has them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final

from waterclock import clock
from waterclock.runners.sync.database.asked import Increment, Mark, NullRows
from waterclock.runners.sync.database.columns import Scale
from waterclock.runners.sync.database.window import null_words, text_of
from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import sqlalchemy as sa

_AHEAD: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlWindow:
    conditions: tuple[Any, ...] = ()
    bookmark: Mapping[str, Any] | None = None


def url_window(
    connection: "sa.Connection", relation: "sa.FromClause", increment: Increment | None, where: str
) -> UrlWindow:
    import sqlalchemy as sa

    if increment is None:
        return UrlWindow()
    column: sa.ColumnElement[Any] = sa.column(increment.column)
    highest, scale = _highest(connection, relation, increment, column, where)
    bookmark = None if highest is None else _bookmark(increment, highest, scale)
    if increment.is_full:
        return UrlWindow(bookmark=bookmark)
    if increment.null_rows is NullRows.FAIL:
        _refuse_nulls(connection, relation, increment, column, where)
    if highest is None:
        within: sa.ColumnElement[bool] = sa.false()
    else:
        within = sa.and_(column <= highest, *_after(increment, column, scale, where))
    return UrlWindow(
        conditions=(sa.or_(within, column.is_(None)) if increment.null_rows is NullRows.READ else within,),
        bookmark=bookmark,
    )


def _highest(
    connection: "sa.Connection", relation: "sa.FromClause", increment: Increment, column: Any, where: str
) -> tuple[Any, Scale]:
    """Not above our clock, and None where nothing is new."""
    import sqlalchemy as sa

    statement = sa.select(sa.func.max(column)).select_from(relation)
    found = connection.execute(statement).scalar()
    if found is None:
        return None, Scale.NONE
    scale = _scale(found, increment.column, where)
    conditions = [*_after(increment, column, scale, where, inclusive=True)]
    if scale in (Scale.MOMENT, Scale.DAY):
        conditions.append(column <= _latest(found, increment.lag_seconds))
    elif increment.lag_seconds is not None:
        raise SourceFailed(f"{where}: lag_seconds is for moments and days, and {increment.column} is a {scale}")
    return connection.execute(statement.where(*conditions)).scalar(), scale


def _after(
    increment: Increment, column: Any, scale: Scale, where: str, *, inclusive: bool = False
) -> tuple["sa.ColumnElement[bool]", ...]:
    if increment.after is None:
        return ()
    value = _value(increment.after, scale, increment.column, where)
    return (column >= value if inclusive or increment.inclusive else column > value,)


def _value(mark: Mark, scale: Scale, column: str, where: str) -> Any:
    try:
        match scale:
            case Scale.NUMBER:
                number = Decimal(mark.value)
                return int(number) if number == number.to_integral_value() else number
            case Scale.MOMENT:
                return datetime.fromisoformat(mark.value)
            case Scale.DAY:
                return date.fromisoformat(mark.value[:10])
    except (ValueError, InvalidOperation):
        raise SourceFailed(f"{where}: {mark.value!r} is no {scale}, and {column} is: reset the bookmark") from None
    if mark.scale not in ("", scale):
        raise SourceFailed(f"{where}: {column} was a {mark.scale}, and is a {scale} now: reset the job's bookmark")
    return mark.value


def _latest(found: date, lag_seconds: float | None) -> date:
    now = datetime.fromtimestamp(clock.wall_us() / 1_000_000, UTC)
    moment = now + (_AHEAD if lag_seconds is None else -timedelta(seconds=lag_seconds))
    if not isinstance(found, datetime):
        return moment.date()
    return moment if found.tzinfo else moment.replace(tzinfo=None)


def _scale(value: object, column: str, where: str) -> Scale:
    match value:
        case bool():
            pass
        case int() | float() | Decimal():
            return Scale.NUMBER
        case datetime():
            return Scale.MOMENT
        case date():
            return Scale.DAY
        case str():
            return Scale.TEXT
    raise SourceFailed(f"{where}: {column} is no incremental_column: numbers, moments, days and texts are")


def _bookmark(increment: Increment, highest: Any, scale: Scale) -> Mapping[str, Any]:
    return {"column": increment.column, "value": text_of(highest), "type": str(scale)}


def _refuse_nulls(
    connection: "sa.Connection", relation: "sa.FromClause", increment: Increment, column: Any, where: str
) -> None:
    import sqlalchemy as sa

    statement: sa.Select[Any] = sa.select(sa.literal_column("1")).select_from(relation).where(column.is_(None)).limit(1)
    if connection.execute(statement).first() is not None:
        raise SourceFailed(null_words(where, increment.column))
