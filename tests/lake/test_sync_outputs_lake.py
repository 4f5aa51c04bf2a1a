"""Upserts, changed columns and kept rows where the lake is: ClickHouse 18.16, a modern one, and folders of Parquet."""

import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from tests.lake.file_systems import Files, HdfsFiles, LocalFiles, S3Files
from tests.lake.writers import PLAIN, OutputRefused, Outputs, numbers
from tests.services.clickhouse import HttpClickhouse

pytestmark = pytest.mark.heavy

UPSERT: Final = {"mode": "upsert", "key_columns": ["id"]}
WIDER: Final = {"id": "int64", "f": "double", "d": "decimal(10, 4)", "name": "string"}


# ClickHouse


@pytest.fixture(params=["18.16", "modern"])
def server(request: pytest.FixtureRequest) -> HttpClickhouse:
    found: HttpClickhouse = request.getfixturevalue("clickhouse" if request.param == "18.16" else "chdb_server")
    return found


@pytest.fixture
def database(server: HttpClickhouse) -> Iterator[str]:
    name = f"sync_db{next(numbers)}"
    server.query(f"CREATE DATABASE {name}")
    yield name
    server.query(f"DROP DATABASE {name}")


@pytest.fixture
def table(outputs: Any, server: HttpClickhouse, database: str) -> Any:
    def make(mode: str = "append", name: str = "product", **more: object) -> Outputs:
        config = {"database": database, "table_name": name, "write_mode": mode, "schema_changes": "add", **more}
        account = {"url": server.url, "user": server.user, "password": server.password}
        made: Outputs = outputs({"type": "datainsider", "config": config}, clickhouse=account)
        return made

    return make


@pytest.fixture
def seen(server: HttpClickhouse, database: str) -> Any:
    def rows(columns: str = "*", table: str = "product") -> list[list[Any]]:
        text = server.query(f"SELECT {columns} FROM {database}.`{table}` FORMAT JSONCompact")
        return sorted(json.loads(text)["data"], key=str)

    return rows


def tables(server: HttpClickhouse, database: str) -> list[str]:
    return sorted(server.query(f"SHOW TABLES FROM {database}").split())


def test_clickhouse_knows_a_row_again_by_its_key(table: Any, seen: Any, server: HttpClickhouse, database: str) -> None:
    columns = {"name": "string", "n": "int32", "id": "int32"}
    for _ in range(2):
        table("upsert", key_columns=["id", "name"]).put(columns, [["a", 1, 1], ["b", 2, 1], ["a", 3, 1]])
        assert seen("id, name, n") == [[1, "a", 3], [1, "b", 2]]
    server.query(f"INSERT INTO {database}.product VALUES (NULL, 5, NULL)")
    table(**UPSERT).put({"id": "int32", "n": "int32"}, [[1, 9], [2, 9]])
    assert seen("id, name, n") == [[1, None, 9], [2, None, 9], [None, None, 5]]
    assert tables(server, database) == ["product"]


def test_an_upsert_leaves_a_tables_structure(table: Any, seen: Any, server: HttpClickhouse, database: str) -> None:
    columns = "id UInt32, name String DEFAULT 'x', day Date, twice UInt64 MATERIALIZED id * 2"
    engine = "MergeTree PARTITION BY toYYYYMM(day) ORDER BY id"
    server.query(f"CREATE TABLE {database}.product ({columns}) ENGINE = {engine}")
    before = server.query(f"SHOW CREATE TABLE {database}.product")
    for day in ("2026-10-16", "2026-11-16"):
        table(**UPSERT).put({"id": "uint32", "day": "date32"}, [[1, day], [2, day]])
    assert seen("id, name, day, toUInt32(twice)") == [[1, "x", "2026-11-16", 2], [2, "x", "2026-11-16", 4]]
    assert server.query(f"SHOW CREATE TABLE {database}.product") == before


@pytest.mark.parametrize("mode", ["append", "replace", "upsert"])
def test_clickhouse_gets_new_columns_and_wider_ones(table: Any, seen: Any, mode: str) -> None:
    table().put({"id": "int32", "f": "float", "d": "decimal(6, 2)"}, [[1, 0.5, "1.50"]])
    table(mode, key_columns=["id"]).put(WIDER, [[2**40, 1e300, "123456.1234", "new"]])
    *old, new = seen("id, f, toString(d), name")
    assert (int(new[0]), *new[1:]) == (2**40, 1e300, "123456.1234", "new")
    assert [row[3] for row in old] == ([] if mode == "replace" else [None])


def test_clickhouse_refuses_other_changes_with_both_schemas(table: Any, seen: Any) -> None:
    table().put({"id": "int64", "n": "int32"}, [[1, 1]])
    for mode in ("append", "replace", "upsert"):
        with pytest.raises(
            OutputRefused, match=r"n is Nullable\(Int32\) there, which string is no widening"
        ) as refusal:
            table(mode, key_columns=["id"]).put({"id": "int64", "n": "string"}, [[2, "two"]])
        assert "The table has (id Nullable(Int64), n Nullable(Int32)); the rows have (id int64, n s" in str(
            refusal.value
        )
    assert seen("n") == [[1]]


def test_a_query_does_not_change_a_table(table: Any) -> None:
    table().put(PLAIN, [[1, "a"]])
    with pytest.raises(OutputRefused, match="has no column x"):
        table(schema_changes="refuse").put({**PLAIN, "x": "int64"}, [[1, "a", 1]])


@pytest.mark.parametrize("mode", ["append", "replace", "upsert"])
def test_whoever_is_killed_while_it_commits_to_clickhouse_leaves_the_old_or_the_new(
    table: Any, seen: Any, server: HttpClickhouse, database: str, mode: str
) -> None:
    before = [[1, "old"], [2, "old"]]
    table().put({"id": "int32", "name": "string"}, before)
    into = table(mode, key_columns=["id"])
    for calls in itertools.count(1):
        into.begin({"id": "int32", "name": "string"}, [[2, f"new {calls}"]])
        into.die(calls)
        with suppress(OutputRefused):
            into.tell("commit")
            break
        into.kill()
        into.make()
        into.tell("sweep")
        left = {"append": before, "replace": [], "upsert": before[:1]}[mode]
        found = seen()
        assert found in (before, sorted([*left, [2, f"new {calls}"]], key=str))
        assert tables(server, database) == ["product"]
        before = found
    assert [2, f"new {calls}"] in seen()


def test_clickhouse_keeps_what_is_replaced(table: Any, seen: Any, server: HttpClickhouse, database: str) -> None:
    for number in range(5):
        table("replace", keep_old_hours=24).put({"id": "int32"}, [[number]])
    *kept, product = tables(server, database)
    assert (product, sorted(seen(table=name) for name in kept)) == ("product", [[[1]], [[2]], [[3]]])
    over = ".waterclock-old-9-1-202001010000-product"
    server.query(f"RENAME TABLE {database}.`{kept[0]}` TO {database}.`{over}`")
    table().put({"id": "int32"}, [[5]])
    assert tables(server, database) == [*kept[1:], "product"]


# Folders


@pytest.fixture(params=["file", "hdfs", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    match request.param:
        case "hdfs":
            return HdfsFiles(request.getfixturevalue("hdfs"))
        case "s3":
            return S3Files(request.getfixturevalue("s3"), f"synced{next(numbers)}")
        case _:
            return LocalFiles(tmp_path)


@pytest.fixture
def folder(place: Files, tmp_path: Path) -> str:
    return str(tmp_path) if isinstance(place, LocalFiles) else f"/sync{next(numbers)}"


@pytest.fixture
def parquet(outputs: Any, place: Files, folder: str) -> Any:
    def make(mode: str = "append", **more: object) -> Outputs:
        config = {"hdfs_uri": place.uri, "result_path": f"{folder}/abc", "write_mode": mode, "schema_changes": "add"}
        made: Outputs = outputs({"type": "parquet", "config": {**config, **more}}, **place.order)
        return made

    return make


@pytest.fixture
def held(parquet: Any, place: Files, folder: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The rows that a reader of the folder finds, in their order of columns."""

    def rows(name: str = "abc") -> list[Mapping[str, Any]]:
        here = tmp_path_factory.mktemp("read")
        for part, data in place.parts(f"{folder}/{name}").items():
            (here / part).write_bytes(data)
        found: list[Mapping[str, Any]] = parquet().tell("read_rows", path=str(here))
        return sorted(found, key=str)

    return rows


def test_parquet_knows_a_row_again_by_its_key(parquet: Any, held: Any, place: Files, folder: str) -> None:
    parquet().put(PLAIN, [[1, "a"]])
    parquet().put(PLAIN, [[2, "b"]])
    for _ in range(2):
        parquet(**UPSERT).put({**PLAIN, "n": "int32"}, [[2, "not the last", 1], [3, "c", 2], [2, "c", 3]])
        assert held() == [
            {"id": 1, "name": "a", "n": None},
            {"id": 2, "name": "c", "n": 3},
            {"id": 3, "name": "c", "n": 2},
        ]
    assert place.list(f"{folder}/abc") == ["_SUCCESS", "part-00000.parquet"]
    assert place.list(folder) == ["abc"]


def test_a_folder_keeps_what_is_replaced(parquet: Any, held: Any, place: Files, folder: str) -> None:
    for number in range(5):
        parquet("replace", keep_old_hours=24).put({"id": "int64"}, [[number]])
    *kept, name = place.list(folder)
    assert (name, [held(each) for each in kept]) == ("abc", [[{"id": number}] for number in (1, 2, 3)])
    parquet("replace", keep_old_hours=24).begin({"id": "int64"}, [[9]])
    assert place.list(folder)[-1] == "abc"


@pytest.mark.parametrize("place", ["file"], indirect=True)
def test_parquet_is_widened_and_other_changes_are_refused(parquet: Any, held: Any) -> None:
    parquet(**UPSERT).put({"id": "int32", "f": "float", "d": "decimal(6, 2)"}, [[1, 0.5, "1.50"]])
    parquet(**UPSERT).put(WIDER, [[2**40, 1e300, "123456.1234", "new"]])
    assert held() == [
        {"id": 1, "f": 0.5, "d": "1.5000", "name": None},
        {"id": 2**40, "f": 1e300, "d": "123456.1234", "name": "new"},
    ]
    with pytest.raises(OutputRefused, match=r"name is VARCHAR there, which binary is no widening of. The table has"):
        parquet(**UPSERT).put({"id": "int64", "name": "binary"}, [[1, "00"]])
    with pytest.raises(OutputRefused, match="holds NULL"):
        parquet(**UPSERT).put({"id": "int64"}, [[None]])
    assert len(held()) == 2


@pytest.mark.parametrize("place", ["file", "s3"], indirect=True)
def test_whoever_is_killed_while_it_rewrites_leaves_the_old_or_the_new(
    parquet: Any, held: Any, place: Files, folder: str
) -> None:
    before: list[Mapping[str, Any]] = [{"id": 1, "name": "old"}, {"id": 2, "name": "old"}]
    parquet(**UPSERT).put(PLAIN, [[1, "old"], [2, "old"]])
    into = parquet(**UPSERT)
    for calls in itertools.count(1, 2):
        into.begin(PLAIN, [[2, f"new {calls}"]])
        into.die(calls)
        with suppress(OutputRefused):
            into.tell("commit")
            break
        into.kill()
        into.make()
        into.tell("sweep")
        found = held()
        assert found in (before, [before[0], {"id": 2, "name": f"new {calls}"}])
        assert place.list(folder) == ["abc"]
        before = found
    assert {"id": 2, "name": f"new {calls}"} in held()


def test_text_has_no_upsert(outputs: Any, tmp_path: Path) -> None:
    config = {"hdfs_uri": "file:///", "result_path": f"{tmp_path}/abc", "write_mode": "upsert", "key_columns": ["id"]}
    with pytest.raises(OutputRefused, match="parquet serves"):
        outputs({"type": "text_file", "config": config}, roots=[str(tmp_path)]).put(PLAIN, [[1, "a"]])
