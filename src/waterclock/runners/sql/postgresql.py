"""A schema of a PostgreSQL database: rows come by COPY, and all that is seen of them in one transaction.

A table that is replaced changes places with one that was made like it: columns, defaults, indexes and constraints; its
owner, its privileges and its sequences go over. Where others hold on to the table itself (views, triggers, policies,
partitions), it is emptied and filled in one transaction instead: readers wait for that long.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from waterclock.runners.sql import kept
from waterclock.runners.sql.aside import Aside, Stage, left_for, prefix
from waterclock.runners.sql.databases import Swap
from waterclock.runners.sql.evolving import Plan, TableColumn
from waterclock.runners.sql.outputs import OutputFailed, Tag
from waterclock.runners.sql.postgresql_swapping import belongings, is_held
from waterclock.runners.sql.postgresql_types import shape_named, type_named
from waterclock.runners.sql.reached import CONNECT_SECONDS, address_of
from waterclock.runners.sql.shapes import Shape
from waterclock.runners.sql.table_statements import Statements, quoted
from waterclock.runners.sql.table_values import copy_lines
from waterclock.runners.sql.tables import ROW
from waterclock.runners.sql.words import text_of

if TYPE_CHECKING:
    import pyarrow as pa

PORT: Final = 5432
_LONGEST_OF: Final = 20  # of a table's name in that of our line, which has 63 letters
# Whoever waits for a table makes all others wait behind him.
_SESSION: Final = "-c lock_timeout=60s -c TimeZone=UTC -c DateStyle=ISO -c client_encoding=UTF8"
_COLUMNS: Final = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    a.atthasdef OR a.attidentity <> '', a.attgenerated <> '' OR a.attidentity = 'a'
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_NAMES: Final = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind IN ('r', 'p')
"""
_OTHERS: Final = """
SELECT pid, application_name FROM pg_stat_activity
WHERE application_name LIKE %s AND pid <> pg_backend_pid() AND datname = current_database()
"""


class PostgresqlDatabase:
    longest_name = 63

    def __init__(self, config: Mapping[str, Any], *, schema: str, table: str, tag: Tag, allows_private: bool) -> None:
        self._config, self._schema, self._tag, self._allows_private = config, schema, tag, allows_private
        host, port, name = config.get("host"), config.get("port") or PORT, config.get("database")
        self.where = f"PostgreSQL at {host}:{port} {name}.{schema}.{table}"
        self._of = kept.short(table, _LONGEST_OF)
        self._sql = Statements(quoted(ROW))
        self._connection: Any = None

    def settle(self, tag: Tag) -> None:
        """A statement goes on when whoever sent it is gone."""
        for pid, name in self._rows(_OTHERS, f"{prefix(tag)}%"):
            if left_for(tag, self._of, [name]):
                with suppress(OutputFailed):  # of another user: then what it holds is waited for
                    self._rows("SELECT pg_terminate_backend(%s)", pid)

    def names(self) -> list[str]:
        return [name for [name] in self._rows(_NAMES, self._schema)]

    def columns(self, table: str) -> list[TableColumn]:
        return [
            TableColumn(name=name, type=kind, shape=shape_named(kind), needs_value=needed and not filled, is_made=made)
            for name, kind, needed, filled, made in self._rows(_COLUMNS, self._schema, table)
        ]

    def type_of(self, name: str, shape: Shape) -> str:
        return type_named(name, shape)

    def key_shape(self, shape: Shape) -> Shape:
        return shape

    def create(self, table: str, columns: Sequence[TableColumn], *, numbered: bool = False, lasts: bool = True) -> None:
        described = [f"{quoted(column.name)} {column.type}" for column in columns]
        if numbered:
            described.append(f"{quoted(ROW)} bigint GENERATED ALWAYS AS IDENTITY")
        self._do(f"CREATE {'' if lasts else 'UNLOGGED '}TABLE {self._named(table)} ({', '.join(described)})")

    def create_like(self, table: str, like: str) -> None:
        self._do(f"CREATE TABLE {self._named(table)} (LIKE {self._named(like)} INCLUDING ALL)")

    def alter(self, table: str, plan: Plan) -> None:
        changes = [f"ADD COLUMN {quoted(column.name)} {column.type}" for column in plan.added]
        changes += [f"ALTER COLUMN {quoted(column.name)} TYPE {column.type}" for column in plan.widened]
        if changes:
            self._do(f"ALTER TABLE {self._named(table)} {', '.join(changes)}")

    def load(self, table: str, columns: Sequence[TableColumn], batch: "pa.RecordBatch") -> int:
        size = 0
        statement = f"COPY {self._named(table)} ({self._sql.listed(columns)}) FROM STDIN"
        with self._complaining() as connection, connection.cursor() as cursor, cursor.copy(statement) as copy:
            for lines in copy_lines(batch):
                copy.write(lines)
                size += len(lines)
        return size

    def keep_last(self, table: str, keys: Sequence[str]) -> None:
        self._do(f"ANALYZE {self._named(table)}")
        self._do(self._sql.keep_last(self._named(table), keys))

    def make_keyed(self, table: str, keys: Sequence[str]) -> None:
        names = ", ".join(map(quoted, keys))
        self._do(f"ALTER TABLE {self._named(table)} DROP COLUMN {quoted(ROW)}, ADD PRIMARY KEY ({names})")

    @contextmanager
    def putting(self) -> Iterator[None]:
        with self._complaining() as connection, connection.transaction():
            yield

    def rename(self, table: str, to: str) -> None:
        self._do(f"ALTER TABLE {self._named(table)} RENAME TO {quoted(to)}")

    def swap(self, swap: Swap, plan: Plan) -> None:
        with self.putting():
            self._do(f"LOCK TABLE {self._named(swap.table)} IN ACCESS EXCLUSIVE MODE")
            if is_held(self._rows, self._schema, swap.table):
                self._refill(swap, plan)
                return
            for statement in belongings(self._rows, self._schema, swap.table, swap.new):
                self._do(statement)
            self.rename(swap.table, swap.kept or swap.old)
            self.rename(swap.new, swap.table)
            if not swap.kept:
                self.drop(swap.old)

    def add(self, table: str, new: str, columns: Sequence[TableColumn]) -> None:
        self._do(self._sql.add(self._named(table), self._named(new), columns))

    def merge(self, table: str, new: str, columns: Sequence[TableColumn], keys: Sequence[str]) -> None:
        """Others may read meanwhile, and nobody else may write: so there need be no unique index."""
        there, aside = self._named(table), self._named(new)
        self._do(f"LOCK TABLE {there} IN SHARE ROW EXCLUSIVE MODE")
        if update := self._sql.update(there, aside, columns, keys):
            self._do(update)
        self._do(self._sql.add_missing(there, aside, columns, keys))

    def drop(self, table: str) -> None:
        self._do(f"DROP TABLE IF EXISTS {self._named(table)}")

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _refill(self, swap: Swap, plan: Plan) -> None:
        table = self._named(swap.table)
        if swap.kept:
            self._do(f"CREATE TABLE {self._named(swap.kept)} AS TABLE {table}")
        self.alter(swap.table, plan)
        self._do(f"TRUNCATE {table}")
        self.add(swap.table, swap.new, plan.columns)

    def _named(self, table: str) -> str:
        return f"{quoted(self._schema)}.{quoted(table)}"

    def _do(self, statement: str) -> None:
        with self._complaining() as connection:
            connection.execute(statement)

    def _rows(self, statement: str, *values: object) -> list[Any]:
        with self._complaining() as connection:
            return list(connection.execute(statement, values).fetchall())

    @contextmanager
    def _complaining(self) -> Iterator[Any]:
        import psycopg

        try:
            yield self._connected()
        except psycopg.Error as problem:
            raise OutputFailed(f"{self.where}: {text_of(problem)}") from None

    def _connected(self) -> Any:
        import psycopg

        if self._connection is None:
            host, port = str(self._config.get("host")), int(self._config.get("port") or PORT)
            address = address_of(host, port, where=self.where, allows_private=self._allows_private)
            self._connection = psycopg.connect(
                host=host,
                hostaddr=address,
                port=port,
                dbname=self._config.get("database"),
                user=self._config.get("user"),
                password=self._config.get("password"),
                connect_timeout=int(CONNECT_SECONDS),
                application_name=str(Aside(tag=self._tag, stage=Stage.NEW, of=self._of)),
                options=_SESSION,
                keepalives_idle=10,
                keepalives_interval=5,
                keepalives_count=4,
                autocommit=True,
                **_encrypted(self._config),
            )
        return self._connection


def _encrypted(config: Mapping[str, Any]) -> dict[str, Any]:
    options = config.get("options") or {}
    return {name: str(options[name]) for name in ("sslmode", "sslrootcert") if name in options}
