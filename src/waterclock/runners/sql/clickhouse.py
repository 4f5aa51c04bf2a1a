"""A table in ClickHouse: rows are loaded into one beside it, then added in one statement, or the two change places.

append: `INSERT … SELECT` from the table aside, one block where it is not larger than a GiB: a partition gets all of its
rows or none. replace: on a database that can, `EXCHANGE TABLES`; else both renames in one statement, and a server that
dies between them leaves the old table aside, where the next sweep finds it. A table that does not exist is made, and
takes its place when it is loaded.

upsert: no row can be changed there cheaply, so a third table is made: what is there without the keys that come, by the
server itself, and the new rows; then it changes places with the old one. It costs what a copy of the table costs, and
the keys that come are held in the server's memory.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from waterclock import clock
from waterclock.runners.sql import kept
from waterclock.runners.sql.aside import Aside, Stage, left_for, prefix
from waterclock.runners.sql.clickhouse_columns import Column, made, matched, tab_lines
from waterclock.runners.sql.clickhouse_database import Database
from waterclock.runners.sql.clickhouse_evolving import Changes, evolved
from waterclock.runners.sql.clickhouse_server import Refused, Server, identifier, literal
from waterclock.runners.sql.clickhouse_upserting import ROW, numbered, without_keys
from waterclock.runners.sql.folder import Mode
from waterclock.runners.sql.how import How
from waterclock.runners.sql.keys import check_key_values, check_keys
from waterclock.runners.sql.outputs import OutputFailed, Tag, Written, said_of

if TYPE_CHECKING:
    import pyarrow as pa

_LOADED_BYTES: Final = 32 * 1024 * 1024  # in one INSERT
_ONE_BLOCK_BYTES: Final = 1024**3
_LOAD_SECONDS: Final = 300.0
_PUT_SECONDS: Final = 3600.0
_TRIES: Final = 5
_LONGEST_NAME: Final = 150  # a table's name is that of its files, in which a letter may take three bytes
_CANNOT: Final = frozenset({1, 48, 62})  # what it has no method for, has not implemented, or does not understand
_EXCHANGING: Final = frozenset({"Atomic", "Replicated", "Shared"})  # databases that can
_KEPT_HERE: Final = frozenset({"Log", "TinyLog", "StripeLog", "Memory"})
_OWN_ENGINE: Final = "ENGINE = MergeTree ORDER BY tuple()"


class ClickHouseOutput:
    def __init__(self, *, account: Mapping[str, str], database: str, table: str, how: How, tag: Tag) -> None:
        self._server = Server(account, about=f"{database}.{table}")
        self._database = Database(self._server, database)
        self._table, self._how, self._tag = table, how, tag
        self._mode = how.mode
        self._new = str(Aside(tag=tag, stage=Stage.NEW, of=table))
        self._merged = str(Aside(tag=tag, stage=Stage.NEW, of=table, number=1))
        self._old = str(Aside(tag=tag, stage=Stage.OLD, of=table))
        self._put = self._merged if how.mode is Mode.UPSERT else self._new  # what takes the table's place
        self._columns: Sequence[Column] = ()
        self._changes = Changes()
        self._waiting: list[bytes] = []
        self._waiting_bytes = self._rows = self._bytes = self._statements = 0

    @property
    def where(self) -> str:
        return self._server.where

    def sweep(self) -> None:
        self._kill()
        for each in left_for(self._tag, self._table, self._database.tables(prefix(self._tag))):
            if each.stage is not Stage.OLD:
                self._database.drop(str(each))
            elif self._database.exists(each.of):
                self._retire(str(each), each.of)
            else:
                self._server.ask(f"RENAME TABLE {self._database.named(str(each))} TO {self._database.named(each.of)}")
        for name in kept.due(self._database.tables(kept.PREFIX), wall_us=clock.wall_us()):
            self._database.drop(name)

    def open(self, schema: "pa.Schema") -> None:
        if not self._database.engine():
            raise OutputFailed(f"{self.where}: there is no database {self._database.name!r}: create it first")
        check_keys(schema, self._how.keys, self.where)
        there = self._database.described(self._table)
        self._columns = self._fitted(schema, there) if there else self._made(schema)
        if there and self._mode is not Mode.APPEND:
            self._check_replaceable()
        if self._mode is Mode.UPSERT:
            self._make(self._new, [*self._columns, ROW])
        elif there and self._mode is Mode.REPLACE:
            self._make_like(self._new)
        else:
            self._make(self._new, self._columns)

    def write(self, batch: "pa.RecordBatch") -> None:
        check_key_values(batch, self._how.keys, self.where)
        columns = self._columns
        if self._mode is Mode.UPSERT:
            batch, columns = numbered(batch, self._rows), [*columns, ROW]
        with said_of(self.where):
            for lines in tab_lines(batch, columns):
                self._waiting.append(lines)
                self._waiting_bytes += len(lines)
                if self._waiting_bytes >= _LOADED_BYTES:
                    self._load()
        self._rows += batch.num_rows

    def commit(self) -> Written:
        self._load()
        if self._mode is Mode.UPSERT:
            self._merge()
        for _ in range(_TRIES):
            if self._is_put():
                with suppress(OutputFailed):  # the rows are where they should be; a sweep will come
                    self._clear()
                self._server.close()
                return Written(rows=self._rows, bytes=self._bytes)
        raise OutputFailed(f"{self.where} is made and removed by others all the time: the rows were not put there")

    def abort(self) -> None:
        self._waiting.clear()
        self.sweep()
        self._server.close()

    def _fitted(self, schema: "pa.Schema", there: Sequence[Column]) -> Sequence[Column]:
        if not self._how.may_change:
            return matched(schema.names, there, self.where)
        with said_of(self.where):
            self._changes = evolved(schema, there, self._database.known_types(), self.where)
        return self._changes.columns

    def _made(self, schema: "pa.Schema") -> list[Column]:
        with said_of(self.where):
            return made(schema, self._database.known_types(), self.where)

    # In place

    def _is_put(self) -> bool:
        """False where the table appeared or went while we looked at it."""
        if not self._database.exists(self._table):
            return self._database.rename((self._put, self._table))
        if self._mode is Mode.APPEND:
            self._alter(self._table)
            self._add()
            return True
        return self._is_exchanged() or self._database.rename((self._table, self._old), (self._put, self._table))

    def _is_exchanged(self) -> bool:
        """False where this server, or its file system, cannot."""
        if self._database.engine() not in _EXCHANGING:
            return False
        try:
            self._server.ask(
                f"EXCHANGE TABLES {self._database.named(self._put)} AND {self._database.named(self._table)}"
            )
        except Refused as refused:
            if refused.code in _CANNOT:
                return False
            raise
        return True

    def _merge(self) -> None:
        """A third table: the old rows without the new keys, and of each new key the row that came last."""
        there = self._database.described(self._table)
        if there:
            self._make_like(self._merged)
            kept_columns = [column for column in there if column.is_stored]
            self._copy(
                kept_columns, self._table, f" WHERE {without_keys(self._keyed(), self._database.named(self._new))}"
            )
        else:
            self._make(self._merged, self._columns)
        keys = ", ".join(identifier(name) for name in self._how.keys)
        self._copy(self._columns, self._new, f" ORDER BY {identifier(ROW.name)} DESC LIMIT 1 BY {keys}")

    def _copy(self, columns: Iterable[Column], table: str, condition: str) -> None:
        names, to, source = _listed(columns), self._database.named(self._merged), self._database.named(table)
        self._server.ask(
            f"INSERT INTO {to} ({names}) SELECT {names} FROM {source}{condition}",  # noqa: S608
            {"query_id": self._query_id(), "insert_deduplicate": "0"},
            seconds=_PUT_SECONDS,
        )

    def _keyed(self) -> list[Column]:
        return [column for column in self._columns if column.name in self._how.keys]

    def _add(self) -> None:
        columns = _listed(self._columns)
        to, source = self._database.named(self._table), self._database.named(self._new)
        rows = {"min_insert_block_size_rows": str(self._rows + 1), "min_insert_block_size_bytes": "0"}
        settings = {
            "query_id": self._query_id(),
            "insert_deduplicate": "0",  # the same rows twice are two appends
            "insert_distributed_sync": "1",  # they are there when the server says so
            **(rows if self._bytes <= _ONE_BLOCK_BYTES else {}),
        }
        self._server.ask(
            f"INSERT INTO {to} ({columns}) SELECT {columns} FROM {source}",  # noqa: S608
            settings,
            seconds=_PUT_SECONDS,
        )

    # Aside

    def _make(self, table: str, columns: Iterable[Column]) -> None:
        described = ", ".join(map(str, columns))
        self._server.ask(f"CREATE TABLE {self._database.named(table)} ({described}) {_OWN_ENGINE}")

    def _make_like(self, table: str) -> None:
        self._server.ask(f"CREATE TABLE {self._database.named(table)} AS {self._database.named(self._table)}")
        self._alter(table)

    def _alter(self, table: str) -> None:
        """Before the rows come: whoever dies here leaves a column of NULL, or a wider one."""
        for change in self._changes.statements:
            self._server.ask(f"ALTER TABLE {self._database.named(table)} {change}", seconds=_PUT_SECONDS)

    def _load(self) -> None:
        if not self._waiting:
            return
        data = b"".join(self._waiting)
        self._waiting.clear()
        self._waiting_bytes = 0
        self._bytes += len(data)
        self._server.ask(
            f"INSERT INTO {self._database.named(self._new)} ({self._loaded()}) FORMAT TabSeparated",
            {"query_id": self._query_id()},
            data=data,
            seconds=_LOAD_SECONDS,
        )

    def _loaded(self) -> str:
        return _listed([*self._columns, ROW] if self._mode is Mode.UPSERT else self._columns)

    def _clear(self) -> None:
        for name in (self._put, self._old):  # one of them has the old rows
            if self._mode is Mode.REPLACE and self._how.keep_hours and self._database.exists(name):
                self._retire(name, self._table)
            else:
                self._database.drop(name)
        self._database.drop(self._new)
        for name in kept.too_many(self._database.tables(kept.PREFIX), self._tag, self._table):
            self._database.drop(name)

    def _retire(self, table: str, of: str) -> None:
        """Kept for as long as the job asks, or dropped."""
        hours = self._how.keep_hours
        name = kept.kept(self._tag, of, hours=hours, wall_us=clock.wall_us(), longest=_LONGEST_NAME)
        if not hours or not self._database.rename((table, name)):
            self._database.drop(table)

    def _check_replaceable(self) -> None:
        [[engine]] = self._database.ask_tables("engine", f"name = {literal(self._table)}")
        is_shared = engine.startswith(("Replicated", "Shared"))
        if engine not in _KEPT_HERE and (is_shared or not engine.endswith("MergeTree")):
            raise OutputFailed(
                f"{self.where} is a {engine}: only tables whose rows are kept on that server alone (MergeTree, Log, …) "
                "can be replaced; write_mode append serves"
            )

    def _kill(self) -> None:
        """A statement goes on when whoever sent it is gone."""
        begin = literal(f"{prefix(self._tag)}%")
        with suppress(Refused):  # not everybody may look at what runs, and not every server keeps a list
            for [query_id] in self._server.rows(f"SELECT query_id FROM system.processes WHERE query_id LIKE {begin}"):  # noqa: S608
                if left_for(self._tag, self._table, [query_id.rpartition("#")[0]]):
                    self._server.ask(f"KILL QUERY WHERE query_id = {literal(query_id)} SYNC")

    def _query_id(self) -> str:
        self._statements += 1
        return f"{self._new}#{self._statements}"


def _listed(columns: Iterable[Column]) -> str:
    return ", ".join(identifier(column.name) for column in columns)
