"""A table that changes, where a sync reads it, and the places where its rows arrive: each told by a fingerprint."""

import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import asyncmy
import asyncpg

from tests.lake.file_systems import Files
from tests.lake.syncs import DESTINATION, Program
from tests.lake.writers import numbers
from tests.services.clickhouse import HttpClickhouse
from tests.services.database import beside_any_loop
from waterclock.runners.sql.kept import Kept

ROWS: Final = 1_200
Row = Sequence[object]


def fingerprint(rows: Iterable[Row]) -> str:
    """Of the rows, in whatever order."""
    lines = sorted(json.dumps(_plain(row)) for row in rows)
    return f"{len(lines)} rows, {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:12]}"


def _plain(row: Row) -> list[str]:
    number, name, price, version = row
    return [str(number), str(name), f"{float(str(price)):.2f}", str(version)]


class Shop:
    """In an SQLite file: every change adds rows and alters others, all with a version higher than any before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.version = 0
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute("CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT, price REAL, version INTEGER)")
        self.change(ROWS)

    def change(self, added: int = 10) -> None:
        self.version += 1
        self._file.execute("BEGIN")
        self._file.execute(
            "UPDATE shop SET price = price + 1, version = ? WHERE id % 97 = ?", (self.version, self.version % 97)
        )
        new = [(f"name {number}", number / 4, self.version) for number in range(added)]
        self._file.executemany("INSERT INTO shop (name, price, version) VALUES (?, ?, ?)", new)
        self._file.execute("COMMIT")

    def execute(self, statement: str) -> None:
        self._file.execute(statement)

    @property
    def source(self) -> tuple[str, Mapping[str, Any]]:
        return "sqlite", {"path": str(self.path)}

    def fingerprint(self) -> str:
        return fingerprint(self._file.execute("SELECT id, name, price, version FROM shop").fetchall())


class Destination:
    """What an order needs to write there, and what a reader finds there."""

    output: Mapping[str, Any]
    order: Mapping[str, Any]
    sources: Mapping[int, tuple[str, Mapping[str, Any]]] = {}
    may_be_away = False  # for as long as nobody has swept after a kill: see swapping.py

    def rows(self) -> list[Row] | None:
        """None where there is no table."""
        raise NotImplementedError

    def names(self) -> Sequence[str]:
        """All that stands beside it, too."""
        raise NotImplementedError

    def fingerprint(self) -> str:
        rows = self.rows()
        return "nothing" if rows is None else fingerprint(rows)

    def aside(self) -> list[str]:
        """What was not put away; what a full sync keeps for a day is no part of it."""
        return [name for name in self.names() if name.startswith(".waterclock-") and Kept.read(name) is None]


class ParquetFolder(Destination):
    def __init__(self, program: Program, files: Files, folder: str) -> None:
        self._program, self._files, self._folder = program, files, folder
        self.may_be_away = not files.uri.startswith("s3://")
        config = {"class_name": "hadoop_config", "hdfs_uri": files.uri, "result_path": f"{folder}/abc"}
        self.output, self.order = {"type": "parquet", "config": config}, files.order

    def rows(self) -> list[Row] | None:
        parts = self._files.parts(f"{self._folder}/abc")
        found: list[Row] = []
        with tempfile.TemporaryDirectory() as folder:
            for name, data in parts.items():
                path = Path(folder, name)
                path.write_bytes(data)
                found += self._program.ask("parquet", path=str(path))
        return found if parts else None

    def names(self) -> Sequence[str]:
        return [*self._files.list(self._folder), *self._files.list(f"{self._folder}/abc")]


class ClickhouseTable(Destination):
    def __init__(self, server: HttpClickhouse) -> None:
        self._server, self._database = server, f"shop{next(numbers)}"
        server.query(f"CREATE DATABASE {self._database}")
        config = {"class_name": "clickhouse_config", "database": self._database, "table_name": "abc"}
        self.output = {"type": "datainsider", "config": config}
        self.order = {"clickhouse": {"url": server.url, "user": server.user, "password": server.password}}

    def rows(self) -> list[Row] | None:
        if "abc" not in self.names():
            return None
        said = self._server.query(f"SELECT id, name, price, version FROM {self._database}.abc")
        return [line.split("\t") for line in said.splitlines()]

    def names(self) -> Sequence[str]:
        return self._server.query(f"SHOW TABLES FROM {self._database}").splitlines()


class PostgresqlTable(Destination):
    order: Mapping[str, Any] = {}

    def __init__(self, url: str) -> None:
        self._url = url
        self.output = {
            "type": "postgresql",
            "config": {"class_name": "database_config", "source_id": DESTINATION, "table_name": "abc"},
        }
        self.sources = {DESTINATION: postgresql_source(url)}

    def rows(self) -> list[Row] | None:
        return self._ask("SELECT id, name, price, version FROM abc") if "abc" in self.names() else None

    def names(self) -> Sequence[str]:
        return [str(row[0]) for row in self._ask("SELECT relname FROM pg_class WHERE relkind = 'r' AND oid > 16384")]

    def _ask(self, statement: str) -> list[Row]:
        return asked(self._url, statement)


class MysqlTable(Destination):
    order: Mapping[str, Any] = {}

    def __init__(self, url: str) -> None:
        self._url = url
        self.output = {
            "type": "mysql",
            "config": {"class_name": "database_config", "source_id": DESTINATION, "table_name": "abc"},
        }
        self.sources = {DESTINATION: ("mysql", config_of(url))}

    def rows(self) -> list[Row] | None:
        return self._ask("SELECT id, name, price, version FROM abc") if "abc" in self.names() else None

    def names(self) -> Sequence[str]:
        return [str(row[0]) for row in self._ask("SHOW TABLES")]

    def _ask(self, statement: str) -> list[Row]:
        return asked_mariadb(self._url, statement)


class DuckdbTable(Destination):
    def __init__(self, program: Program, folder: Path) -> None:
        self._program, self._path = program, folder / "abc.duckdb"
        self.output = {
            "type": "duckdb",
            "config": {"class_name": "duckdb_config", "path": str(self._path), "table_name": "abc"},
        }
        self.order = {"roots": [str(folder)]}

    def rows(self) -> list[Row] | None:
        return self._ask("SELECT id, name, price, version FROM abc") if "abc" in self.names() else None

    def names(self) -> Sequence[str]:
        return [str(row[0]) for row in self._ask("SELECT table_name FROM duckdb_tables()")]

    def _ask(self, statement: str) -> list[Row]:
        if not self._path.exists():
            return []
        found: list[Row] = self._program.ask("duckdb_table", path=str(self._path), statement=statement)
        return found


def asked(url: str, statement: str) -> list[Row]:
    """What PostgreSQL answers."""
    found: list[Row] = []

    async def ask() -> None:
        connection = await asyncpg.connect(url)
        try:
            found.extend(tuple(row.values()) for row in await connection.fetch(statement))
        finally:
            await connection.close()

    beside_any_loop(ask())
    return found


def asked_mariadb(url: str, statement: str) -> list[Row]:
    config = config_of(url)
    found: list[Row] = []

    async def ask() -> None:
        named = {"host": config["host"], "port": config["port"], "db": config["database"]}
        connection = await asyncmy.connect(**named, user=config["user"], password=config["password"])
        async with connection.cursor() as cursor:
            await cursor.execute(statement)
            found.extend(await cursor.fetchall())
        await connection.ensure_closed()

    beside_any_loop(ask())
    return found


def postgresql_source(url: str, **other: object) -> tuple[str, Mapping[str, Any]]:
    return "postgresql", {**config_of(url), **other}


def config_of(url: str) -> Mapping[str, Any]:
    parts = urlsplit(url)
    login = {"user": parts.username, "password": parts.password or ""}
    return {"host": parts.hostname, "port": parts.port, "database": parts.path.strip("/"), **login}
