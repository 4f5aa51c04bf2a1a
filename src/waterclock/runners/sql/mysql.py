"""A database of MySQL or MariaDB: rows come by inserts of many at a time, and are seen at the end of a transaction.

A table that is replaced changes places with one that was made like it, by one RENAME TABLE, which all see at once:
columns, defaults and indexes are the same, and privileges go by name. Triggers and foreign keys would stay with the old
one: such a table is not replaced. What changes a table (a column added or widened) is done before its rows come.
"""

import re
import socket
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from waterclock.runners.sql import kept
from waterclock.runners.sql.databases import Swap
from waterclock.runners.sql.evolving import Plan, TableColumn
from waterclock.runners.sql.mysql_types import is_long, shape_named, type_named
from waterclock.runners.sql.outputs import OutputFailed, Tag
from waterclock.runners.sql.reached import CONNECT_SECONDS, address_of
from waterclock.runners.sql.shapes import Family, Shape
from waterclock.runners.sql.table_statements import MysqlStatements
from waterclock.runners.sql.table_values import mysql_rows
from waterclock.runners.sql.tables import ROW

if TYPE_CHECKING:
    import pyarrow as pa

PORT: Final = 3306
_SESSION: Final = (
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES', time_zone = '+00:00', lock_wait_timeout = 60,"
    " innodb_lock_wait_timeout = 60"
)
_INSERTED_BYTES: Final = 1024 * 1024  # in one statement, where the server takes as much
_KEY_LETTERS: Final = 255  # of a text that is a key: an index has room for three
_INDEXED_LETTERS: Final = 64
_WAIT_SECONDS: Final = 60
_LONGEST_LOCKED: Final = 40  # of 64 letters that the name of a lock may have
_OWN: Final = "ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"  # a key is what it is, to the letter
_TYPE_SAID: Final = re.compile(r"\w+(\([^)]*\))?( unsigned)?( zerofill)?")
_COLUMNS: Final = (
    "SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, CHARACTER_SET_NAME, COLLATION_NAME"
    " FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {0} ORDER BY ORDINAL_POSITION"
)
_HELD: Final = (
    "SELECT 'a trigger', TRIGGER_NAME FROM information_schema.TRIGGERS"
    " WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = {0} UNION ALL"
    " SELECT 'a foreign key', CONSTRAINT_NAME FROM information_schema.KEY_COLUMN_USAGE"
    " WHERE REFERENCED_TABLE_NAME IS NOT NULL AND ((TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {0})"
    " OR (REFERENCED_TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME = {0}))"
)


class MysqlDatabase:
    longest_name = 64

    def __init__(self, config: Mapping[str, Any], *, table: str, tag: Tag, allows_private: bool) -> None:
        self._config, self._table, self._tag, self._allows_private = config, table, tag, allows_private
        host, port = config.get("host"), config.get("port") or PORT
        self.where = f"MySQL at {host}:{port} {config.get('database')}.{table}"
        self._sql = MysqlStatements(f"`{ROW}`")
        self._connection: Any = None
        self._most_bytes = 0

    def settle(self, tag: Tag) -> None:
        """The server lets go of a name when whoever held it is gone, and what he had begun is undone."""
        name = _literal(f"waterclock-{tag.job_id}-{kept.short(self._table, _LONGEST_LOCKED)}")
        [[got]] = self._rows(f"SELECT GET_LOCK({name}, {_WAIT_SECONDS})")
        if not got:
            raise OutputFailed(
                f"{self.where}: an earlier run of this job is still at work there, after {_WAIT_SECONDS} s"
            )

    def names(self) -> list[str]:
        return [name for name, kind in self._rows("SHOW FULL TABLES") if kind == "BASE TABLE"]

    def columns(self, table: str) -> list[TableColumn]:
        found = self._rows(_COLUMNS.format(_literal(table)))
        return [_column(*each) for each in found]

    def type_of(self, name: str, shape: Shape) -> str:
        return type_named(name, shape)

    def key_shape(self, shape: Shape) -> Shape:
        return replace(shape, size=_KEY_LETTERS) if shape.family is Family.TEXT else shape

    def create(self, table: str, columns: Sequence[TableColumn], *, numbered: bool = False, lasts: bool = True) -> None:
        described = [f"{self._sql.name(column.name)} {column.type}" for column in columns]
        if numbered:
            described.append(f"{self._sql.name(ROW)} bigint AUTO_INCREMENT PRIMARY KEY")
        self._do(f"CREATE TABLE {self._sql.name(table)} ({', '.join(described)}) {_OWN}")

    def create_like(self, table: str, like: str) -> None:
        if held := self._rows(_HELD.format(_literal(like))):
            what, name = held[0]
            raise OutputFailed(
                f"{self.where} has {what}, {name}, which would stay with the old rows: it is not replaced"
            )
        self._do(f"CREATE TABLE {self._sql.name(table)} LIKE {self._sql.name(like)}")

    def alter(self, table: str, plan: Plan) -> None:
        changes = [f"ADD COLUMN {self._described(column)}" for column in plan.added]
        changes += [f"MODIFY COLUMN {self._described(column)}{self._rest(table, column)}" for column in plan.widened]
        if changes:
            self._do(f"ALTER TABLE {self._sql.name(table)} {', '.join(changes)}")

    def load(self, table: str, columns: Sequence[TableColumn], batch: "pa.RecordBatch") -> int:
        begin = f"INSERT INTO {self._sql.name(table)} ({self._sql.listed(columns)}) VALUES ".encode()  # noqa: S608
        size = 0
        with self.putting():
            for rows in _in_pieces(mysql_rows(batch), self._statement_bytes()):
                self._send(begin + rows)
                size += len(rows)
        return size

    def keep_last(self, table: str, keys: Sequence[str]) -> None:
        """With an index, by which the rows of the other table find theirs here: it may have none."""
        name = self._sql.name(table)
        with suppress(OutputFailed):  # not every column can have one
            self._do(f"ALTER TABLE {name} ADD INDEX ({', '.join(self._indexed(table, keys))})")
        self._rows(f"ANALYZE TABLE {name}")
        with self.putting():
            self._do(self._sql.keep_last(name, keys))

    def make_keyed(self, table: str, keys: Sequence[str]) -> None:
        names = ", ".join(map(self._sql.name, keys))
        dropped = f"DROP COLUMN {self._sql.name(ROW)}"
        self._do(f"ALTER TABLE {self._sql.name(table)} {dropped}, ADD PRIMARY KEY ({names})")

    @contextmanager
    def putting(self) -> Iterator[None]:
        try:
            yield
            self._send(b"COMMIT")
        except BaseException:
            with suppress(OutputFailed):
                self._send(b"ROLLBACK")
            raise

    def rename(self, table: str, to: str) -> None:
        self._do(f"RENAME TABLE {self._sql.name(table)} TO {self._sql.name(to)}")

    def swap(self, swap: Swap, plan: Plan) -> None:
        table, new, old = map(self._sql.name, (swap.table, swap.new, swap.kept or swap.old))
        self._do(f"RENAME TABLE {table} TO {old}, {new} TO {table}")

    def add(self, table: str, new: str, columns: Sequence[TableColumn]) -> None:
        self._do(self._sql.add(self._sql.name(table), self._sql.name(new), columns))

    def merge(self, table: str, new: str, columns: Sequence[TableColumn], keys: Sequence[str]) -> None:
        there, aside = self._sql.name(table), self._sql.name(new)
        if update := self._sql.update(there, aside, columns, keys):
            self._do(update)
        self._do(self._sql.forget_known(there, aside, keys))
        self._do(self._sql.add(there, aside, columns))

    def drop(self, table: str) -> None:
        self._do(f"DROP TABLE IF EXISTS {self._sql.name(table)}")

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with self._complaining(), suppress(OSError):
                connection.close()

    def _indexed(self, table: str, keys: Sequence[str]) -> list[str]:
        """Of long texts and bytes only the begin."""
        shapes = {column.name: column.shape for column in self.columns(table)}
        names = [(self._sql.name(key), shapes[key]) for key in keys]
        return [f"{name}({_INDEXED_LETTERS})" if is_long(shape) else name for name, shape in names]

    def _described(self, column: TableColumn) -> str:
        return f"{self._sql.name(column.name)} {column.type}"

    def _rest(self, table: str, column: TableColumn) -> str:
        """What else the table says of a column (NOT NULL, DEFAULT …), which it forgets unless it is said again."""
        [[_, text]] = self._rows(f"SHOW CREATE TABLE {self._sql.name(table)}")
        begin = f"{self._sql.name(column.name)} "
        lines = [line.strip().removesuffix(",") for line in text.splitlines()]
        said = next((line.removeprefix(begin) for line in lines if line.startswith(begin)), "")
        found = _TYPE_SAID.match(said)
        return said[found.end() :] if found else ""

    def _statement_bytes(self) -> int:
        if not self._most_bytes:
            [[most]] = self._rows("SELECT @@max_allowed_packet")
            self._most_bytes = min(_INSERTED_BYTES, int(most) // 2)
        return self._most_bytes

    def _do(self, statement: str) -> None:
        self._send(statement.encode())

    def _send(self, statement: bytes) -> None:
        with self._complaining() as connection:
            connection.query(statement)

    def _rows(self, statement: str) -> list[Any]:
        with self._complaining() as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    @contextmanager
    def _complaining(self) -> Iterator[Any]:
        import pymysql

        try:
            yield self._connected()
        except pymysql.MySQLError as problem:
            words = problem.args[1] if len(problem.args) > 1 else problem
            raise OutputFailed(f"{self.where}: {words}") from None

    def _connected(self) -> Any:
        if self._connection is None:
            self._connection = self._new_connection()
            self._connection.query(_SESSION.encode())
        return self._connection

    def _new_connection(self) -> Any:
        import pymysql

        host, port = str(self._config.get("host")), int(self._config.get("port") or PORT)
        address = address_of(host, port, where=self.where, allows_private=self._allows_private)
        connection = pymysql.Connection(
            host=host,  # for its certificate
            port=port,
            user=self._config.get("user"),
            password=self._config.get("password") or "",
            database=self._config.get("database"),
            charset="utf8mb4",
            autocommit=False,
            defer_connect=True,
            **_encrypted(self._config),
        )
        line = socket.create_connection((address, port), timeout=CONNECT_SECONDS)
        line.settimeout(None)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.connect(line)
        return connection


def _column(name: str, kind: str, nullable: str, default: object, extra: str, letters: str, order: str) -> TableColumn:
    made = "GENERATED" in extra.upper()
    filled = default is not None or "auto_increment" in extra.lower()
    collated = f"{kind} CHARACTER SET {letters} COLLATE {order}" if letters and order else kind
    return TableColumn(
        name=name, type=collated, shape=shape_named(kind), needs_value=nullable == "NO" and not filled, is_made=made
    )


def _in_pieces(rows: "pa.Array", most: int) -> Iterator[bytes]:
    """As many rows as a statement has room for, at least one."""
    _, offsets, data = rows.buffers()
    if data is None:
        return
    ends = memoryview(offsets).cast("q")[rows.offset : rows.offset + len(rows) + 1]
    first = 0
    while first < len(rows):
        last = max(bisect_right(ends, ends[first] + most) - 1, first + 1)
        yield bytes(memoryview(data)[ends[first] : ends[last] - 1])  # without the last comma
        first = last


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _encrypted(config: Mapping[str, Any]) -> dict[str, Any]:
    options = config.get("options") or {}
    return {"ssl_ca": str(options["ssl_ca"])} if "ssl_ca" in options else {}
