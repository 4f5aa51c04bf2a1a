"""MySQL and MariaDB: rows come from one statement, which sees one moment of the database.

What is asked before it (the watermark, the columns) sees an earlier one. A row that comes in between is read if it is
below the watermark, and else by the next run.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from waterclock.runners.sync.database.asked import Asked
from waterclock.runners.sync.database.columns import Column, Scale, scale_of
from waterclock.runners.sync.database.line import NAME, Line, text
from waterclock.runners.sync.database.server import Server, server_of
from waterclock.runners.sync.database.wording import row_of_nothing, select
from waterclock.runners.sync.source import Means, SourceFailed

PORT: Final = 3306
_OPTIONS: Final = frozenset({"ssl_mode", "compress"})
_MOST_DIGITS: Final = 38
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_SHAPES: Final = frozenset(
    {
        *("geometry", "point", "linestring", "polygon"),
        *("multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection"),
    }
)
_TEXT: Final = "CONVERT({} USING utf8mb4)"  # what is compared byte by byte looks like bytes
_SYSTEM: Final = "('information_schema', 'mysql', 'performance_schema', 'sys')"


class Mysql:
    def __init__(self, config: Mapping[str, Any], means: Means, *, database: str = "") -> None:
        self._server = server_of(config, means, product="MySQL", port=PORT, known=_OPTIONS, database=database)
        self.where = self._server.where

    def open(self) -> Line:
        line = Line(self.where, extension="mysql_scanner", asks=_asks, hidden=[self._server.password])
        try:
            # A date of zeros is none; tinyint(1) may hold more than a truth; moments are asked for in UTC.
            line.set(
                mysql_session_time_zone="+00:00",
                mysql_incomplete_dates_as_nulls="true",
                mysql_tinyint1_as_boolean="false",
            )
            _attach(line, self._server)
        except BaseException:
            line.close()
            raise
        return line

    def relation(self, asked: Asked) -> str:
        return f"(\n{asked.query}\n) AS asked" if asked.query else ".".join(map(self.identifier, asked.table))

    def columns(self, line: Line, asked: Asked) -> Sequence[Column]:
        relation = self.relation(asked)
        shape = line.shape(select("*", relation))
        declared = {} if asked.query else self._declared(line, asked)
        texts = self._texts(line, relation, [name for name, kind in shape if kind == "BLOB"])
        return [_column(name, kind, declared.get(name), is_text=name in texts) for name, kind in shape]

    def _declared(self, line: Line, asked: Asked) -> Mapping[str, Mapping[str, Any]]:
        """As its catalogue has them: of a result DuckDB knows less."""
        texts = f"{_TEXT.format('column_name')} AS name, {_TEXT.format('data_type')} AS type"
        what = f"{texts}, numeric_precision AS digits, numeric_scale AS scale"
        found = line.ask(select(what, "information_schema.columns", *self._is_it(asked)))
        return {str(each["name"]): each for each in found}

    def _texts(self, line: Line, relation: str, names: Sequence[str]) -> frozenset[str]:
        """Those that only look like bytes: JSON, UUIDs, and whatever is compared byte by byte."""
        if not names:
            return frozenset()
        asked = ", ".join(f"charset(q.{self.identifier(name)}) AS c{at}" for at, name in enumerate(names))
        [row] = line.ask(row_of_nothing(asked, relation))
        return frozenset(name for at, name in enumerate(names) if row[f"c{at}"] != "binary")

    def identifier(self, name: str) -> str:
        escaped = name.replace("`", "``")
        return f"`{escaped}`"

    def literal(self, value: str, column: Column) -> str:
        if column.scale is Scale.NUMBER:
            if not _NUMBER.fullmatch(value):
                raise SourceFailed(f"{self.where}: {value!r} is no number, and {column.name} is {column.kind}")
            return value
        return self._text(value.removesuffix("+00:00") if column.scale is Scale.MOMENT else value)

    def _text(self, value: str) -> str:
        """The same whatever the server thinks of backslashes."""
        return f"_utf8mb4 x'{value.encode().hex()}'"

    def latest(self, column: Column, lag_seconds: float | None) -> str:
        grace = "INTERVAL 0 SECOND" if column.has_zone else "INTERVAL 1 DAY"
        moment = "utc_timestamp(6)"
        moment += f" + {grace}" if lag_seconds is None else f" - INTERVAL {lag_seconds:f} SECOND"
        return f"date({moment})" if column.scale is Scale.DAY else f"({moment})"

    def estimate(self, line: Line, asked: Asked) -> int | None:
        what = "CAST(table_rows AS SIGNED) AS found"
        found = line.ask(select(what, "information_schema.tables", *self._is_it(asked)))
        return int(found[0]["found"] or 0) or None if found else None

    def _is_it(self, asked: Asked) -> tuple[str, str]:
        *schema, table = asked.table
        of = self._text(schema[0]) if schema else "database()"
        return f"table_schema = {of}", f"table_name = {self._text(table)}"

    def version(self, line: Line) -> str:
        [found] = line.ask("SELECT version() AS version")
        version = str(found["version"])
        return version if "MariaDB" in version else f"MySQL {version}"

    def tables(self, line: Line) -> Sequence[str]:
        what = f"{_TEXT.format('table_schema')} AS s, {_TEXT.format('table_name')} AS n"
        found = line.ask(select(what, "information_schema.tables", f"table_schema NOT IN {_SYSTEM}"))
        return sorted(f"{self._plain(each['s'])}.{self._plain(each['n'])}" for each in found)

    def _plain(self, name: str) -> str:
        return self.identifier(name) if "." in name or '"' in name or "`" in name else name


def _column(name: str, kind: str, declared: Mapping[str, Any] | None, *, is_text: bool) -> Column:
    column = Column(name=name, kind=kind, scale=scale_of(kind))
    if is_text:
        return replace(column, kind="VARCHAR", read=_TEXT, scale=Scale.TEXT)
    match declared and declared["type"]:
        case "decimal":
            assert declared is not None
            return _decimal(column, int(declared["digits"]), int(declared["scale"]))
        case "timestamp":
            return replace(column, has_zone=True)
        case "bit" if kind == "BLOB":
            return replace(column, kind="UBIGINT", read="CAST({} AS UNSIGNED)", scale=Scale.NONE)
        case str(shape) if shape in _SHAPES:
            return replace(column, kind="VARCHAR", read="ST_AsText({})", scale=Scale.NONE)
    if found := _DECIMAL.fullmatch(kind):
        digits, scale = map(int, found.groups())
        return _decimal(column, digits + (1 if scale else 2), scale)
    return column


def _decimal(column: Column, digits: int, scale: int) -> Column:
    """By way of a text: of one without a sign or a fraction DuckDB takes some digits too few; of long ones all."""
    as_text = replace(column, kind=f"decimal({digits}, {scale})", read="CAST({} AS CHAR)", scale=Scale.NUMBER)
    return replace(as_text, decimal=(digits, scale)) if digits <= _MOST_DIGITS else as_text


def _asks(statement: str) -> str:
    return f"mysql_query('{NAME}', {text(statement)})"


def _attach(line: Line, server: Server) -> None:
    """Held to the addresses that were found public, the first that answers."""
    named = {"PORT": server.port, "DATABASE": server.database, "USER": server.user}
    if server.password:
        named["PASSWORD"] = server.password
    options = {"compress": "0", **server.options}  # it costs more than it saves, where a line is not slow
    address = " ".join(f'{name}="{_escaped(value)}"' for name, value in options.items())
    hosts = server.addresses or (server.host,)
    for host in hosts:
        try:
            line.attach(address, "mysql", {"HOST": host, **named})
        except SourceFailed as failed:
            if host == hosts[-1] or "cannot be reached" not in str(failed):
                raise
        else:
            return


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
