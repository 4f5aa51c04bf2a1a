"""The seed's list of outputs: what it makes, and the words for what is wrong in it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from waterclock.runners.lake.order import Order
from waterclock.runners.sql.outputs import Output, OutputFailed, Tag
from waterclock.runners.sql.outputs_of import outputs_of

FILES = {"class_name": "hadoop_config", "hdfs_uri": "localhost:9000", "result_path": "/data/abc"}
TABLE = {"class_name": "clickhouse_config", "database": "test_db", "table_name": "product", "write_mode": "append"}

UPSERT = {"write_mode": "upsert", "key_columns": ["id"]}
SERVER = {"host": "db", "port": 1, "database": "shop", "user": "u", "password": "secret"}
SOURCES = tuple(
    {"id": id, "kind": kind, "config": SERVER} for id, kind in enumerate(("postgresql", "mysql", "sqlite"), 1)
)


def made(*given: Mapping[str, Any], roots: tuple[str, ...] = (), allows_private: bool = False) -> list[Output]:
    order = Order(
        kind="sql_job",
        job_id=7,
        run_id="12",
        attempt_id=12,
        task={},
        cache="",
        roots=roots,
        allows_private=allows_private,
        sources=SOURCES,
        clickhouse={"url": "http://clickhouse:8123", "user": "default", "password": "secret"},
    )
    return outputs_of(given, tag=Tag(job_id=7, attempt_id=12), order=order)


def test_the_seeds_outputs_are_known(tmp_path: Path) -> None:
    local = {"hdfs_uri": "file:///", "result_path": f"{tmp_path}/abc", "separator": "\\t", "header": True}
    outputs = made(
        {"type": "text_file", "config": FILES},
        {"type": "datainsider", "config": TABLE},
        {"type": "parquet", "config": {"hdfs_uri": "s3://bucket", "result_path": "/data/abc"}},
        {"type": "text_file", "config": local},
        roots=(str(tmp_path),),
    )
    assert [each.where for each in outputs] == [
        "hdfs://localhost:9000/data/abc",
        "ClickHouse at http://clickhouse:8123 test_db.product",
        "s3://bucket/data/abc",
        f"file://{tmp_path}/abc",
    ]


def test_databases_are_known_by_their_source(tmp_path: Path) -> None:
    outputs = made(
        {"type": "postgresql", "config": {"source": 1, "schema": "lake", "table_name": "product"}},
        {"type": "mysql", "config": {"source": "2", "table_name": "product", **UPSERT}},
        {"type": "jdbc", "config": {"source": 2, "table_name": "other"}},
        {"type": "duckdb", "config": {"path": f"{tmp_path}/x.duckdb", "table_name": "product"}},
        roots=(str(tmp_path),),
    )
    assert [each.where for each in outputs] == [
        "PostgreSQL at db:1 shop.lake.product",
        "MySQL at db:1 shop.product",
        "MySQL at db:1 shop.other",
        f"DuckDB file {tmp_path}/x.duckdb product",
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, r"outputs\[0\]: type None is not known"),
        ({"type": "jdbc", "config": {"table_name": "x"}}, "config.source is missing"),
        ({"type": "jdbc", "config": {"table_name": "x", "source": 3}}, "config.source 3 is of the kind sqlite: jdbc"),
        ({"type": "mysql", "config": {"table_name": "x", "source": 1}}, "1 is of the kind postgresql: mysql needs"),
        ({"type": "mysql", "config": {"table_name": "x", "source": 9}}, "9 is no source that this run was given"),
        ({"type": "mysql", "config": {"table_name": "x", "source": 2, "keep_old_hours": -1}}, "config.keep_old_hours"),
        ({"type": "duckdb", "config": {"table_name": "x"}}, "config.path is missing"),
        ({"type": "duckdb", "config": {"table_name": "x", "path": "/etc/x"}}, "lake.roots"),
        ({"type": ["text_file"], "config": FILES}, "is not known: text_file, parquet, datainsider, "),
        ({"type": "text_file"}, "config is missing: give one of the class hadoop_config"),
        ({"type": "text_file", "config": TABLE}, "config.class_name is 'clickhouse_config'"),
        ({"type": "text_file", "config": {"hdfs_uri": "localhost:9000"}}, "config.result_path is missing"),
        ({"type": "text_file", "config": {**FILES, "hdfs_uri": 9000}}, "config.hdfs_uri is missing"),
        ({"type": "text_file", "config": {**FILES, "separator": ""}}, "config.separator"),
        ({"type": "text_file", "config": {**FILES, "separator": '"'}}, "neither a quote"),
        ({"type": "text_file", "config": {**FILES, "header": "yes"}}, "give true or false"),
        ({"type": "parquet", "config": {**FILES, "write_mode": "merge"}}, "config.write_mode is 'merge'"),
        ({"type": "parquet", "config": {**FILES, "write_mode": "upsert"}}, "config.key_columns is missing"),
        ({"type": "text_file", "config": {**FILES, **UPSERT}}, "text files have no types to know a key by"),
        ({"type": "datainsider", "config": {**TABLE, **UPSERT, "key_columns": "id"}}, "give a list of names"),
        ({"type": "datainsider", "config": {**TABLE, "schema_changes": "yes"}}, "add and refuse are known"),
        ({"type": "datainsider", "config": {**TABLE, "write_mode": None}}, "config.write_mode is None"),
        ({"type": "datainsider", "config": {**TABLE, "table_name": " "}}, "config.table_name is missing or empty"),
        ({"type": "datainsider", "config": {**TABLE, "database": "a\0b"}}, "config.database holds a NUL"),
        ({"type": "datainsider", "config": {**TABLE, "table_name": ".waterclock-1-2-new-x"}}, "is kept for"),
        ({"type": "text_file", "config": {**FILES, "hdfs_uri": "file:///"}}, "lake.roots"),
    ],
)
def test_what_is_wrong_is_said_in_words(given: Mapping[str, Any], words: str) -> None:
    with pytest.raises(OutputFailed, match=words):
        made(given)


def test_the_place_in_the_list_is_named() -> None:
    with pytest.raises(OutputFailed, match=r"outputs\[1\]"):
        made({"type": "text_file", "config": FILES}, {"type": "nothing"})


@pytest.mark.parametrize("path", ["/data/abc", "/data", "/data/abc/def"])
def test_two_outputs_do_not_share_a_place(path: str) -> None:
    with pytest.raises(OutputFailed, match="two outputs write to one place"):
        made({"type": "text_file", "config": FILES}, {"type": "parquet", "config": {**FILES, "result_path": path}})


def test_two_outputs_do_not_share_a_table() -> None:
    with pytest.raises(OutputFailed, match="two outputs write to one place"):
        made({"type": "datainsider", "config": TABLE}, {"type": "datainsider", "config": TABLE})


@pytest.mark.parametrize("host", ["127.0.0.1:9000", "localhost:9000", "10.0.0.1", "169.254.169.254:80", "[::1]:9000"])
def test_a_private_address_is_refused_unless_an_admin_allows_it(host: str) -> None:
    [output] = made({"type": "text_file", "config": {**FILES, "hdfs_uri": host}})
    with pytest.raises(OutputFailed, match=r"not a public address.*lake\.private"):
        output.sweep()


def test_a_host_that_is_down_is_named() -> None:
    [output] = made({"type": "text_file", "config": {**FILES, "hdfs_uri": "127.0.0.1:1"}}, allows_private=True)
    with pytest.raises(OutputFailed, match=r"hdfs://127\.0\.0\.1:1/data/abc cannot be reached"):
        output.sweep()


def test_a_host_that_nobody_knows_is_named() -> None:
    [output] = made({"type": "text_file", "config": {**FILES, "hdfs_uri": "no-such-host.invalid:9000"}})
    with pytest.raises(OutputFailed, match=r"nobody knows the host 'no-such-host\.invalid'"):
        output.sweep()
