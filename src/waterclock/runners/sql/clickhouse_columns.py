"""Which column of a query goes to which of a table: by name, and with words for what does not match."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from waterclock.runners.sql.clickhouse_server import identifier
from waterclock.runners.sql.clickhouse_types import Kind, kind_of, made_type
from waterclock.runners.sql.clickhouse_values import tab_text
from waterclock.runners.sql.lines import line_bytes
from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.words import listed

if TYPE_CHECKING:
    import pyarrow as pa

_FILLED: Final = frozenset({"DEFAULT", "EPHEMERAL"})  # may be left out
_MADE: Final = frozenset({"MATERIALIZED", "ALIAS"})  # cannot be written to
_ROWS: Final = 64 * 1024  # at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Of a table, as the server describes it."""

    name: str
    type: str
    default: str = ""  # DEFAULT, MATERIALIZED, ALIAS or nothing

    @property
    def kind(self) -> Kind:
        return kind_of(self.type)

    @property
    def is_stored(self) -> bool:
        """Its values are in the table, and can be copied from it."""
        return self.default not in _MADE and self.default != "EPHEMERAL"

    @property
    def is_made(self) -> bool:
        return self.default in _MADE

    @property
    def needs_value(self) -> bool:
        """Takes no NULL, and nothing fills it. An array that is not given is an empty one."""
        return not (self.default or self.kind.nullable or self.kind.name == "Array")

    def __str__(self) -> str:
        """In a CREATE TABLE."""
        return f"{identifier(self.name)} {self.type}"


def matched(names: Sequence[str], table: Sequence[Column], where: str) -> list[Column]:
    """The table's columns in the order of the query's."""
    check_names(names, where)
    known = {column.name: column for column in table if column.default not in _MADE}
    if unknown := [name for name in names if name not in known]:
        raise OutputFailed(
            f"{where} has no column {listed(unknown)}: it has {listed(list(known))}. "
            "Name the query's columns as the table's"
        )
    needed = [column.name for column in known.values() if column.default not in _FILLED]
    if missing := [name for name in needed if name not in names]:
        raise OutputFailed(f"{where} has columns that the query does not give: {listed(missing)}")
    return [known[name] for name in names]


def made(schema: "pa.Schema", known: frozenset[str], where: str) -> list[Column]:
    """For a table that does not exist."""
    check_names(schema.names, where)
    return [Column(name=field.name, type=made_type(field, known)) for field in schema]


def check_names(names: Sequence[str], where: str) -> None:
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise OutputFailed(f"{where}: the query has more than one column {listed(twice)}: give each a name of its own")
    if "" in names:
        raise OutputFailed(f"{where}: the query has a column without a name: give it one with AS")


def tab_lines(batch: "pa.RecordBatch", columns: Sequence[Column]) -> Iterator[bytes]:
    for first in range(0, batch.num_rows, _ROWS):
        rows = batch.slice(first, _ROWS)
        pairs = zip(rows.columns, columns, strict=True)
        yield line_bytes([tab_text(values, column.kind, column.name) for values, column in pairs], "\t")
