"""What becomes of a table when rows come whose columns are not its own: added, widened, or refused with both shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Never

from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.shapes import Shape, shape_of, widened
from waterclock.runners.sql.words import listed

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """Of a table, as its database describes it."""

    name: str
    type: str
    shape: Shape
    needs_value: bool = False  # takes no NULL, and has nothing to fill it with
    is_made: bool = False  # by the database from other columns: cannot be written to


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`columns`: those of the rows, in their order, as they are in the table once it has changed."""

    columns: tuple[TableColumn, ...]
    added: tuple[TableColumn, ...] = ()
    widened: tuple[TableColumn, ...] = ()

    @property
    def changes(self) -> bool:
        return bool(self.added or self.widened)


Types = Callable[[str, Shape], str]  # what the database calls it; the column's name is for its complaint


def planned(
    schema: "pa.Schema", table: Sequence[TableColumn], types: Types, *, where: str, may_change: bool = True
) -> Plan:
    """Columns go by name; what the rows lack is NULL, or what the table fills it with."""
    check_names(schema.names, where)
    known = {column.name: column for column in table if not column.is_made}
    if missing := [name for name, column in known.items() if column.needs_value and name not in schema.names]:
        _refuse(f"{listed(missing)} takes no NULL, and the rows do not have it", schema, table, where)
    columns, added, wider = [], [], []
    for field in schema:
        now = _column(field, known.get(field.name), types, schema, table, where)
        columns.append(now)
        if field.name not in known:
            added.append(now)
        elif now != known[field.name]:
            wider.append(now)
    if (added or wider) and not may_change:
        named = listed([column.name for column in (*added, *wider)])
        _refuse(f"{named} would change it, which schema_changes: refuse forbids", schema, table, where)
    return Plan(columns=tuple(columns), added=tuple(added), widened=tuple(wider))


def made(schema: "pa.Schema", types: Types, *, where: str) -> Plan:
    """Of a table that does not exist."""
    check_names(schema.names, where)
    return Plan(columns=tuple(_made(field, types) for field in schema))


def check_names(names: Sequence[str], where: str) -> None:
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise OutputFailed(f"{where}: the rows have more than one column {listed(twice)}: give each a name of its own")
    if "" in names:
        raise OutputFailed(f"{where}: the rows have a column without a name: give it one with AS")


def _column(
    field: "pa.Field",
    there: TableColumn | None,
    types: Types,
    schema: "pa.Schema",
    table: Sequence[TableColumn],
    where: str,
) -> TableColumn:
    if any(column.is_made and column.name == field.name for column in table):
        _refuse(f"{field.name} is made by the database, and cannot be written to", schema, table, where)
    if there is None:
        return _made(field, types)
    shape = widened(there.shape, shape_of(field.type))
    if shape is None:
        _refuse(f"{field.name} is {there.type} there, which {field.type} is no widening of", schema, table, where)
    if shape == there.shape:
        return there
    return TableColumn(name=there.name, type=types(there.name, shape), shape=shape, needs_value=there.needs_value)


def _made(field: "pa.Field", types: Types) -> TableColumn:
    shape = shape_of(field.type)
    return TableColumn(name=field.name, type=types(field.name, shape), shape=shape)


def _refuse(why: str, schema: "pa.Schema", table: Sequence[TableColumn], where: str) -> Never:
    there = ", ".join(f"{column.name} {column.type}" for column in table)
    given = ", ".join(f"{field.name} {field.type}" for field in schema)
    raise OutputFailed(
        f"{where}: {why}. The table has ({there}); the rows have ({given}). "
        "Change the table, or what is read, so that they fit"
    )
