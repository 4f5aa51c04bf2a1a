"""What a sync leaves when it is killed at any point, and when its source fails: all rows or those of before, once."""

import asyncio
import itertools
import re
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.lake.file_systems import HdfsFiles, LocalFiles, S3Files
from tests.lake.shops import (
    ClickhouseTable,
    Destination,
    DuckdbTable,
    MysqlTable,
    ParquetFolder,
    PostgresqlTable,
    Shop,
    asked,
    config_of,
    fingerprint,
    postgresql_source,
)
from tests.lake.syncs import SOURCE, Ended, Process, Program, Sync
from tests.lake.writers import numbers
from tests.services.server import free_port
from tests.stores.proxy import Proxy

pytestmark = pytest.mark.heavy

FULL: Mapping[str, Any] = {"table_name": "shop", "sync_mode": "FullSync"}
KEYED: Mapping[str, Any] = {
    "table_name": "shop",
    "sync_mode": "IncrementalSync",
    "incremental_column": "version",
    "key_columns": ["id"],
}
FILES: Mapping[str, Any] = {"class_name": "sync_file_job", "path": "*.csv", "format": "csv"}
MANY_ROWS = 400_000  # more than all that a connection holds
FEW_ROWS = 4_000
MOST_POINTS = 60
PASSED = {"sweep", "open", "write", "commit", "committed"}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "shop.db")


@pytest.fixture(params=["parquet", "hdfs", "s3", "clickhouse", "postgresql", "mysql", "duckdb"])
def destination(request: pytest.FixtureRequest, sync_program: Program, tmp_path: Path) -> Destination:
    match request.param:
        case "hdfs":
            return ParquetFolder(sync_program, HdfsFiles(request.getfixturevalue("hdfs")), f"/shop{next(numbers)}")
        case "s3":
            files = S3Files(request.getfixturevalue("s3"), f"bucket{next(numbers)}")
            return ParquetFolder(sync_program, files, "/shop")
        case "clickhouse":
            return ClickhouseTable(request.getfixturevalue("clickhouse"))
        case "postgresql":
            return PostgresqlTable(request.getfixturevalue("postgres_url"))
        case "mysql":
            return MysqlTable(request.getfixturevalue("mariadb_url"))
        case "duckdb":
            return DuckdbTable(sync_program, tmp_path)
        case _:
            return ParquetFolder(sync_program, LocalFiles(tmp_path), str(tmp_path / "lake"))


@pytest.fixture
def sync_of(sync_program: Program, tmp_path: Path) -> Callable[..., Sync]:
    """Makes the job that reads a source into a destination: `sync_of(source, destination, **task)`."""

    def make(source: tuple[str, Mapping[str, Any]], destination: Destination, **task: Any) -> Sync:
        sources = {SOURCE: source, **destination.sources}
        order = {"roots": [str(tmp_path)], **destination.order}
        whole = {**task, "destinations": [destination.output]}
        return Sync(sync_program, tmp_path / "attempts", whole, sources, **order)

    return make


# kill -9


@pytest.mark.parametrize("task", [FULL, KEYED], ids=["full", "keyed"])
def test_a_sync_that_is_killed_at_any_point_is_made_good_by_the_next(
    sync_of: Callable[..., Sync], shop: Shop, destination: Destination, task: Mapping[str, Any]
) -> None:
    # By DuckDB once; else the way that takes a fifth of its time.
    is_local = destination.output["config"].get("hdfs_uri") == LocalFiles.uri
    read = {} if is_local and task is FULL else {"table_name": None, "query": "SELECT * FROM shop"}
    sync = sync_of(shop.source, destination, **{**task, **read})
    points = done(sync.run()).points
    assert set(points) >= PASSED
    # What is loaded aside is the same in all modes.
    for at in itertools.count(1 if task is FULL else points.index("commit")):
        before = shop.fingerprint()
        assert destination.fingerprint() == before, f"after the death at {at - 1}"
        assert destination.aside() == []
        assert at < MOST_POINTS, "what it does grows with what was done before"
        shop.change()
        if sync.run(at).code is not None:
            break
        shown = {before, shop.fingerprint()} | ({"nothing"} if destination.may_be_away else set())
        assert destination.fingerprint() in shown, f"killed at {at}"
        done(sync.run())
    assert at > len(PASSED) + 1
    assert destination.fingerprint() == shop.fingerprint()


# Faults at the source: the destination is as it was, and the reason comes first.


@pytest.fixture
def lake(sync_program: Program, tmp_path: Path) -> Destination:
    return ParquetFolder(sync_program, LocalFiles(tmp_path), str(tmp_path / "lake"))


def test_a_wrong_password_and_a_host_that_is_down_are_said(
    sync_of: Callable[..., Sync], shop: Shop, lake: Destination, mariadb_url: str
) -> None:
    done(sync_of(shop.source, lake, **FULL).run())
    kind, config = "mysql", config_of(mariadb_url)
    wrong = sync_of((kind, {**config, "password": "no-such-word"}), lake, **FULL).run()
    refused(wrong, "the user or the password is wrong", lake, shop)
    assert "no-such-word" not in wrong.reason
    down = sync_of((kind, {**config, "port": free_port()}), lake, **FULL).run()
    refused(down, "it cannot be reached", lake, shop)


async def test_a_connection_that_is_cut_half_way_leaves_the_rows_of_before(
    sync_of: Callable[..., Sync], shop: Shop, lake: Destination, postgres_url: str
) -> None:
    done(sync_of(shop.source, lake, **FULL).run())
    fill(postgres_url, MANY_ROWS)
    proxy = Proxy(urlsplit(postgres_url).port or 0)
    await proxy.open()
    kind, config = postgresql_source(postgres_url, port=proxy.port)
    sync = sync_of((kind, config), lake, **FULL)
    try:
        process, folder = await asyncio.to_thread(stopped, sync)
        proxy.cut()
        process.go_on()
        ended = await asyncio.to_thread(sync.end, process, folder)
    finally:
        await proxy.close()
    refused(ended, "the connection was lost", lake, shop)
    asked(postgres_url, f"DELETE FROM shop WHERE id > {FEW_ROWS}")  # a fingerprint of all of them would take long
    done(sync_of(postgresql_source(postgres_url), lake, **FULL).run())
    assert lake.fingerprint() == filled(postgres_url)


def test_a_table_that_is_dropped_meanwhile_waits_for_the_sync_and_is_missed_by_the_next(
    sync_of: Callable[..., Sync], lake: Destination, postgres_url: str
) -> None:
    fill(postgres_url)
    before = filled(postgres_url)
    sync = sync_of(postgresql_source(postgres_url), lake, **FULL)
    process, folder = stopped(sync)
    with ThreadPoolExecutor() as beside:
        dropping = beside.submit(asked, postgres_url, "DROP TABLE shop")
        process.go_on()
        done(sync.end(process, folder))
        dropping.result()
    assert lake.fingerprint() == before
    missed = sync.run()
    assert (missed.code, lake.fingerprint(), lake.aside()) == (1, before, [])
    assert "there is no such table" in missed.reason.splitlines()[0]


def test_a_value_of_another_type_is_refused(sync_of: Callable[..., Sync], shop: Shop, lake: Destination) -> None:
    sync = sync_of(shop.source, lake, **FULL)
    done(sync.run())
    before = shop.fingerprint()
    shop.execute("UPDATE shop SET price = 'two pounds' WHERE id = 900")
    ended = sync.run()
    assert (ended.code, lake.fingerprint(), lake.aside()) == (1, before, [])
    assert "two pounds" in ended.reason.splitlines()[0]


def test_a_column_of_another_type_is_refused_with_both_schemas(
    sync_of: Callable[..., Sync], sync_program: Program, tmp_path: Path, postgres_url: str
) -> None:
    table = DuckdbTable(sync_program, tmp_path)
    fill(postgres_url)
    asked(postgres_url, "ALTER TABLE shop ALTER price TYPE int")
    sync = sync_of(postgresql_source(postgres_url), table, **KEYED)
    done(sync.run())
    before = filled(postgres_url)
    asked(postgres_url, "ALTER TABLE shop ALTER price TYPE text")
    asked(postgres_url, "UPDATE shop SET version = version + 1")
    ended = sync.run()
    assert (ended.code, table.fingerprint(), table.aside()) == (1, before, [])
    assert re.search(r"price.*(INTEGER|int32)", ended.reason, re.DOTALL), ended.reason
    assert re.search(r"price.*(VARCHAR|text|string)", ended.reason, re.DOTALL), ended.reason


def test_rows_without_a_watermark_are_refused_where_there_is_no_key(
    sync_of: Callable[..., Sync], shop: Shop, lake: Destination
) -> None:
    appending = sync_of(shop.source, lake, **{**KEYED, "key_columns": []})
    done(appending.run())
    before = shop.fingerprint()
    shop.execute("UPDATE shop SET version = NULL, name = 'unknown' WHERE id = 5")
    ended = appending.run()
    assert (ended.code, lake.fingerprint(), lake.aside()) == (1, before, [])
    assert "version is NULL in some rows" in ended.reason.splitlines()[0]


def test_rows_without_a_watermark_are_found_by_their_key(
    sync_of: Callable[..., Sync], shop: Shop, sync_program: Program, tmp_path: Path
) -> None:
    table = DuckdbTable(sync_program, tmp_path)
    sync = sync_of(shop.source, table, **KEYED)
    done(sync.run())
    for name in ("one", "another"):
        shop.execute(f"UPDATE shop SET version = NULL, name = '{name}' WHERE id = 5")
        done(sync.run())
        assert table.fingerprint() == shop.fingerprint()


def test_one_bad_line_is_refused_by_its_number_or_left_out_and_counted(
    sync_of: Callable[..., Sync], lake: Destination, tmp_path: Path
) -> None:
    task = {**FILES, "sync_mode": "FullSync"}
    lines = ["id,name,price,version", *(f"{number},name {number},1.5,1" for number in range(2_000))]
    (tmp_path / "in").mkdir()
    (tmp_path / "in/shop.csv").write_text("\n".join(lines))
    source = "local", {"path": str(tmp_path / "in")}
    done(sync_of(source, lake, **task).run())
    before = lake.fingerprint()
    lines[1_500] = "1499,name 1499,much,1"
    (tmp_path / "in/shop.csv").write_text("\n".join(lines))
    ended = sync_of(source, lake, **task).run()
    assert (ended.code, lake.fingerprint(), lake.aside()) == (1, before, [])
    assert "line 1501" in ended.reason.partition("\n")[0]
    skipped = done(sync_of(source, lake, **task, on_bad_line="skip").run())
    assert (skipped.progress["bad_lines"], skipped.progress["rows_written"]) == (1, 1_999)
    assert lake.fingerprint() == fingerprint(line.split(",") for line in lines[1:] if "much" not in line)


def test_rows_of_clocks_that_are_ahead_or_behind_arrive_when_the_lag_is_over(
    sync_of: Callable[..., Sync], sync_program: Program, tmp_path: Path, postgres_url: str
) -> None:
    table = DuckdbTable(sync_program, tmp_path)
    fill(postgres_url)
    asked(postgres_url, "ALTER TABLE shop ADD at timestamptz NOT NULL DEFAULT now() - interval '2 hours'")
    task = {**KEYED, "incremental_column": "at", "lag_seconds": 3600}
    sync = sync_of(postgresql_source(postgres_url), table, **task)
    done(sync.run())
    assert table.fingerprint() == filled(postgres_url)
    for number, age in ((5_001, "-1 day"), (5_002, "10 minutes"), (5_003, "90 minutes")):
        asked(postgres_url, f"INSERT INTO shop VALUES ({number}, 'new', 1, 1, now() - interval '{age}')")
        done(sync.run())
        assert table.fingerprint() == filled(postgres_url, "at < now() - interval '1 hour'"), f"{age} old"
    asked(postgres_url, "UPDATE shop SET at = now() - interval '61 minutes' WHERE id IN (5001, 5002)")
    done(sync.run())
    assert table.fingerprint() == filled(postgres_url)


@pytest.mark.parametrize(
    ("kind", "config", "task"),
    [
        ("postgresql", {"host": "localhost", "port": 1, "database": "a", "user": "a", "password": ""}, FULL),
        ("mysql", {"host": "10.0.0.1", "port": 1, "database": "a", "user": "a", "password": ""}, FULL),
        ("sqlalchemy", {"url": "postgresql+psycopg://a:b@127.0.0.1:1/a"}, FULL),
        ("rest", {"base_url": "http://169.254.169.254"}, {"class_name": "sync_service_job", "endpoint": "/latest"}),
        ("http", {"base_url": "http://[::1]:1"}, {**FILES, "path": "a.csv"}),
        ("s3", {"endpoint": "http://192.168.0.1:1", "bucket": "a", "access_key": "a", "secret_key": "b"}, FILES),
        ("sftp", {"host": "127.0.0.1", "port": 1, "user": "a", "password": "b", "host_key": "ssh-ed25519 AAAA"}, FILES),
    ],
)
def test_an_address_that_is_not_public_is_refused(
    sync_program: Program, lake: Destination, tmp_path: Path, kind: str, config: Mapping[str, Any], task: Any
) -> None:
    whole = {**task, "destinations": [lake.output]}
    order = {**lake.order, "allows_private": False}
    ended = Sync(sync_program, tmp_path / "attempts", whole, {SOURCE: (kind, config)}, **order).run()
    assert (ended.code, lake.fingerprint(), lake.aside()) == (1, "nothing", [])
    assert "the setting lake.private" in ended.reason.partition("\n")[0]


def refused(ended: Ended, reason: str, destination: Destination, shop: Shop) -> None:
    assert reason in ended.reason.partition("\n")[0], ended
    assert (ended.code, destination.fingerprint(), destination.aside()) == (1, shop.fingerprint(), [])


def done(ended: Ended) -> Ended:
    assert ended.code == 0, ended.reason
    return ended


def stopped(sync: Sync) -> tuple[Process, Path]:
    """In front of its fourth batch."""
    process, folder = sync.begin(5, signal.SIGSTOP)
    process.await_stop()
    return process, folder


def fill(url: str, rows: int = FEW_ROWS) -> None:
    """A shop in PostgreSQL."""
    asked(url, "CREATE TABLE shop (id int PRIMARY KEY, name text, price float8, version int)")
    asked(url, f"INSERT INTO shop SELECT n, md5(n::text), n / 4.0, 1 FROM generate_series(1, {rows}) n")


def filled(url: str, where: str = "true") -> str:
    """The fingerprint of what is there."""
    return fingerprint(asked(url, f"SELECT id, name, price, version FROM shop WHERE {where}"))
