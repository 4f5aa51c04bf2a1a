"""Databases as sources: real PostgreSQL, MariaDB and SQLite, read by the interpreter that syncs run under."""

import asyncio
import hashlib
import json
import sqlite3
import subprocess
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import asyncmy
import asyncpg
import pytest

from tests.services.mariadb import PASSWORD, USER
from tests.services.postgres import PostgresServer
from tests.services.server import free_port
from tests.stores.proxy import Proxy

pytestmark = pytest.mark.heavy

PROGRAM: Final = Path(__file__).with_name("database_reading.py")
INCREMENTAL: Final = {"table_name": "orders", "sync_mode": "IncrementalSync", "incremental_column": "id"}
Row = Mapping[str, Any]


class ReadRefused(Exception):
    """What the source said."""


class Reader:
    def __init__(self, python: Path) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([python, "-P", PROGRAM], stdin=pipe, stdout=pipe, text=True)

    def tell(self, do: str, **more: object) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps({"do": do, **more}), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline() or '{"failed": "the reader has died"}')
        if "failed" in answer:
            raise ReadRefused(answer["failed"])
        return answer["done"]

    def read(self, task: Mapping[str, Any], **wanted: object) -> list[Row]:
        self.tell("begin", task=task, **wanted)
        found: list[Row] = self.tell("rest")
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def fresh_reader(lake_python: Path) -> Iterator[Reader]:
    made = Reader(lake_python)
    yield made
    made.close()


@pytest.fixture(scope="module")
def reader(lake_python: Path) -> Iterator[Reader]:
    """One for all: each reads by connections of its own."""
    made = Reader(lake_python)
    yield made
    made.close()


class Database:
    """A fresh one, with a source for it."""

    def __init__(self, kind: str, url: str) -> None:
        parts = urlsplit(url)
        self.kind, self.url = kind, url
        self.config: dict[str, Any] = {
            "host": parts.hostname,
            "port": parts.port,
            "database": parts.path[1:],
            "user": parts.username,
            "password": parts.password or "unused",
        }

    def run(self, *statements: str) -> list[Any]:
        """Beside any loop; the rows of the last one."""
        work = _postgres(self.url, statements) if self.kind == "postgresql" else _mysql(self.config, statements)
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(_finish, work).result()

    def source(self, reader: Reader, **config: object) -> None:
        reader.tell("source", kind=self.kind, config={**self.config, **config})


def _finish(work: Coroutine[None, None, list[Any]]) -> list[Any]:
    return asyncio.run(work)


async def _postgres(url: str, statements: tuple[str, ...]) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        found = [await connection.fetch(statement) for statement in statements]
        return [tuple(row) for row in found[-1]]
    finally:
        await connection.close()


async def _mysql(config: Mapping[str, Any], statements: tuple[str, ...]) -> list[Any]:
    names = {"host": config["host"], "port": config["port"], "db": config["database"]}
    connection = await asyncmy.connect(**names, user=USER, password=PASSWORD, autocommit=True)
    try:
        async with connection.cursor() as cursor:
            for statement in statements:
                await cursor.execute(statement)
            return list(await cursor.fetchall()) if cursor.description else []
    finally:
        await connection.ensure_closed()


@pytest.fixture(params=["postgresql", "mysql"])
def database(request: pytest.FixtureRequest) -> Database:
    fixture = {"postgresql": "postgres_url", "mysql": "mariadb_url"}[request.param]
    return Database(request.param, request.getfixturevalue(fixture))


@pytest.fixture
def postgres(postgres_url: str) -> Database:
    return Database("postgresql", postgres_url)


@pytest.fixture
def mysql(mariadb_url: str) -> Database:
    return Database("mysql", mariadb_url)


MOMENT: Final = {"postgresql": "timestamptz", "mysql": "timestamp(6)"}


def orders(database: Database, *rows: tuple[int, str]) -> None:
    """A table of a number and a moment; moments in UTC."""
    zone = "SELECT 1" if database.kind == "postgresql" else "SET time_zone = '+00:00'"
    kind = MOMENT[database.kind]
    database.run(f"CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, at {kind} NULL)")
    if rows:
        zoned = "+00" if database.kind == "postgresql" else ""
        moments = ((number, f"'{at}{zoned}'" if at else "NULL") for number, at in rows)
        values = ", ".join(f"({number}, {moment})" for number, moment in moments)
        database.run(zone, f"INSERT INTO orders VALUES {values}")


# What is read


def test_every_row_is_read_as_it_is(database: Database, reader: Reader) -> None:
    rows = [
        {
            "id": number,
            "name": f"näme {number}",
            "price": Decimal(number) / 4,
            "ratio": number / 8,
            "at": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number),
            "note": None,
        }
        for number in range(20_000)
    ]
    series = {
        "postgresql": "FROM generate_series(0, 19999) AS s(seq)",
        "mysql": "FROM seq_0_to_19999",
    }[database.kind]
    moment = {
        "postgresql": "timestamptz '2026-01-01Z' + seq * interval '1 second'",
        "mysql": "timestamp '2026-01-01 00:00:00' + INTERVAL seq SECOND",
    }[database.kind]
    database.run(
        "SELECT 1" if database.kind == "postgresql" else "SET time_zone = '+00:00'",
        "CREATE TABLE orders (id bigint PRIMARY KEY, name varchar(50), price numeric(12, 2), ratio double precision, "
        f"at {MOMENT[database.kind]} NULL, note text)",
        f"INSERT INTO orders SELECT seq, concat('näme ', seq), seq / 4.0, seq / 8.0, {moment}, NULL {series}",
    )
    database.source(reader)
    columns = reader.tell("begin", task={"table_name": "orders"}, batch_rows=3_000)
    assert columns == {
        "id": "int64",
        "name": "string",
        "price": "decimal128(12, 2)",
        "ratio": "double",
        "at": "timestamp[us, tz=UTC]",
        "note": "string",
    }
    assert reader.tell("digest") == [20_000, digest(rows)]


def digest(rows: list[dict[str, Any]]) -> str:
    total = 0
    for row in rows:
        row["price"] = row["price"].quantize(Decimal("0.01"))
        total ^= int.from_bytes(hashlib.sha256(json.dumps(row, default=str).encode()).digest(), "big")
    return f"{total:064x}"


POSTGRES_TYPES: Final = {
    "1::smallint": ("int16", 1),
    "9223372036854775807": ("int64", 2**63 - 1),
    "1.5::real": ("float", 1.5),
    "12.50::numeric(12, 2)": ("decimal128(12, 2)", "12.50"),
    "123456789012345678901234567890.123456789": ("string", "123456789012345678901234567890.123456789"),
    "'{1.23456789012345678901}'::numeric[]": ("list<l: string>", ["1.23456789012345678901"]),
    "'{1, null}'::int[]": ("list<l: int32>", [1, None]),
    "'{\"a\": 1}'::jsonb": ("string", '{"a": 1}'),
    "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid": ("string", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "'\\x00ff'::bytea": ("binary", "b'\\x00\\xff'"),
    "'2026-11-16 09:30:00.123456+09'::timestamptz": ("timestamp[us, tz=UTC]", "2026-11-16 00:30:00.123456+00:00"),
    "'2026-11-16 09:30:00'::timestamp": ("timestamp[us]", "2026-11-16 09:30:00"),
    "'2026-11-16'::date": ("date32[day]", "2026-11-16"),
    "'12:30:00+02'::timetz": ("string", "12:30:00+02"),
    "'1 mon 2 days'::interval": ("string", "1 mon 2 days"),
    "B'101'": ("string", "101"),
    "'sad'::mood": ("string", "sad"),
    "'{sad}'::mood[]": ("list<l: string>", ["sad"]),
    "7::some_number": ("int32", 7),
    "'10.0.0.0/8'::cidr": ("string", "10.0.0.0/8"),
    "true": ("bool", True),
}


def test_types_of_postgresql_come_out_as_what_they_are(postgres: Database, reader: Reader) -> None:
    postgres.run("CREATE TYPE mood AS ENUM ('sad', 'ok')", "CREATE DOMAIN some_number AS int CHECK (value > 0)")
    postgres.source(reader)
    values = ", ".join(f"{value} AS c{number}" for number, value in enumerate(POSTGRES_TYPES))
    query = f"SELECT {values}"
    columns = reader.tell("begin", task={"query": query})
    [row] = reader.tell("rest")
    assert list(zip(columns.values(), row.values(), strict=True)) == list(POSTGRES_TYPES.values())


MYSQL_TYPES: Final = {
    "tinyint(1)": ("2", "int8", 2),
    "bigint unsigned": ("18446744073709551615", "uint64", 2**64 - 1),
    "decimal(10, 0) unsigned": ("9999999999", "decimal128(10, 0)", "9999999999"),
    "decimal(38, 10)": ("1.5", "decimal128(38, 10)", "1.5000000000"),
    "decimal(65, 30)": ("'1.123456789012345678901234567890'", "string", "1.123456789012345678901234567890"),
    "date": ("'0000-00-00'", "date32[day]", None),
    "datetime(6)": ("'2026-11-16 09:30:00.123456'", "timestamp[us]", "2026-11-16 09:30:00.123456"),
    "timestamp(3)": ("'2026-11-16 09:30:00.5'", "timestamp[us, tz=UTC]", "2026-11-16 00:30:00.500000+00:00"),
    "time": ("'-123:30:00'", "string", "-123:30:00"),
    "year": ("2026", "int32", 2026),
    "text": ("'é😀'", "string", "é😀"),
    "varchar(9) character set utf8mb4 collate utf8mb4_bin": ("'x'", "string", "x"),
    "varbinary(9)": ("x'00ff'", "binary", "b'\\x00\\xff'"),
    "enum('a', 'b')": ("'b'", "string", "b"),
    "set('x', 'y')": ("'x,y'", "string", "x,y"),
    "bit(1)": ("b'1'", "bool", True),
    "bit(8)": ("b'10000001'", "uint32", 129),
    "json": ("'{\"a\": 1}'", "string", '{"a": 1}'),
    "point": ("point(1, 2)", "string", "POINT(1 2)"),
}


def test_types_of_mariadb_come_out_as_what_they_are(mysql: Database, reader: Reader) -> None:
    columns = ", ".join(f"c{number} {kind} NULL" for number, kind in enumerate(MYSQL_TYPES))
    values = ", ".join(value for value, _, _ in MYSQL_TYPES.values())
    mysql.run(
        "SET sql_mode = ''",
        "SET time_zone = '+09:00'",
        f"CREATE TABLE kinds ({columns})",
        f"INSERT INTO kinds VALUES ({values})",
    )
    mysql.source(reader)
    found = reader.tell("begin", task={"table_name": "kinds"})
    [row] = reader.tell("rest")
    assert list(zip(found.values(), row.values(), strict=True)) == [each[1:] for each in MYSQL_TYPES.values()]


def test_moments_without_an_end_are_refused(postgres: Database, reader: Reader) -> None:
    postgres.source(reader)
    for value in ("'infinity'::timestamptz", "'-infinity'::timestamp", "'infinity'::date"):
        with pytest.raises(ReadRefused, match=r"until holds infinity, .* such as nullif\(until, 'infinity'\)"):
            reader.read({"query": f"SELECT NULL::timestamp AS n, {value} AS until"})
    assert reader.read({"query": "SELECT nullif('infinity'::date, 'infinity') AS until"}) == [{"until": None}]


def test_names_are_quoted_whatever_they_hold(database: Database, reader: Reader) -> None:
    quoted = '"a ""b`; {} --"' if database.kind == "postgresql" else '`a "b``; {} --`'
    table = '"or.der""s"' if database.kind == "postgresql" else '`or.der"s`'
    database.run(f"CREATE TABLE {table} ({quoted} int)", f"INSERT INTO {table} VALUES (1)")
    database.source(reader)
    [named] = [
        each for each in reader.tell("tables") if "der" in each and each.startswith(("public", database.url[-4:]))
    ]
    assert reader.read({"table_name": named}) == [{'a "b`; {} --': 1}]


def test_a_source_says_what_answered_and_which_tables_it_has(database: Database, reader: Reader) -> None:
    orders(database)
    database.source(reader)
    schema = "public" if database.kind == "postgresql" else database.config["database"]
    assert f"{schema}.orders" in reader.tell("tables")
    assert ("PostgreSQL 1" if database.kind == "postgresql" else "MariaDB") in reader.tell("test")


def test_a_query_is_one_statement_that_only_reads(database: Database, reader: Reader) -> None:
    orders(database, (1, ""), (2, ""))
    database.source(reader)
    assert reader.read({"query": "SELECT id FROM orders WHERE id > 1 -- the last"}) == [{"id": 2}]
    for query in ("SELECT 1; DROP TABLE orders", "SELECT 1) AS q; DROP TABLE orders; --", "DELETE FROM orders"):
        with pytest.raises(ReadRefused, match="syntax"):
            reader.read({"query": query})
    assert len(database.run("SELECT id FROM orders")) == 2


def test_a_job_may_name_another_database_of_the_server(database: Database, reader: Reader) -> None:
    orders(database, (1, ""))
    database.source(reader, database="waterclock")
    named = {"database_name": database.config["database"]}
    assert [row["id"] for row in reader.read({"table_name": "orders", **named})] == [1]
    assert [row["id"] for row in reader.read({"query": "SELECT id FROM orders", **named})] == [1]


def test_a_preview_reads_no_more_than_it_shows(database: Database, reader: Reader) -> None:
    orders(database, (1, ""), (2, ""), (3, ""))
    database.source(reader)
    assert len(reader.read({"table_name": "orders"}, most_rows=2)) == 2


def test_all_that_postgresql_is_asked_is_of_one_moment(postgres: Database, reader: Reader) -> None:
    orders(postgres, *((number, "2026-01-01") for number in range(20_000)))
    postgres.source(reader)
    reader.tell("begin", task=INCREMENTAL, batch_rows=4_096)
    reader.tell("next")
    postgres.run("DELETE FROM orders", "INSERT INTO orders VALUES (20000, NULL)")
    assert reader.tell("count")["rows"] == 20_000 - 4_096
    assert reader.tell("bookmark")["value"] == "19999"


def test_memory_is_bounded_whatever_there_is_to_read(database: Database, fresh_reader: Reader) -> None:
    reader = fresh_reader
    series = "generate_series(1, 2000000) AS s(seq)" if database.kind == "postgresql" else "seq_1_to_2000000"
    database.source(reader)
    columns = "seq AS id, concat('name ', seq) AS name, seq * 2 AS b, seq / 2.0 AS c, 'x' AS d, 'y' AS e"
    reader.tell("begin", task={"query": f"SELECT {columns} FROM {series}"})
    found = reader.tell("count")
    assert (found["rows"], found["largest"] <= 50_000) == (2_000_000, True)
    assert found["peak_mb"] < 300


# Incremental


def test_a_run_reads_what_came_after_the_last_one(database: Database, reader: Reader) -> None:
    orders(database, (1, ""), (2, ""))
    database.source(reader)
    assert [row["id"] for row in reader.read(INCREMENTAL)] == [1, 2]
    since = reader.tell("bookmark")
    assert since == {"column": "id", "value": "2", "type": "number"}
    assert reader.read(INCREMENTAL, since=since) == []
    assert reader.tell("bookmark") == since
    orders(database, (3, ""))
    assert [row["id"] for row in reader.read(INCREMENTAL, since=since)] == [3]


def test_a_job_says_where_its_first_run_begins(database: Database, reader: Reader) -> None:
    orders(database, (1, "2026-01-01"), (2, "2026-01-02 00:00:00.000001"), (3, "2026-01-03"))
    database.source(reader)
    task = {**INCREMENTAL, "incremental_column": "at", "last_synced_value": "2026-01-02"}
    assert [row["id"] for row in reader.read(task)] == [2, 3]
    since = {**reader.tell("bookmark"), "value": "2026-01-02 00:00:00.000001+00:00"}
    assert [row["id"] for row in reader.read(task, since=since)] == [3]


def test_with_keys_rows_at_the_watermark_are_read_again(database: Database, reader: Reader) -> None:
    orders(database, (1, "2026-01-01"), (2, "2026-01-02"))
    database.source(reader)
    task = {**INCREMENTAL, "incremental_column": "at", "key_columns": ["id"]}
    reader.read(task)
    since = reader.tell("bookmark")
    orders(database, (3, "2026-01-02"))  # late, and with the same moment
    assert [row["id"] for row in reader.read(task, since=since)] == [2, 3]
    assert reader.read({**task, "inclusive": False}, since=since) == []


def test_a_moment_in_the_future_waits_until_it_is_there(database: Database, reader: Reader) -> None:
    orders(database, (1, "2026-01-01"), (2, "2037-01-01"))
    database.source(reader)
    task = {**INCREMENTAL, "incremental_column": "at"}
    assert [row["id"] for row in reader.read(task)] == [1]
    assert reader.tell("bookmark")["value"].startswith("2026-01-01")


def test_a_lag_holds_back_what_may_still_be_overtaken(database: Database, reader: Reader) -> None:
    orders(database, (1, "2026-01-01"))
    now = "now()" if database.kind == "postgresql" else "utc_timestamp(6)"
    database.run(
        "SELECT 1" if database.kind == "postgresql" else "SET time_zone = '+00:00'",
        f"INSERT INTO orders VALUES (2, {now})",
    )
    database.source(reader)
    task = {**INCREMENTAL, "incremental_column": "at"}
    assert [row["id"] for row in reader.read({**task, "lag_seconds": 3600})] == [1]
    assert [row["id"] for row in reader.read(task)] == [1, 2]
    with pytest.raises(ReadRefused, match="lag_seconds is for moments"):
        reader.read({**INCREMENTAL, "lag_seconds": 60})


def test_rows_without_a_watermark_are_refused_read_or_skipped(database: Database, reader: Reader) -> None:
    orders(database, (1, "2026-01-01"), (2, ""))
    database.source(reader)
    task = {**INCREMENTAL, "incremental_column": "at"}
    with pytest.raises(ReadRefused, match="at is NULL in some rows, which no watermark finds: give key_columns"):
        reader.read(task)
    assert [row["id"] for row in reader.read({**task, "null_rows": "skip"})] == [1]
    assert sorted(row["id"] for row in reader.read({**task, "key_columns": ["id"]})) == [1, 2]


def test_a_full_sync_leaves_a_watermark_for_the_next_incremental_one(database: Database, reader: Reader) -> None:
    orders(database, (1, "2026-01-01"), (2, ""))
    database.source(reader)
    task = {**INCREMENTAL, "sync_mode": "FullSync", "incremental_column": "at"}
    assert sorted(row["id"] for row in reader.read(task)) == [1, 2]
    assert reader.tell("bookmark")["value"].startswith("2026-01-01")


def test_a_column_that_has_become_another_is_not_compared(database: Database, reader: Reader) -> None:
    orders(database, (1, ""))
    database.source(reader)
    since = {"column": "id", "value": "2026-01-01", "type": "timestamp"}
    with pytest.raises(ReadRefused, match="id was a timestamp when the watermark was taken, and is a number now"):
        reader.read(INCREMENTAL, since=since)
    with pytest.raises(ReadRefused, match="there is no incremental_column 'nope' among id, at"):
        reader.read({**INCREMENTAL, "incremental_column": "nope"})


# What goes wrong


def test_a_connection_that_is_cut_is_never_the_end_of_the_rows(database: Database, reader: Reader) -> None:
    series = "generate_series(1, 1000000) AS s(seq)" if database.kind == "postgresql" else "seq_1_to_1000000"
    database.source(reader)
    task = {"query": f"SELECT seq AS id, concat('a long enough text ', seq) AS t FROM {series}"}
    reader.tell("begin", task=task, batch_rows=4_096)
    reader.tell("next")
    cut_all(database)
    with pytest.raises(ReadRefused, match="the connection was lost"):
        reader.tell("count")
    assert reader.tell("bookmark") is None
    assert len(reader.read({"query": "SELECT 1 AS one"})) == 1  # by a new one


async def test_a_network_that_breaks_is_never_the_end_of_the_rows(database: Database, reader: Reader) -> None:
    series = "generate_series(1, 1000000) AS s(seq)" if database.kind == "postgresql" else "seq_1_to_1000000"
    proxy = Proxy(database.config["port"])
    await proxy.open()
    try:
        database.source(reader, port=proxy.port)
        task = {"query": f"SELECT seq AS id, concat('a long enough text ', seq) AS t FROM {series}"}
        await asyncio.to_thread(reader.tell, "begin", task=task, batch_rows=4_096)
        await asyncio.to_thread(reader.tell, "next")
        proxy.cut()
        with pytest.raises(ReadRefused, match="the connection was lost"):
            await asyncio.to_thread(reader.tell, "count")
    finally:
        await proxy.close()
    assert reader.tell("bookmark") is None


def cut_all(database: Database) -> None:
    if database.kind == "postgresql":
        database.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return
    [[number]] = database.run(
        "SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id() "
        "AND command <> 'Sleep'"
    )
    database.run(f"KILL {number}")


def test_what_is_given_up_is_not_waited_for(postgres: Database, reader: Reader) -> None:
    postgres.source(reader)
    query = "SELECT a, b FROM generate_series(1, 10000) AS a, generate_series(1, 10000) AS b"  # hours
    reader.tell("begin", task={"query": query})
    reader.tell("next")
    reader.tell("close")
    assert reader.tell("test")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"database": "nope"}, "there is no such database"),
        ({"port": free_port()}, "it cannot be reached"),
        ({"host": "nope.invalid"}, "it cannot be reached"),
        ({"options": {"host": "127.0.0.1"}}, "unknown option 'host'"),
        ({"host": "/var/run"}, "is neither a name nor an address"),
    ],
)
def test_a_server_that_cannot_be_read_says_why(
    database: Database, reader: Reader, config: Mapping[str, Any], words: str
) -> None:
    with pytest.raises(ReadRefused, match=words):
        greet(database, reader, config)


def greet(database: Database, reader: Reader, config: Mapping[str, Any]) -> None:
    database.source(reader, **config)
    reader.tell("test")


def test_a_wrong_password_is_said_and_never_shown(
    mysql: Database, postgres_server: PostgresServer, postgres: Database, reader: Reader
) -> None:
    access = postgres_server.folder / "data/pg_hba.conf"
    access.write_text(f"host {postgres.config['database']} guarded 127.0.0.1/32 scram-sha-256\n{access.read_text()}")
    postgres.run("CREATE USER guarded PASSWORD 'right'", "SELECT pg_reload_conf()")
    try:
        for database, user in ((mysql, USER), (postgres, "guarded")):
            database.source(reader, user=user, password="sesame-open")
            with pytest.raises(ReadRefused, match="the user or the password is wrong") as refused:
                reader.tell("test")
            assert "sesame-open" not in str(refused.value)
    finally:
        postgres.run("DROP USER guarded")


def test_a_table_that_is_missing_is_named(database: Database, reader: Reader) -> None:
    database.source(reader)
    with pytest.raises(ReadRefused, match=r"there is no such table: .*nope"):
        reader.read({"table_name": "nope"})
    with pytest.raises(ReadRefused, match="give table_name or query, one of them"):
        reader.read({})


def test_private_addresses_are_refused_unless_an_admin_allows_them(database: Database, reader: Reader) -> None:
    for host in ("127.0.0.1", "localhost", "169.254.169.254"):
        with pytest.raises(ReadRefused, match="which is not a public address"):
            reader.tell("source", kind=database.kind, config={**database.config, "host": host}, allows_private=False)
    url = f"mysql+pymysql://{USER}:secret@127.0.0.1/x"
    with pytest.raises(ReadRefused, match="which is not a public address"):
        reader.tell("source", kind="sqlalchemy", config={"url": url}, allows_private=False)


# SQLite, and the slow path


@pytest.fixture
def sqlite(tmp_path: Path, reader: Reader) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "shop.db", isolation_level=None)
    connection.execute("CREATE TABLE orders (id integer PRIMARY KEY, t text, r real, b blob, d date, at timestamp)")
    connection.execute("INSERT INTO orders VALUES (1, 'é', 0.5, x'00ff', '2026-11-16', '2026-11-16 09:30:00.5')")
    connection.execute("INSERT INTO orders VALUES (2, NULL, 2, NULL, NULL, '2026-11-17 09:30:00')")
    reader.tell("source", kind="sqlite", config={"path": "shop.db"}, roots=[str(tmp_path)])
    yield connection
    connection.close()


def test_sqlite_is_read_by_table_and_by_query(sqlite: sqlite3.Connection, reader: Reader) -> None:
    assert reader.tell("tables") == ["orders"]
    rows = reader.read({"table_name": "orders"})
    assert rows[0] == {
        "id": 1,
        "t": "é",
        "r": 0.5,
        "b": "b'\\x00\\xff'",
        "d": "2026-11-16",
        "at": "2026-11-16 09:30:00.500000",
    }
    assert reader.read({"query": "SELECT id * 2 AS twice, b FROM orders ORDER BY id"}) == [
        {"twice": 2, "b": "b'\\x00\\xff'"},
        {"twice": 4, "b": None},
    ]
    with pytest.raises(ReadRefused, match="syntax"):
        reader.read({"query": "DELETE FROM orders"})


def test_sqlite_is_read_on_from_its_watermark(sqlite: sqlite3.Connection, reader: Reader) -> None:
    task = {**INCREMENTAL, "incremental_column": "at"}
    assert len(reader.read(task)) == 2
    since = reader.tell("bookmark")
    sqlite.execute("INSERT INTO orders (id, at) VALUES (3, '2026-11-17 09:30:00.000001')")
    assert [row["id"] for row in reader.read(task, since=since)] == [3]


def test_a_value_that_is_not_of_its_columns_type_is_named(sqlite: sqlite3.Connection, reader: Reader) -> None:
    sqlite.execute("CREATE TABLE mixed (n integer)")
    sqlite.execute("INSERT INTO mixed VALUES (1), ('abc')")
    with pytest.raises(ReadRefused, match='column "n": column was declared as integer, found "abc"'):
        reader.read({"table_name": "mixed"})


def test_a_file_outside_the_roots_is_not_read(tmp_path: Path, reader: Reader) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    sqlite3.connect(tmp_path / "outside.db").execute("CREATE TABLE t (n)").connection.close()
    (inside / "link.db").symlink_to(tmp_path / "outside.db")
    for path in ("../outside.db", "link.db", str(tmp_path / "outside.db"), "none.db"):
        with pytest.raises(ReadRefused, match="is no file below a folder that jobs may read"):
            reader.tell("source", kind="sqlite", config={"path": path}, roots=[str(inside)])


def test_any_url_of_sqlalchemy_is_read_row_by_row(mysql: Database, reader: Reader) -> None:
    orders(mysql, (1, "2026-01-01"), (2, "2026-01-02"), (3, "2037-01-01"))
    address = f"{USER}:{PASSWORD}@127.0.0.1:{mysql.config['port']}/{mysql.config['database']}"
    reader.tell("source", kind="sqlalchemy", config={"url": f"mysql+pymysql://{address}"})
    assert reader.tell("tables") == ["orders"]
    assert reader.read({"query": "SELECT id, 'a%:b' AS t FROM orders WHERE id = 2 -- :x"}) == [{"id": 2, "t": "a%:b"}]
    task = {**INCREMENTAL, "incremental_column": "at", "last_synced_value": "2026-01-01"}
    assert [row["id"] for row in reader.read(task)] == [2]
    assert reader.tell("bookmark") == {"column": "at", "value": "2026-01-02 00:00:00", "type": "timestamp"}
    with pytest.raises(ReadRefused, match="there is no such table"):
        reader.read({"table_name": "nope"})


def test_a_url_whose_driver_is_missing_says_so(reader: Reader) -> None:
    with pytest.raises(ReadRefused, match="SQLAlchemy knows no 'nope' here"):
        reader.tell("source", kind="sqlalchemy", config={"url": "nope://user:sesame@db.example/x"})
    with pytest.raises(ReadRefused, match="its kind is sqlite or local"):
        reader.tell("source", kind="sqlalchemy", config={"url": "sqlite:////etc/passwd"})
