"""A DuckDB file of this machine, below the roots that an admin has named: one process has it open at a time.

A table that is replaced changes places with one that has its columns, in one transaction; indexes, keys and defaults
are not carried over. A row's place in the table aside tells which came last.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from waterclock.runners.sql.databases import Swap
from waterclock.runners.sql.duckdb_types import shape_named, type_named
from waterclock.runners.sql.evolving import Plan, TableColumn
from waterclock.runners.sql.json_text import json_texts
from waterclock.runners.sql.outputs import OutputFailed, Tag
from waterclock.runners.sql.shapes import Shape
from waterclock.runners.sql.table_statements import Statements, quoted
from waterclock.runners.sql.words import text_of

if TYPE_CHECKING:
    import pyarrow as pa

MEMORY: Final = "256MB"
_SETTINGS: Final = {"memory_limit": MEMORY, "threads": "2", "autoinstall_known_extensions": "false"}
_HELD_BY: Final = re.compile(r"Conflicting lock is held in (.+?) \(PID (\d+)\)")
_COLUMNS: Final = """
SELECT column_name, data_type, is_nullable, column_default FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = 'main' AND table_name = ? ORDER BY column_index
"""
_NAMES: Final = (
    "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = 'main'"
)

_INDEXES: Final = """
SELECT index_name FROM duckdb_indexes()
WHERE database_name = current_database() AND schema_name = 'main' AND table_name = ?
"""


class DuckdbFile:
    longest_name = 255

    def __init__(self, path: str, *, table: str, roots: Sequence[str]) -> None:
        self.where = f"DuckDB file {path} {table}"
        self._path = _below(path, roots, self.where)
        self._sql = Statements("rowid")
        self._connection: Any = None

    def settle(self, tag: Tag) -> None:
        """Whoever is dead holds the file no more, and what he had begun is not in it."""

    def names(self) -> list[str]:
        if not os.path.exists(self._path):
            return []  # and whoever only looks makes none
        return [name for [name] in self._rows(_NAMES)]

    def columns(self, table: str) -> list[TableColumn]:
        return [
            TableColumn(name=name, type=kind, shape=shape_named(kind), needs_value=not nullable and default is None)
            for name, kind, nullable, default in self._rows(_COLUMNS, table)
        ]

    def type_of(self, name: str, shape: Shape) -> str:
        return type_named(name, shape)

    def key_shape(self, shape: Shape) -> Shape:
        return shape

    def create(self, table: str, columns: Sequence[TableColumn], *, numbered: bool = False, lasts: bool = True) -> None:
        described = ", ".join(f"{quoted(column.name)} {column.type}" for column in columns)
        self._rows(f"CREATE TABLE {quoted(table)} ({described})")

    def create_like(self, table: str, like: str) -> None:
        columns = self.columns(like)
        described = ", ".join(
            f"{quoted(column.name)} {column.type}{' NOT NULL' if column.needs_value else ''}" for column in columns
        )
        self._rows(f"CREATE TABLE {quoted(table)} ({described})")

    def alter(self, table: str, plan: Plan) -> None:
        for column in plan.added:
            self._rows(f"ALTER TABLE {quoted(table)} ADD COLUMN {quoted(column.name)} {column.type}")
        for column in plan.widened:
            self._rows(f"ALTER TABLE {quoted(table)} ALTER COLUMN {quoted(column.name)} TYPE {column.type}")

    def load(self, table: str, columns: Sequence[TableColumn], batch: "pa.RecordBatch") -> int:
        names = self._sql.listed(columns)
        with self._complaining() as connection:
            connection.register("wc_batch", _plain_table(batch))
            connection.execute(f"INSERT INTO {quoted(table)} ({names}) SELECT {names} FROM wc_batch")  # noqa: S608
            connection.unregister("wc_batch")
        return int(batch.nbytes)

    def keep_last(self, table: str, keys: Sequence[str]) -> None:
        self._rows(self._sql.keep_last(quoted(table), keys))

    def make_keyed(self, table: str, keys: Sequence[str]) -> None:
        """A table with an index cannot be renamed there; it is fast without."""

    @contextmanager
    def putting(self) -> Iterator[None]:
        self._rows("BEGIN")
        try:
            yield
            self._rows("COMMIT")
        except BaseException:
            self.close()  # which undoes what was begun
            raise

    def rename(self, table: str, to: str) -> None:
        self._rows(f"ALTER TABLE {quoted(table)} RENAME TO {quoted(to)}")

    def swap(self, swap: Swap, plan: Plan) -> None:
        with self.putting():
            if swap.kept:
                self._drop_indexes(swap.table)
                self.rename(swap.table, swap.kept)
            else:
                self.drop(swap.table)
            self.rename(swap.new, swap.table)

    def add(self, table: str, new: str, columns: Sequence[TableColumn]) -> None:
        self._rows(self._sql.add(quoted(table), quoted(new), columns))

    def merge(self, table: str, new: str, columns: Sequence[TableColumn], keys: Sequence[str]) -> None:
        if update := self._sql.update(quoted(table), quoted(new), columns, keys):
            self._rows(update)
        self._rows(self._sql.add_missing(quoted(table), quoted(new), columns, keys))

    def drop(self, table: str) -> None:
        self._rows(f"DROP TABLE IF EXISTS {quoted(table)}")

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _drop_indexes(self, table: str) -> None:
        """A table that has one cannot be renamed there."""
        for [name] in self._rows(_INDEXES, table):
            self._rows(f"DROP INDEX {quoted(name)}")

    def _rows(self, statement: str, *values: object) -> list[Any]:
        with self._complaining() as connection:
            return list(connection.execute(statement, values).fetchall())

    @contextmanager
    def _complaining(self) -> Iterator[Any]:
        import duckdb

        try:
            if self._connection is None:
                self._connection = duckdb.connect(self._path, config=_SETTINGS)
            yield self._connection
        except duckdb.Error as problem:
            if held := _HELD_BY.search(str(problem)):
                words = f"{held.group(1)} (process {held.group(2)}) has the file open: close it there, and run again"
                raise OutputFailed(f"{self.where}: {words}") from None
            raise OutputFailed(f"{self.where}: {text_of(problem)}") from None


def _plain_table(batch: "pa.RecordBatch") -> Any:
    """Values that hold others as JSON, as in every other database."""
    import pyarrow as pa
    import pyarrow.types as types

    columns = [
        pa.array(json_texts(column), pa.large_string()) if types.is_nested(column.type) else column
        for column in batch.columns
    ]
    return pa.table(columns, names=batch.schema.names)


def _below(path: str, roots: Sequence[str], where: str) -> str:
    real = os.path.realpath(path)
    found = [root for root in map(os.path.realpath, roots) if real.startswith(root.rstrip("/") + "/")]
    if not os.path.isabs(path) or not found:
        named = ", ".join(roots) or "none is"
        raise OutputFailed(
            f"{where}: it is not below a folder that jobs may write to ({named}): "
            "choose another, or ask an admin to add one to the setting lake.roots"
        )
    if not os.path.isdir(os.path.dirname(real)):
        raise OutputFailed(f"{where}: there is no folder {os.path.dirname(real)}: create it first")
    return real
