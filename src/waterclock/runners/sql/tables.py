"""A table in a database: rows are loaded into one beside it, and put in place in one transaction.

append: the table's changes and `INSERT … SELECT` from the one aside. replace: the two change places by renames. upsert:
rows whose key is there are updated, the others are added. A table that does not exist is made, and takes its place when
it is loaded. Whoever dies leaves the old rows or the new ones, and at most a table aside, which a sweep removes.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from waterclock import clock
from waterclock.runners.sql import kept
from waterclock.runners.sql.aside import Aside, Stage, left_for
from waterclock.runners.sql.databases import Database, Swap
from waterclock.runners.sql.evolving import Plan, TableColumn, made, planned
from waterclock.runners.sql.folder import Mode
from waterclock.runners.sql.how import How
from waterclock.runners.sql.keys import check_key_values, check_keys
from waterclock.runners.sql.outputs import OutputFailed, Tag, Written, said_of
from waterclock.runners.sql.shapes import Family

if TYPE_CHECKING:
    import pyarrow as pa

ROW: Final = ".waterclock-row"  # the number by which a row aside is known to be the last of its key
_LONGEST_AFTER: Final = 24  # the least that is left for a table's name beside whose it is


class TableOutput:
    def __init__(self, database: Database, *, table: str, how: How, tag: Tag) -> None:
        self._database, self._table, self._how, self._tag = database, table, how, tag
        self._of = kept.short(table, max(database.longest_name - 40, _LONGEST_AFTER))
        self._new = str(Aside(tag=tag, stage=Stage.NEW, of=self._of))
        self._old = str(Aside(tag=tag, stage=Stage.OLD, of=self._of))
        self._plan = Plan(columns=())
        self._was_there = False
        self._rows = self._bytes = 0

    @property
    def where(self) -> str:
        return self._database.where

    def sweep(self) -> None:
        self._database.settle(self._tag)
        names = self._database.names()
        for left in left_for(self._tag, self._of, names):
            self._database.drop(str(left))
        for name in kept.due(names, wall_us=clock.wall_us()):
            self._database.drop(name)

    def open(self, schema: "pa.Schema") -> None:
        check_keys(schema, self._how.keys, self.where)
        there = self._database.columns(self._table)
        self._was_there = bool(there)
        with said_of(self.where):
            self._plan = self._planned(schema, there)
        if there and self._how.mode is Mode.REPLACE:
            self._database.create_like(self._new, self._table)
            self._database.alter(self._new, self._plan)
        else:
            numbered = self._how.mode is Mode.UPSERT
            self._database.create(self._new, self._plan.columns, numbered=numbered, lasts=not there)

    def write(self, batch: "pa.RecordBatch") -> None:
        check_key_values(batch, self._how.keys, self.where)
        with said_of(self.where):
            self._make_room(batch)
            self._bytes += self._database.load(self._new, self._plan.columns, batch)
        self._rows += batch.num_rows

    def commit(self) -> Written:
        if self._how.mode is Mode.UPSERT:
            self._database.keep_last(self._new, self._how.keys)
        if not self._database.columns(self._table):
            self._put_first()
        elif self._how.mode is Mode.REPLACE:
            self._replace()
        else:
            self._add()
        with suppress(OutputFailed):  # the rows are where they should be; a sweep will come
            self._clear()
        self._database.close()
        return Written(rows=self._rows, bytes=self._bytes)

    def abort(self) -> None:
        self._database.close()  # with whatever its line had begun
        self.sweep()
        self._database.close()

    def _planned(self, schema: "pa.Schema", there: Sequence[TableColumn]) -> Plan:
        if there:
            may = self._how.may_change
            return planned(schema, there, self._database.type_of, where=self.where, may_change=may)
        plan = made(schema, self._database.type_of, where=self.where)
        return replace(plan, columns=tuple(self._as_key(column) for column in plan.columns))

    def _as_key(self, column: TableColumn) -> TableColumn:
        if column.name not in self._how.keys:
            return column
        shape = self._database.key_shape(column.shape)
        return replace(column, shape=shape, type=self._database.type_of(column.name, shape))

    def _make_room(self, batch: "pa.RecordBatch") -> None:
        """Rows do not say how long their texts are before they come."""
        if not self._how.may_change:
            return
        for column in self._plan.columns:
            if column.shape.family is not Family.TEXT or column.shape.size is None:
                continue
            longest = _longest(batch.column(column.name))
            if longest > column.shape.size:
                self._lengthen(column, longest)

    def _lengthen(self, column: TableColumn, size: int) -> None:
        shape = replace(column.shape, size=1 << (size - 1).bit_length())
        longer = replace(column, shape=shape, type=self._database.type_of(column.name, shape))
        self._database.alter(self._new, Plan(columns=(), widened=(longer,)))
        added = {each.name for each in self._plan.added}
        others = [each for each in self._plan.widened if each.name != column.name]
        self._plan = Plan(
            columns=tuple(longer if each.name == column.name else each for each in self._plan.columns),
            added=tuple(longer if each.name == column.name else each for each in self._plan.added),
            widened=(*others, *([] if column.name in added else [longer])),
        )

    # In place

    def _put_first(self) -> None:
        if self._was_there:
            raise OutputFailed(f"{self.where} was dropped by others while its rows were loaded: run again to make it")
        if self._how.mode is Mode.UPSERT:
            self._database.make_keyed(self._new, self._how.keys)
        with self._database.putting():
            self._database.rename(self._new, self._table)

    def _replace(self) -> None:
        name = ""
        if self._how.keep_hours:
            longest, hours = self._database.longest_name, self._how.keep_hours
            name = kept.kept(self._tag, self._table, hours=hours, wall_us=clock.wall_us(), longest=longest)
        self._database.swap(Swap(table=self._table, new=self._new, old=self._old, kept=name), self._plan)

    def _add(self) -> None:
        with self._database.putting():
            self._database.alter(self._table, self._plan)
            if self._how.mode is Mode.UPSERT:
                self._database.merge(self._table, self._new, self._plan.columns, self._how.keys)
            else:
                self._database.add(self._table, self._new, self._plan.columns)

    def _clear(self) -> None:
        self._database.drop(self._new)
        self._database.drop(self._old)
        for name in kept.too_many(self._database.names(), self._tag, self._table):
            self._database.drop(name)


def _longest(texts: "pa.Array") -> int:
    """In characters."""
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_dictionary(texts.type):
        return _longest(texts.dictionary)
    if types.is_string_view(texts.type):
        texts = texts.cast("large_string")
    if not (types.is_string(texts.type) or types.is_large_string(texts.type)):
        return 0
    return pc.max(pc.utf8_length(texts)).as_py() or 0
