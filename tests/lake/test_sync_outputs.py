"""Rows into tables of real databases: PostgreSQL, MariaDB and a DuckDB file."""

import itertools
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from tests.lake.writers import LARGE, PLAIN, OutputRefused, Outputs, Writer, Writers, numbers

pytestmark = pytest.mark.heavy

KINDS: Final = ("postgresql", "mysql", "duckdb")
NASTY: Final = "tab\t nl\n cr\r back\\slash \\N \\t quote' \" `tick` %s 물시계"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A database of the test's own; `asking` is a process that has what reads it."""

    kind: str
    config: Mapping[str, Any]  # of its source
    asking: Writer
    order: Mapping[str, Any]

    def output(self, table: str = "product", mode: str = "append", **more: object) -> dict[str, Any]:
        where = {"path": self.config["path"]} if self.kind == "duckdb" else {"source": 1}
        return {"type": self.kind, "config": {**where, "table_name": table, "write_mode": mode, **more}}

    def ask(self, statement: str) -> list[list[Any]]:
        found = self.asking.tell("ask", kind=self.kind, config=self.config, statement=statement)
        return [list(row) for row in found]

    def name(self, name: str) -> str:
        mark = "`" if self.kind == "mysql" else '"'
        return f"{mark}{name.replace(mark, mark * 2)}{mark}"

    def rows(self, table: str = "product", columns: str = "*") -> list[list[Any]]:
        return sorted(self.ask(f"SELECT {columns} FROM {self.name(table)}"), key=str)

    def tables(self) -> list[str]:
        match self.kind:
            case "mysql":
                return sorted(name for [name] in self.ask("SHOW TABLES"))
            case "postgresql":
                return sorted(
                    name for [name] in self.ask("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
                )
            case _:
                return sorted(name for [name] in self.ask("SELECT table_name FROM duckdb_tables()"))


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, writers: Writers, tmp_path: Path) -> Iterator[Place]:
    asking = writers.take()
    kind: str = request.param
    if kind == "duckdb":
        config: dict[str, Any] = {"path": f"{tmp_path}/lake.duckdb"}
        order: dict[str, Any] = {"roots": [str(tmp_path)]}
    else:
        parts = urlsplit(request.getfixturevalue(f"{'mariadb' if kind == 'mysql' else 'postgres'}_url"))
        config = {"host": "127.0.0.1", "port": parts.port, "user": parts.username, "database": parts.path[1:]}
        config |= {"password": parts.password or ""}
        order = {"sources": [{"id": 1, "kind": kind, "config": config}]}
    yield Place(kind=kind, config=config, asking=asking, order=order)
    asking.close()


@pytest.fixture
def into(outputs: Any, place: Place) -> Any:
    """Makes outputs to a table of the test's database, as a sync would."""

    def make(mode: str = "append", table: str = "product", job: int = 7, **more: object) -> Outputs:
        made: Outputs = outputs(place.output(table, mode, **{"schema_changes": "add", **more}), job=job, **place.order)
        return made

    return make


ONLY_POSTGRESQL: Final = pytest.mark.parametrize("place", ["postgresql"], indirect=True)
ONLY_MYSQL: Final = pytest.mark.parametrize("place", ["mysql"], indirect=True)
ONLY_DUCKDB: Final = pytest.mark.parametrize("place", ["duckdb"], indirect=True)
UPSERT: Final = {"mode": "upsert", "key_columns": ["id"]}


def test_a_table_is_made_and_holds_what_it_was_given(into: Any, place: Place) -> None:
    columns = {
        "i": "int32",
        "big": "int64",
        "u": "uint64",
        "b": "bool",
        "f": "double",
        "g": "float",
        "d": "decimal(20, 4)",
        "s": "string",
        "day": "date32",
        "t": "timestamp Asia/Seoul",
        "n": "timestamp",
        "a": "list<string>",
        "st": "struct",
        "bytes": "binary",
        "z": "null",
    }
    first = [1, 2**63 - 1, 2**64 - 1, True, 1.5, 0.5, "1234567890.1234", NASTY, "2026-11-16", "2026-11-16T09:30:00Z"]
    first += ["2026-11-16T09:30:00.123456", [NASTY, None], {"x": 1, "y": NASTY}, "00ff0a27", None]
    into().put(columns, [first, [2, *[None] * 14]])
    one, two = place.ask("SELECT * FROM product ORDER BY i")
    shown = dict(zip(columns, map(str, one), strict=True))
    assert (one[0], one[1], int(one[2]), bool(one[3]), one[4], one[5]) == (1, 2**63 - 1, 2**64 - 1, True, 1.5, 0.5)
    assert (shown["d"], one[7], shown["day"]) == ("1234567890.1234", NASTY, "2026-11-16")
    assert shown["t"].startswith(("2026-11-16 09:30:00", "2026-11-16 18:30:00+09"))
    assert shown["n"] == "2026-11-16 09:30:00.123456"
    assert (
        "00ff0a27"
        in place.ask(
            f"SELECT {'lower(hex(bytes))' if place.kind != 'postgresql' else 'bytes::text'} FROM product WHERE i = 1"
        )[0][0]
    )
    assert two == [2, *[None] * 14]


def test_rows_are_added_replaced_and_known_again_by_their_key(into: Any, place: Place) -> None:
    into().put(PLAIN, [[1, "a"]])
    into().put(PLAIN, [[1, "b"], [2, "b"]])
    assert place.rows() == [[1, "a"], [1, "b"], [2, "b"]]
    into("replace").put(PLAIN, [[3, "c"], [4, "d"]])
    assert place.rows() == [[3, "c"], [4, "d"]]
    for _ in range(2):
        into(**UPSERT).put(PLAIN, [[4, "not the last"], [5, "e"], [4, "e"]])
        assert place.rows() == [[3, "c"], [4, "e"], [5, "e"]]
    assert place.tables() == ["product"]


def test_an_upsert_makes_its_table_and_finds_rows_by_more_than_one_key(into: Any, place: Place) -> None:
    columns = {"id": "int64", "name": "string", "n": "int32"}
    keyed = into("upsert", key_columns=["name", "id"])
    keyed.put(columns, [[1, "a", 1], [1, "A", 2], [1, "a", 3]])
    keyed.put(columns, [[1, "a", 4], [2, "a", 5]])
    assert place.rows() == [[1, "A", 2], [1, "a", 4], [2, "a", 5]]
    into("upsert", key_columns=["id"], table="bare").put({"id": "int64"}, [[1], [1]])
    into("upsert", key_columns=["id"], table="bare").put({"id": "int64"}, [[1], [2]])
    assert place.rows("bare") == [[1], [2]]


def test_what_an_upsert_does_not_have_stays_as_it_was(into: Any, place: Place) -> None:
    into().put({"id": "int64", "name": "string", "n": "int32"}, [[1, "a", 1], [2, "b", 2]])
    into(**UPSERT).put(PLAIN, [[2, "c"], [3, "d"]])
    assert place.rows() == [[1, "a", 1], [2, "c", 2], [3, "d", None]]


@pytest.mark.parametrize("mode", ["append", "replace", "upsert"])
def test_a_failed_load_leaves_the_old_rows_and_nothing_else(into: Any, place: Place, mode: str) -> None:
    into().put(PLAIN, [[1, "old"]])
    made = into(mode, key_columns=["id"])
    made.begin(PLAIN, LARGE, times=3)
    made.tell("abort")
    assert (place.rows(), place.tables()) == ([[1, "old"]], ["product"])
    made.begin(PLAIN, LARGE, times=3)
    made.kill()
    made.make()
    made.tell("sweep")
    made.tell("abort")
    assert (place.rows(), place.tables()) == ([[1, "old"]], ["product"])


@pytest.mark.parametrize("mode", ["append", "replace", "upsert"])
def test_whoever_is_killed_while_it_commits_leaves_the_old_or_the_new(into: Any, place: Place, mode: str) -> None:
    before = [[1, "old"], [2, "old"]]
    into().put(PLAIN, before)
    made = into(mode, key_columns=["id"])
    for calls in itertools.count(1):
        made.begin(PLAIN, [[2, f"new {calls}"]])
        made.die(calls)
        with suppress(OutputRefused):
            made.tell("commit")
            break
        made.kill()
        made.make()
        made.tell("sweep")
        made.tell("abort")
        left = {"append": before, "replace": [], "upsert": before[:1]}[mode]
        found = place.rows()
        assert found in (before, sorted([*left, [2, f"new {calls}"]], key=str))
        assert place.tables() == ["product"]
        before = found
    assert calls > 2
    assert [2, f"new {calls}"] in place.rows()


# Columns


def test_new_columns_are_added_and_narrow_ones_widened(into: Any, place: Place) -> None:
    columns = {"id": "int32", "f": "float", "d": "decimal(6, 2)"}
    for number, mode in enumerate(("append", "replace", "upsert")):
        table = f"product{number}"
        into(table=table).put(columns, [[1, 0.5, "1.50"]])
        wider = {"id": "int64", "f": "double", "d": "decimal(10, 4)", "name": "string"}
        into(mode, table=table, key_columns=["id"]).put(wider, [[2**40, 1e300, "123456.1234", "new"]])
        rows = [[id, f, str(d), name] for id, f, d, name in place.rows(table)]
        assert rows[-1] == [2**40, 1e300, "123456.1234", "new"]
        assert rows[:-1] == ([] if mode == "replace" else [[1, 0.5, "1.5000", None]])


def test_what_is_no_widening_is_refused_with_both_schemas(into: Any, place: Place) -> None:
    into().put({"id": "int64", "n": "int32"}, [[1, 1]])
    for mode in ("append", "replace", "upsert"):
        with pytest.raises(OutputRefused, match=r"n is \S+ there, which string is no widening of") as refusal:
            into(mode, key_columns=["id"]).put({"id": "int64", "n": "string"}, [[2, "two"]])
        assert "the rows have (id int64, n string)" in str(refusal.value)
        assert "The table has (id " in str(refusal.value)
    with pytest.raises(OutputRefused, match="x would change it, which schema_changes: refuse forbids"):
        into(schema_changes="refuse").put({"id": "int64", "x": "int32"}, [[2, 1]])
    assert (place.rows(), place.tables()) == ([[1, 1]], ["product"])


def test_what_the_rows_lack_is_null_and_refused_where_there_is_none(into: Any, place: Place) -> None:
    place.ask("CREATE TABLE product (id bigint, name varchar(10), n int NOT NULL)")
    with pytest.raises(OutputRefused, match="n takes no NULL, and the rows do not have it"):
        into().put(PLAIN, [[1, "a"]])
    into().put({"n": "int32", "id": "int64"}, [[5, 1]])
    assert place.rows() == [[1, None, 5]]


def test_a_longer_text_finds_room(into: Any, place: Place) -> None:
    place.ask("CREATE TABLE product (id bigint, name varchar(10))")
    for number, mode in enumerate(("append", "upsert", "replace")):
        name = "물" * 20 * (number + 1)
        into(mode, key_columns=["id"]).put(PLAIN, [[number, name]])
        assert [number, name] in place.rows()
    if place.kind != "duckdb":
        with pytest.raises(OutputRefused, match=r"(?i)too long"):
            into(schema_changes="refuse").put(PLAIN, [[9, "x" * 300]])


@pytest.mark.parametrize("place", ["postgresql", "mysql"], indirect=True)  # a file is open to nobody else
def test_a_table_that_is_dropped_meanwhile_is_not_made_of_a_part(into: Any, place: Place) -> None:
    into().put(PLAIN, [[1, "a"]])
    made = into()
    made.begin(PLAIN, [[2, "b"]])
    place.ask("DROP TABLE product")
    with pytest.raises(OutputRefused, match="was dropped by others while its rows were loaded"):
        made.tell("commit")
    made.tell("abort")
    assert place.tables() == []


def test_a_key_that_is_null_or_missing_is_refused(into: Any, place: Place) -> None:
    with pytest.raises(OutputRefused, match="the key column 'id' holds NULL"):
        into(**UPSERT).put(PLAIN, [[None, "a"]])
    with pytest.raises(OutputRefused, match="key_columns names x, which the rows do not have: they have id, name"):
        into("upsert", key_columns=["x"]).put(PLAIN, [[1, "a"]])
    assert place.tables() == []


def test_names_are_names_whatever_they_hold(into: Any, place: Place) -> None:
    name = "it`s \"a\"; DROP TABLE x -- '물시계' %s and longer than any database has room for"[:52]
    for mode in ("append", "upsert", "replace"):
        into(mode, table=name, key_columns=['a`b"c']).put({'a`b"c': "int64", "c'd%e": "int64"}, [[1, 2]])
    assert place.rows(name) == [[1, 2]]
    assert place.tables() == [name]


# What was there


def test_what_is_replaced_is_kept_for_its_hours(into: Any, place: Place) -> None:
    for number in range(6):
        into("replace", keep_old_hours=24).put(PLAIN, [[number, "x"]])
    *kept, product = place.tables()
    assert product == "product"
    assert sorted(place.rows(name)[0][0] for name in kept) == [2, 3, 4]  # the last three
    assert all(name.startswith(".waterclock-old-7-") for name in kept)
    over = f".waterclock-old-9-1-202001010000-{'product'}"
    place.ask(f"ALTER TABLE {place.name(kept[0])} RENAME TO {place.name(over)}")
    into("append").put(PLAIN, [[6, "x"]])
    assert place.tables() == [*kept[1:], "product"]


@ONLY_POSTGRESQL
def test_a_table_of_postgresql_keeps_what_it_has_when_it_is_replaced(into: Any, place: Place) -> None:
    role = f"reader{next(numbers)}"
    place.ask(f"CREATE ROLE {role}")
    place.ask("CREATE TABLE product (id serial PRIMARY KEY, name text DEFAULT 'x' NOT NULL, n int CHECK (n < 9))")
    place.ask("CREATE INDEX ON product (name)")
    place.ask(f"GRANT SELECT ON product TO {role} WITH GRANT OPTION")
    for number in range(2):
        into("replace", keep_old_hours=number).put({"name": "string", "n": "int64"}, [["a", 1], ["b", 2]])
    assert place.ask("SELECT name, n FROM product ORDER BY id") == [["a", 1], ["b", 2]]
    place.ask("INSERT INTO product (n) VALUES (3)")
    assert place.ask("SELECT name FROM product WHERE n = 3") == [["x"]]
    assert len(place.ask("SELECT 1 FROM pg_indexes WHERE tablename = 'product'")) == 2
    assert place.ask(f"SELECT has_table_privilege('{role}', 'product', 'SELECT WITH GRANT OPTION')") == [[True]]
    with pytest.raises(OutputRefused, match="violates check constraint"):
        into("replace").put({"name": "string", "n": "int64"}, [["a", 9]])


@ONLY_POSTGRESQL
def test_a_table_that_a_view_reads_is_filled_in_its_place(into: Any, place: Place) -> None:
    into().put(PLAIN, [[1, "old"]])
    place.ask("CREATE VIEW seen AS SELECT id, name FROM product")
    into("replace", keep_old_hours=1).put({**PLAIN, "n": "int32"}, [[2, "new", 3]])
    assert place.ask("SELECT * FROM seen") == [[2, "new"]]
    assert place.rows() == [[2, "new", 3]]
    assert place.rows(place.tables()[0]) == [[1, "old"]]


@ONLY_MYSQL
def test_a_column_that_is_widened_keeps_what_else_is_said_of_it(into: Any, place: Place) -> None:
    place.ask(
        "CREATE TABLE product (id int AUTO_INCREMENT PRIMARY KEY, n tinyint NOT NULL DEFAULT 7 COMMENT 'it''s n')"
    )
    into("append").put({"id": "int64", "n": "int32"}, [[2**40, 2**20]])
    place.ask("INSERT INTO product () VALUES ()")
    assert place.rows() == [[2**40, 2**20], [2**40 + 1, 7]]
    [[_, text]] = place.ask("SHOW CREATE TABLE product")
    assert "NOT NULL DEFAULT 7 COMMENT 'it''s n'" in text


@ONLY_MYSQL
def test_a_table_with_a_trigger_is_not_replaced(into: Any, place: Place) -> None:
    into().put(PLAIN, [[1, "old"]])
    place.ask("CREATE TRIGGER hook BEFORE INSERT ON product FOR EACH ROW SET NEW.name = 'x'")
    with pytest.raises(OutputRefused, match="has a trigger, hook, which would stay with the old rows"):
        into("replace").put(PLAIN, [[2, "new"]])
    assert place.rows() == [[1, "old"]]


@ONLY_MYSQL
def test_what_mysql_has_no_value_for_is_said(into: Any, place: Place) -> None:
    with pytest.raises(OutputRefused, match="'f' holds NaN or infinity"):
        into().put({"f": "double"}, [["nan"]])
    assert place.tables() == []


@ONLY_DUCKDB
def test_a_table_with_an_index_is_replaced_and_kept(into: Any, place: Place) -> None:
    place.ask("CREATE TABLE product (id bigint PRIMARY KEY, name varchar)")
    place.ask("CREATE INDEX by_name ON product (name)")
    for hours in (1, 0):
        into("replace", keep_old_hours=hours).put(PLAIN, [[hours, "a"]])
    assert place.rows() == [[0, "a"]]
    assert len(place.tables()) == 2


@ONLY_DUCKDB
def test_a_file_that_is_open_elsewhere_is_said_with_the_process(into: Any, place: Place) -> None:
    holding = into()
    holding.begin(PLAIN, [[1, "a"]])
    with pytest.raises(OutputRefused, match=r"\(process [0-9]+\) has the file open: close it there"):
        into(job=8).begin(PLAIN, [[2, "b"]])
    holding.tell("commit")
    into(job=8).put(PLAIN, [[2, "b"]])
    assert place.rows() == [[1, "a"], [2, "b"]]


@ONLY_DUCKDB
def test_a_file_lies_below_the_roots(outputs: Any, place: Place, tmp_path: Path) -> None:
    os.symlink("/tmp", tmp_path / "link")
    for path in ("/etc/x.duckdb", f"{tmp_path}/../x.duckdb", "x.duckdb", f"{tmp_path}/link/x.duckdb"):
        given = {"type": "duckdb", "config": {"path": path, "table_name": "product"}}
        with pytest.raises(OutputRefused, match=r"lake\.roots"):
            outputs(given, roots=[str(tmp_path)]).put(PLAIN, [[1, "a"]])


@pytest.mark.parametrize("place", ["postgresql", "mysql"], indirect=True)
def test_a_server_that_does_not_let_us_in_is_said_without_a_secret(outputs: Any, place: Place) -> None:
    def refused(words: str, **change: object) -> None:
        allows = bool(change.pop("allows", True))
        config = {**place.config, "password": "not this one", **change}
        source = {"id": 1, "kind": place.kind, "config": config}
        with pytest.raises(OutputRefused, match=words) as refusal:
            outputs(place.output(), sources=[source], allows_private=allows).put(PLAIN, [[1, "a"]])
        assert "not this one" not in str(refusal.value)
        assert f"{config['host']}:{config['port']} " in str(refusal.value)

    refused("cannot be reached", port=1)
    refused(r"(?i)access denied|does not exist", user="nobody")
    refused("nobody knows the host", host="no-such-host.invalid")
    refused("not a public address", allows=False)
