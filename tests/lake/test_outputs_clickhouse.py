"""Results as tables: a real ClickHouse 18.16, and the engine of a modern one."""

import itertools
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlencode

import httpx
import pytest

from tests.lake.writers import LARGE, PLAIN, OutputRefused, Outputs, numbers
from tests.services.clickhouse import HttpClickhouse
from tests.services.server import wait_until

pytestmark = pytest.mark.heavy


OLD: Final = pytest.mark.parametrize("server", ["18.16"], indirect=True)
MODERN: Final = pytest.mark.parametrize("server", ["modern"], indirect=True)


@pytest.fixture(params=["18.16", "modern"])
def server(request: pytest.FixtureRequest) -> HttpClickhouse:
    found: HttpClickhouse = request.getfixturevalue("clickhouse" if request.param == "18.16" else "chdb_server")
    return found


@pytest.fixture
def database(server: HttpClickhouse) -> Iterator[str]:
    name = f"test_db{next(numbers)}"
    server.query(f"CREATE DATABASE {name}")
    yield name
    server.query(f"DROP DATABASE {name}")


@pytest.fixture
def table(outputs: Any, server: HttpClickhouse, database: str) -> Any:
    """Makes outputs to a table of the test's database."""

    def make(name: str = "product", mode: str = "append", **more: object) -> Outputs:
        config = {"class_name": "clickhouse_config", "database": database, "table_name": name, "write_mode": mode}
        account = {"url": server.url, "user": server.user, "password": server.password}
        made: Outputs = outputs({"type": "datainsider", "config": {**config, **more}}, clickhouse=account)
        return made

    return make


def tables(server: HttpClickhouse, database: str) -> list[str]:
    return sorted(server.query(f"SHOW TABLES FROM {database}").split())


def rows(server: HttpClickhouse, table: str, columns: str = "*") -> list[str]:
    return sorted(server.query(f"SELECT {columns} FROM {table}").splitlines())


NASTY: Final = "tab\t nl\n cr\r nul\0 back\\slash \\N \\t quote' \" `tick` 물시계"


def test_a_table_is_made_from_the_querys_columns(table: Any, server: HttpClickhouse, database: str) -> None:
    columns = {
        "i": "int8",
        "big": "int64",
        "u": "uint64",
        "b": "bool",
        "f": "double",
        "g": "float",
        "d": "decimal(38, 10)",
        "s": "string",
        "day": "date32",
        "t": "timestamp Asia/Seoul",
        "n": "timestamp",
        "a": "list<string>",
        "aa": "list<list<double>>",
        "m": "map",
        "st": "struct",
        "bytes": "binary",
        "z": "null",
    }
    first: list[object] = [
        1,
        2**63 - 1,
        2**64 - 1,
        True,
        None,
        0.5,
        "0.0000000001",
        NASTY,
        "2026-11-16",
        "2026-11-16T09:30:00Z",
    ]
    first += ["2026-11-16T09:30:00", [NASTY, None, "'"], [[1.5], []], {"k": 1.5}, {"x": 1, "y": NASTY}, "00ff0a", None]
    second: list[object] = [2, -(2**63), 0, False, 1e300, -1e-30, "-1.5", "", "2026-01-01", "1970-01-01T00:00:07Z"]
    second += ["1970-01-01T00:00:07", [], [], {}, None, "", None]
    nothing: list[object] = [3, *[None] * 10, [], [], *[None] * 4]
    table().put(columns, [first, second, nothing])
    one, two, three = (json.loads(line) for line in rows_as_json(server, f"{database}.product"))
    strings = {"s", "m", "st", "bytes", "z"}
    assert {name: str(value) for name, value in one.items() if name not in strings | {"a", "aa"}} == {
        "i": "1",
        "big": str(2**63 - 1),
        "u": str(2**64 - 1),
        "b": "1",
        "f": "None",
        "g": "0.5",
        "d": "0.0000000001",
        "day": "2026-11-16",
        "t": "2026-11-16 09:30:00",
        "n": "2026-11-16 09:30:00",
    }
    assert (one["s"], one["a"], one["aa"], one["m"]) == (NASTY, [NASTY, None, "'"], [[1.5], []], '{"k":1.5}')
    assert json.loads(one["st"]) == {"x": 1, "y": NASTY}
    assert server.query(f"SELECT hex(bytes) FROM {database}.product WHERE i = 1") == "00FF0A\n"
    assert (two["big"], float(two["f"]), two["t"], two["s"], two["a"]) == (
        str(-(2**63)),
        1e300,
        "1970-01-01 00:00:07",
        "",
        [],
    )
    assert {value if not isinstance(value, list) else None for name, value in three.items() if name != "i"} == {None}


def rows_as_json(server: HttpClickhouse, table: str) -> list[str]:
    """In the order of i; moments to the second, which both servers show alike, and numbers without a loss."""
    shown = "toDateTime(t) AS t, toDateTime(n) AS n, toUInt8(b) AS b, toString(big) AS big, toString(u) AS u"
    names = "i, f, g, s, day, a, aa, m, st, z, toString(d) AS d"
    return server.query(f"SELECT {names}, {shown} FROM {table} ORDER BY i FORMAT JSONEachRow").splitlines()


def test_nan_and_infinity_arrive(table: Any, server: HttpClickhouse, database: str) -> None:
    table().put({"i": "int8", "f": "double", "a": "list<float>"}, [[1, "nan", []], [2, "inf", [1.5]], [3, "-inf", []]])
    assert rows(server, f"{database}.product", "i, f") == ["1\tnan", "2\tinf", "3\t-inf"]


def test_moments_keep_their_instant_in_any_zone(table: Any, server: HttpClickhouse, database: str) -> None:
    columns = "i UInt8, t DateTime('Asia/Seoul'), a Array(DateTime('Asia/Seoul'))"
    server.query(f"CREATE TABLE {database}.product ({columns}) ENGINE = MergeTree ORDER BY i")
    moment = "2026-11-16T09:30:00Z"
    table().put({"i": "int8", "t": "timestamp UTC", "a": "list<timestamp UTC>"}, [[1, moment, [moment]]])
    table().put({"i": "int8", "t": "timestamp", "a": "list<timestamp>"}, [[2, moment[:-1], []]])
    assert rows(server, f"{database}.product") == [
        "1\t2026-11-16 18:30:00\t['2026-11-16 18:30:00']",
        "2\t2026-11-16 09:30:00\t[]",
    ]


@MODERN
def test_a_modern_server_has_room_for_old_days_and_fractions(table: Any, server: HttpClickhouse, database: str) -> None:
    columns = {"i": "int8", "day": "date32", "t": "timestamp Asia/Seoul", "n": "timestamp"}
    moments = ["2026-11-16T09:30:00.123456", "1969-12-31T23:59:58.5", "2250-01-01T00:00:00"]
    into = table()
    into.put(columns, [[i, moment[:10], f"{moment}Z", moment] for i, moment in enumerate(moments)])
    assert server.query(f"SELECT day, t, n FROM {database}.product ORDER BY i").splitlines() == [
        "2026-11-16\t2026-11-16 09:30:00.123456\t2026-11-16 09:30:00.123456",
        "1969-12-31\t1969-12-31 23:59:58.500000\t1969-12-31 23:59:58.500000",
        "2250-01-01\t2250-01-01 00:00:00.000000\t2250-01-01 00:00:00.000000",
    ]
    with pytest.raises(OutputRefused, match="'t' holds a moment before 1900"):
        into.put(columns, [[1, "1900-01-01", "1850-01-01T00:00:00Z", None]])
    with pytest.raises(OutputRefused, match="'day' holds 9999-12-31, which Date32 cannot hold"):
        into.put(columns, [[1, "9999-12-31", None, None]])


@OLD
def test_a_statement_that_outlives_its_run_is_ended_by_the_sweep(
    table: Any, server: HttpClickhouse, database: str
) -> None:
    into = table()
    attempt = into.make()
    query_id = f".waterclock-7-{attempt}-new-product#1"
    slow = f"{server.url}/?" + urlencode({"query_id": query_id, "max_block_size": 1})
    running = f"SELECT count() FROM system.processes WHERE query_id = '{query_id}'"
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(httpx.post, slow, content="SELECT sum(sleep(1)) FROM numbers(100)", headers=headers(server))
        wait_until(lambda: server.query(running) == "1\n", "the statement to run")
        into.make()
        into.tell("sweep")
        assert server.query(running) == "0\n"
        assert ended.result().status_code != 200


def headers(server: HttpClickhouse) -> dict[str, str]:
    return {"X-ClickHouse-User": server.user, "X-ClickHouse-Key": server.password}


def test_appended_rows_are_added_and_replaced_ones_are_gone(table: Any, server: HttpClickhouse, database: str) -> None:
    table().put(PLAIN, [[1, "a"]])
    table().put(PLAIN, [[1, "a"]])
    assert rows(server, f"{database}.product") == ["1\ta", "1\ta"]
    table(mode="replace").put(PLAIN, [[2, "b"]])
    assert rows(server, f"{database}.product") == ["2\tb"]
    assert tables(server, database) == ["product"]


def test_a_table_keeps_its_structure_when_it_is_replaced(table: Any, server: HttpClickhouse, database: str) -> None:
    columns = "id UInt32, name String DEFAULT 'x', day Date, twice UInt64 MATERIALIZED id * 2"
    engine = "ReplacingMergeTree PARTITION BY toYYYYMM(day) ORDER BY id"
    server.query(f"CREATE TABLE {database}.product ({columns}) ENGINE = {engine}")
    before = server.query(f"SHOW CREATE TABLE {database}.product")
    for mode in ("append", "replace"):
        table(mode=mode).put({"day": "date32", "id": "int64"}, [["2026-11-16", 5], ["2026-10-16", 6]])
        assert rows(server, f"{database}.product", "id, name, day, twice") == [
            "5\tx\t2026-11-16\t10",
            "6\tx\t2026-10-16\t12",
        ]
        server.query(f"TRUNCATE TABLE {database}.product")
    assert server.query(f"SHOW CREATE TABLE {database}.product") == before


@pytest.mark.parametrize("mode", ["append", "replace"])
@pytest.mark.parametrize(
    ("columns", "row", "words"),
    [
        ({"id": "int64"}, [1], "has columns that the query does not give: at, e, name, price"),
        ({"id": "int64", "x": "int64"}, [1, 1], "has no column x: it has at, e, id, name, price"),
        ({"id": "int64"}, [300], "'id' does not fit into UInt8: Integer value 300 not in range"),
        ({"price": "decimal(10, 4)"}, ["1.2345"], "'price' does not fit into Decimal"),
        ({"name": "string"}, [None], "'name' holds NULL"),
        ({"at": "timestamp UTC"}, ["2026-01-01T00:00:00.5Z"], "'at' has fractions of a second"),
        ({"at": "timestamp UTC"}, ["1960-01-01T00:00:00Z"], "'at' holds a moment before 1970"),
        ({"at": "string"}, ["yesterday"], "'at' does not fit into DateTime"),
        ({"e": "string"}, ["c"], r"(?i)unknown element"),
    ],
)
def test_what_does_not_fit_is_said_and_leaves_the_table(
    table: Any,
    server: HttpClickhouse,
    database: str,
    mode: str,
    columns: Mapping[str, str],
    row: list[object],
    words: str,
) -> None:
    kinds = "id UInt8, price Decimal(5, 2), name String, at DateTime, e Enum8('a' = 1, 'b' = 2)"
    server.query(f"CREATE TABLE {database}.product ({kinds}) ENGINE = MergeTree ORDER BY id")
    server.query(f"INSERT INTO {database}.product VALUES (7, 1.5, 'old', '2026-01-01 00:00:00', 'a')")
    usual = {"id": "int64", "price": "decimal(10, 4)", "name": "string", "at": "timestamp UTC", "e": "string"}
    good: dict[str, object] = dict(zip(usual, [1, "1.5000", "n", "2026-01-01T00:00:00Z", "b"], strict=True))
    if "query" not in words and "column" not in words:
        good |= dict(zip(columns, row, strict=True))
        columns, row = {**usual, **columns}, list(good.values())
    with pytest.raises(OutputRefused, match=words) as refusal:
        table(mode=mode).put(columns, [row])
    assert f"{server.url} {database}.product" in str(refusal.value)
    assert rows(server, f"{database}.product", "id, name") == ["7\told"]
    assert tables(server, database) == ["product"]


@pytest.mark.parametrize("mode", ["append", "replace"])
def test_a_killed_load_leaves_the_table_and_nothing_after_a_sweep(
    table: Any, server: HttpClickhouse, database: str, mode: str
) -> None:
    table().put(PLAIN, [[1, "old"]])
    into = table(mode=mode)
    into.begin(PLAIN, LARGE, times=40)  # more than one INSERT
    assert len(tables(server, database)) == 2
    into.kill()
    into.make()
    into.tell("sweep")
    assert rows(server, f"{database}.product") == ["1\told"]
    assert tables(server, database) == ["product"]


@pytest.mark.parametrize(
    ("server", "mode"), [("18.16", "append"), ("18.16", "replace"), ("modern", "replace")], indirect=["server"]
)
def test_whoever_is_killed_while_it_commits_to_a_table_leaves_the_old_or_the_new(
    table: Any, server: HttpClickhouse, database: str, mode: str
) -> None:
    before = ["0\told"]
    table().put(PLAIN, [[0, "old"]])
    into = table(mode=mode)
    for calls in itertools.count(1):
        into.begin(PLAIN, [[calls, "new"]])
        into.die(calls)
        with suppress(OutputRefused):
            into.tell("commit")
            break
        into.kill()
        into.make()
        into.tell("sweep")
        after = sorted([*(before if mode == "append" else []), f"{calls}\tnew"])
        found = rows(server, f"{database}.product")
        assert found in (before, after)
        assert tables(server, database) == ["product"]
        before = found
    assert calls > 2
    assert f"{calls}\tnew" in rows(server, f"{database}.product")


def test_a_server_that_died_between_two_renames_has_its_table_back_after_a_sweep(
    table: Any, server: HttpClickhouse, database: str
) -> None:
    into = table(mode="replace")
    into.put(PLAIN, [[1, "old"]])
    attempt = into.make()
    server.query(f"RENAME TABLE {database}.product TO {database}.`.waterclock-7-{attempt}-old-product`")
    into.make()
    into.tell("sweep")
    assert rows(server, f"{database}.product") == ["1\told"]
    assert tables(server, database) == ["product"]


def test_appended_rows_are_one_block(table: Any, server: HttpClickhouse, database: str) -> None:
    server.query(f"CREATE TABLE {database}.product (id Int64, name String) ENGINE = MergeTree ORDER BY id")
    table().put({"id": "int64", "name": "string"}, [[number, ""] for number in range(1100)], times=1000)
    parts = f"SELECT name, rows FROM system.parts WHERE database = '{database}' AND table = 'product' AND active"
    assert server.query(parts) == "all_1_1_0\t1100000\n"  # a server's own blocks end before


def test_names_are_names_whatever_they_hold(table: Any, server: HttpClickhouse, database: str) -> None:
    name = "it`s \\ a; DROP TABLE x -- '물시계'"
    quoted = "`it\\`s \\\\ a; DROP TABLE x -- '물시계'`"
    for mode in ("append", "append", "replace"):
        table(name=name, mode=mode).put({"a`b": "int64", "c'd\te": "int64"}, [[1, 2]])
    assert rows(server, f"{database}.{quoted}") == ["1\t2"]
    assert server.query(f"SELECT count() FROM system.tables WHERE database = '{database}'") == "1\n"


def test_a_wide_table_takes_its_rows(table: Any, server: HttpClickhouse, database: str) -> None:
    columns = {f"a_column_with_a_long_name_{number}": "int64" for number in range(300)}
    table().put(columns, [list(range(300))])
    assert server.query(f"SELECT a_column_with_a_long_name_299 FROM {database}.product") == "299\n"


def test_what_cannot_be_replaced_is_said(table: Any, server: HttpClickhouse, database: str) -> None:
    server.query(f"CREATE VIEW {database}.product AS SELECT 1 AS id")
    with pytest.raises(OutputRefused, match="is a View: only tables"):
        table(mode="replace").put({"id": "int64"}, [[1]])
    with pytest.raises(OutputRefused, match="there is no database 'missing'"):
        table(database="missing").put(PLAIN, [[1, "a"]])


def test_a_wrong_password_is_said_without_repeating_it(outputs: Any, server: HttpClickhouse) -> None:
    config = {"class_name": "clickhouse_config", "database": "default", "table_name": "x", "write_mode": "append"}
    account = {"url": server.url, "user": server.user, "password": "wrong one"}
    with pytest.raises(OutputRefused, match=r"(?i)password") as refusal:
        outputs({"type": "datainsider", "config": config}, clickhouse=account).put(PLAIN, [[1, "a"]])
    assert "wrong one" not in str(refusal.value)
