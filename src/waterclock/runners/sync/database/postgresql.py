"""PostgreSQL: all that a sync asks is asked in one read-only transaction, which sees one moment of the database."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from waterclock.runners.sync.database.asked import Asked
from waterclock.runners.sync.database.columns import Column, Scale, scale_of
from waterclock.runners.sync.database.line import NAME, Line, identifier, text
from waterclock.runners.sync.database.server import Server, server_of
from waterclock.runners.sync.database.wording import row_of_nothing, select
from waterclock.runners.sync.source import Means

PORT: Final = 5432
_OPTIONS: Final = frozenset({"sslmode", "connect_timeout", "application_name", "target_session_attrs"})
# A server whose machine is gone says nothing: the system asks for it, while we wait for rows.
_USUAL: Final[Mapping[str, str]] = {
    "connect_timeout": "10",
    "application_name": "waterclock",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "60000",
}
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),(\d+)\)(\[\])?")
# What DuckDB or Arrow has no like of: as PostgreSQL itself writes it.
_TEXTS: Final = frozenset({"interval", "time with time zone"})
_TABLES: Final = """
SELECT n.nspname AS schema, c.relname AS name FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1, 2
"""


class Postgresql:
    def __init__(self, config: Mapping[str, Any], means: Means, *, database: str = "") -> None:
        self._server = server_of(config, means, product="PostgreSQL", port=PORT, known=_OPTIONS, database=database)
        self.where = self._server.where

    def open(self) -> Line:
        line = Line(self.where, extension="postgres_scanner", asks=_asks, hidden=[self._server.password])
        try:
            line.attach(_address(self._server), "postgres", _secret(self._server))
            [found] = line.ask("SELECT pg_backend_pid() AS pid")
        except BaseException:
            line.close()
            raise
        line.cancel = lambda: line.ask_beside(f"SELECT pg_cancel_backend({int(found['pid'])}) AS done")
        return line

    def relation(self, asked: Asked) -> str:
        return f"(\n{asked.query}\n) AS asked" if asked.query else ".".join(map(self.identifier, asked.table))

    def columns(self, line: Line, asked: Asked) -> Sequence[Column]:
        relation = self.relation(asked)
        shape = line.shape(select("*", relation))
        if not shape:
            return []
        # A row of nothing knows the types of its columns, and costs nothing; domains are known by what they are of.
        types = ", ".join(
            f"{_TYPE.format(self.identifier(name))} AS {_numbered(at)}" for at, (name, _) in enumerate(shape)
        )
        [row] = line.ask(row_of_nothing(types, relation))
        return [_column(name, kind, str(row[_numbered(at)])) for at, (name, kind) in enumerate(shape)]

    def identifier(self, name: str) -> str:
        return identifier(name)

    def literal(self, value: str, column: Column) -> str:
        """Untyped: it is read as what it is compared with."""
        escaped = value.replace("\\", "\\\\")
        return f"E{text(escaped)}" if "\\" in value else text(value)

    def latest(self, column: Column, lag_seconds: float | None) -> str:
        now = "now()" if column.has_zone else "localtimestamp"
        grace = "interval '0'" if column.has_zone else "interval '1 day'"
        moment = f"{now} + {grace}" if lag_seconds is None else f"{now} - interval '{lag_seconds:f} seconds'"
        return f"({moment})::date" if column.scale is Scale.DAY else f"({moment})"

    def estimate(self, line: Line, asked: Asked) -> int | None:
        name = self.literal(self.relation(asked), Column(name="", kind=""))
        found = line.ask(select("reltuples::bigint AS rows", "pg_catalog.pg_class", f"oid = to_regclass({name})"))
        rows = int(found[0]["rows"]) if found else -1
        return rows if rows > 0 else None  # -1: it was never analysed; 0: it may just not have been

    def version(self, line: Line) -> str:
        [found] = line.ask("SELECT split_part(version(), ' on ', 1) AS version")
        return str(found["version"])

    def tables(self, line: Line) -> Sequence[str]:
        return [f"{_plain(each['schema'])}.{_plain(each['name'])}" for each in line.ask(_TABLES)]


_TYPE: Final = (
    "(SELECT format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END, NULL) "
    "FROM pg_catalog.pg_type t WHERE t.oid = pg_typeof(q.{})::oid)"
)


def _column(name: str, kind: str, known_as: str) -> Column:
    column = Column(name=name, kind=kind, scale=scale_of(kind), has_zone=kind == "TIMESTAMP WITH TIME ZONE")
    if known_as == "numeric" and not _fits(kind):
        return replace(column, kind="numeric", read="{}::text", scale=Scale.NUMBER)
    if known_as == "numeric[]" and not _fits(kind):
        return replace(column, read="{}::text[]", scale=Scale.NONE)
    if known_as in _TEXTS:
        return replace(column, kind=known_as, read="{}::text", scale=Scale.NONE)
    if known_as.endswith("[]") and not kind.endswith("[]"):
        return replace(column, kind=known_as, read="{}::text[]", scale=Scale.NONE)
    return column


def _fits(kind: str) -> bool:
    """Without a precision, or with more than 38 digits, DuckDB would make it a float."""
    found = _DECIMAL.fullmatch(kind)
    return bool(found) and int(found.group(2)) <= int(found.group(1))  # type: ignore[union-attr]


def _asks(statement: str) -> str:
    return f"postgres_query('{NAME}', {text(statement)})"


def _address(server: Server) -> str:
    """What is no secret. Held to the addresses that were found public, each with the name that TLS asks for."""
    given = {**_USUAL, **server.options}
    if server.addresses:
        given["hostaddr"] = ",".join(server.addresses)
    return " ".join(f"{name}={_quoted(value)}" for name, value in given.items())


def _secret(server: Server) -> Mapping[str, object]:
    host = ",".join([server.host] * max(1, len(server.addresses)))
    named = {"HOST": host, "PORT": server.port, "DATABASE": server.database, "USER": server.user}
    return {**named, "PASSWORD": server.password} if server.password else named


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _numbered(at: int) -> str:
    return f"c{at}"


def _plain(name: str) -> str:
    return identifier(name) if "." in name or '"' in name else name
