"""A table in ClickHouse: rows are loaded into one beside it, then added in one statement, or the two change places.

append: `INSERT … SELECT` from the table aside, one block where it is not larger than a GiB: a partition gets all of its
rows or none. replace: on a database that can, `EXCHANGE TABLES`; else both renames in one statement, and a server that
dies between them leaves the old table aside, where the next sweep finds it. A table that does not exist is made, and
takes its place when it is loaded.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from waterclock.runners.sql.aside import Aside, Stage, left_for, prefix
from waterclock.runners.sql.clickhouse_columns import Column, made, matched, tab_lines
from waterclock.runners.sql.clickhouse_server import Refused, Server, identifier, literal
from waterclock.runners.sql.clickhouse_types import MAYBE_KNOWN
from waterclock.runners.sql.folder import Mode
from waterclock.runners.sql.outputs import OutputFailed, Tag, Written, said_of

if TYPE_CHECKING:
    import pyarrow as pa

_LOADED_BYTES: Final = 32 * 1024 * 1024  # in one INSERT
_ONE_BLOCK_BYTES: Final = 1024**3
_LOAD_SECONDS: Final = 300.0
_PUT_SECONDS: Final = 3600.0
_TRIES: Final = 5
_EXISTS_ALREADY: Final = 57
_CANNOT: Final = frozenset({1, 48, 62})  # what it has no method for, has not implemented, or does not understand
_EXCHANGING: Final = frozenset({"Atomic", "Replicated", "Shared"})  # databases that can
_KEPT_HERE: Final = frozenset({"Log", "TinyLog", "StripeLog", "Memory"})
_OWN_ENGINE: Final = "ENGINE = MergeTree ORDER BY tuple()"


class ClickHouseOutput:
    def __init__(self, *, account: Mapping[str, str], database: str, table: str, mode: Mode, tag: Tag) -> None:
        self._server = Server(account, about=f"{database}.{table}")
        self._database, self._table, self._mode, self._tag = database, table, mode, tag
        self._new = str(Aside(tag=tag, stage=Stage.NEW, of=table))
        self._old = str(Aside(tag=tag, stage=Stage.OLD, of=table))
        self._columns: Sequence[Column] = ()
        self._waiting: list[bytes] = []
        self._waiting_bytes = self._rows = self._bytes = self._statements = 0

    @property
    def where(self) -> str:
        return self._server.where

    def sweep(self) -> None:
        self._kill()
        for each in left_for(self._tag, self._table, self._tables()):
            if each.stage is Stage.OLD and not self._exists(each.of):
                self._server.ask(f"RENAME TABLE {self._named(str(each))} TO {self._named(each.of)}")
            else:
                self._drop(str(each))

    def open(self, schema: "pa.Schema") -> None:
        if not self._database_engine():
            raise OutputFailed(f"{self.where}: there is no database {self._database!r}: create it first")
        there = self._described()
        if not there:
            self._columns = self._made(schema)
            self._make(self._columns)
        elif self._mode is Mode.APPEND:
            self._columns = matched(schema.names, there, self.where)
            self._make(self._columns)
        else:
            self._columns = matched(schema.names, there, self.where)
            self._check_replaceable()
            self._server.ask(f"CREATE TABLE {self._named(self._new)} AS {self._named(self._table)}")

    def write(self, batch: "pa.RecordBatch") -> None:
        with said_of(self.where):
            for lines in tab_lines(batch, self._columns):
                self._waiting.append(lines)
                self._waiting_bytes += len(lines)
                if self._waiting_bytes >= _LOADED_BYTES:
                    self._load()
        self._rows += batch.num_rows

    def commit(self) -> Written:
        self._load()
        for _ in range(_TRIES):
            if self._is_put():
                with suppress(OutputFailed):  # the rows are where they should be; a sweep will come
                    self._drop(self._new)
                    self._drop(self._old)
                self._server.close()
                return Written(rows=self._rows, bytes=self._bytes)
        raise OutputFailed(f"{self.where} is made and removed by others all the time: the rows were not put there")

    def abort(self) -> None:
        self._waiting.clear()
        self.sweep()
        self._server.close()

    def _made(self, schema: "pa.Schema") -> list[Column]:
        with said_of(self.where):
            return made(schema, self._known_types(), self.where)

    # In place

    def _is_put(self) -> bool:
        """False where the table appeared or went while we looked at it."""
        if not self._exists(self._table):
            return self._rename((self._new, self._table))
        if self._mode is Mode.APPEND:
            self._add()
            return True
        return self._is_exchanged() or self._rename((self._table, self._old), (self._new, self._table))

    def _is_exchanged(self) -> bool:
        """False where this server, or its file system, cannot."""
        if self._database_engine() not in _EXCHANGING:
            return False
        try:
            self._server.ask(f"EXCHANGE TABLES {self._named(self._new)} AND {self._named(self._table)}")
        except Refused as refused:
            if refused.code in _CANNOT:
                return False
            raise
        return True

    def _add(self) -> None:
        columns = _listed(self._columns)
        rows = {"min_insert_block_size_rows": str(self._rows + 1), "min_insert_block_size_bytes": "0"}
        settings = {
            "query_id": self._query_id(),
            "insert_deduplicate": "0",  # the same rows twice are two appends
            "insert_distributed_sync": "1",  # they are there when the server says so
            **(rows if self._bytes <= _ONE_BLOCK_BYTES else {}),
        }
        self._server.ask(
            f"INSERT INTO {self._named(self._table)} ({columns}) SELECT {columns} FROM {self._named(self._new)}",  # noqa: S608
            settings,
            seconds=_PUT_SECONDS,
        )

    def _rename(self, *pairs: tuple[str, str]) -> bool:
        renames = ", ".join(f"{self._named(name)} TO {self._named(to)}" for name, to in pairs)
        try:
            self._server.ask(f"RENAME TABLE {renames}")
        except Refused as refused:
            if refused.code == _EXISTS_ALREADY:
                return False
            raise
        return True

    # Aside

    def _make(self, columns: Iterable[Column]) -> None:
        described = ", ".join(map(str, columns))
        self._server.ask(f"CREATE TABLE {self._named(self._new)} ({described}) {_OWN_ENGINE}")

    def _load(self) -> None:
        if not self._waiting:
            return
        data = b"".join(self._waiting)
        self._waiting.clear()
        self._waiting_bytes = 0
        self._bytes += len(data)
        self._server.ask(
            f"INSERT INTO {self._named(self._new)} ({_listed(self._columns)}) FORMAT TabSeparated",
            {"query_id": self._query_id()},
            data=data,
            seconds=_LOAD_SECONDS,
        )

    def _check_replaceable(self) -> None:
        [[engine]] = self._ask_tables("engine", f"name = {literal(self._table)}")
        is_shared = engine.startswith(("Replicated", "Shared"))
        if engine not in _KEPT_HERE and (is_shared or not engine.endswith("MergeTree")):
            raise OutputFailed(
                f"{self.where} is a {engine}: only tables whose rows are kept on that server alone (MergeTree, Log, …) "
                "can be replaced; write_mode append serves"
            )

    def _drop(self, table: str) -> None:
        """A server may refuse to drop a large one (max_table_size_to_drop): then it stays until an admin does."""
        with suppress(Refused):
            self._server.ask(f"DROP TABLE IF EXISTS {self._named(table)}")

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

    # What is there

    def _tables(self) -> list[str]:
        return [name for [name] in self._ask_tables("name", f"name LIKE {literal(prefix(self._tag) + '%')}")]

    def _exists(self, table: str) -> bool:
        return bool(self._ask_tables("name", f"name = {literal(table)}"))

    def _ask_tables(self, column: str, condition: str) -> list[list[str]]:
        database = literal(self._database)
        return self._server.rows(f"SELECT {column} FROM system.tables WHERE database = {database} AND {condition}")  # noqa: S608

    def _described(self) -> list[Column]:
        if not self._exists(self._table):
            return []
        rows = self._server.ask(f"DESCRIBE TABLE {self._named(self._table)} FORMAT JSONCompact")
        return [Column(name=name, type=kind, default=default) for name, kind, default, *_ in json.loads(rows)["data"]]

    def _database_engine(self) -> str:
        found = self._server.rows(f"SELECT engine FROM system.databases WHERE name = {literal(self._database)}")  # noqa: S608
        return found[0][0] if found else ""

    def _known_types(self) -> frozenset[str]:
        names = ", ".join(map(literal, MAYBE_KNOWN))
        return frozenset(
            name
            for [name] in self._server.rows(f"SELECT name FROM system.data_type_families WHERE name IN ({names})")  # noqa: S608
        )

    def _named(self, table: str) -> str:
        return f"{identifier(self._database)}.{identifier(table)}"


def _listed(columns: Iterable[Column]) -> str:
    return ", ".join(identifier(column.name) for column in columns)
