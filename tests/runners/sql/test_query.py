"""A query and its outputs, with stand-ins for both: all that was written comes in place, or nothing does."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runners.sql.hosted import names
from tests.runners.sql.standin import StandInEngine, StandInSession, outputs_of
from waterclock.domain.lake import LakeTable, TableFormat
from waterclock.runners.lake.order import Order
from waterclock.runners.sql import catalogue, faults
from waterclock.runners.sql.engine import QueryFailed
from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sql.query import Query
from waterclock.runners.sql.words import first_line, listed


def order(query: Any, *outputs: str, tables: tuple[LakeTable, ...] = (), roots: tuple[str, ...] = ()) -> Order:
    info = {"query": query, "outputs": [{"path": path} for path in outputs]}
    return Order(
        kind="sql_job",
        job_id=7,
        run_id="jr_1",
        attempt_id=1,
        task={"query_info": info},
        cache="",
        tables=tables,
        roots=roots,
    )


def run(given: Order, *, is_cancelled: Callable[[], bool] = lambda: False) -> Any:
    session = StandInSession(StandInEngine("dies"))
    return Query(given, session, outputs_of, tell=lambda message: None, is_cancelled=is_cancelled).run()


def table(name: str, path: str) -> LakeTable:
    return LakeTable(name=name, format=TableFormat.PARQUET, path=path)


def test_an_output_that_fails_before_the_first_is_in_place_leaves_all_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")
    with pytest.raises(OutputFailed, match="nobody answers"):
        run(order("rows 3", f"{tmp_path}/out", f"{tmp_path}/out-unopened"))
    assert (names(tmp_path), (tmp_path / "out").read_text()) == (["out"], "old")


def test_an_output_that_fails_after_another_is_in_place_says_so(tmp_path: Path) -> None:
    with pytest.raises(OutputFailed, match=r"the disk is full; already in place: \S+/out$"):
        run(order("rows 3", f"{tmp_path}/out", f"{tmp_path}/out-uncommitted"))
    assert (names(tmp_path), (tmp_path / "out").read_text()) == (["out"], "3")


def test_a_query_that_is_cancelled_puts_nothing_in_place(tmp_path: Path) -> None:
    with pytest.raises(QueryFailed, match="cancelled"):
        run(order("rows 3", f"{tmp_path}/out"), is_cancelled=lambda: True)
    assert names(tmp_path) == []


@pytest.mark.parametrize("query", ["", "  ", None, 7])
def test_a_query_that_is_none_is_refused(query: Any) -> None:
    with pytest.raises(QueryFailed, match=r"query_info\.query is empty"):
        run(order(query))


def test_the_later_shape_of_a_definition_is_read_too() -> None:
    given = Order(kind="sql_job", job_id=7, run_id="", attempt_id=1, task={"query": "rows 3", "outputs": []}, cache="")
    assert run(given)["rows_read"] == 3


def test_only_tables_that_the_query_mentions_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "abc").touch()
    tables = (table("Abc", "abc"), table("other", "/etc/passwd"))
    found = catalogue.readable(order("", tables=tables, roots=(str(tmp_path),)), "select * from ABC")
    assert [each.name for each in found] == ["Abc"]


def test_a_table_may_lie_inside_a_root_only_wherever_links_lead(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "inside-not"
    for folder in (inside, outside):
        folder.mkdir()
    (inside / "link").symlink_to(outside)
    for path in (f"{outside}/t", f"{inside}/../inside-not/t", f"{inside}/link/t", "../t", f"file://{outside}/t"):
        with pytest.raises(QueryFailed, match=r"table 't': .* lies outside .* lake\.roots"):
            catalogue.readable(order("", tables=(table("t", path),), roots=(str(inside),)), "t")
    (inside / "t.parquet").touch()
    for path in (f"{inside}/t.parquet", f"file://{inside}/t.parquet", "t.parquet", "*.parquet", "s3://bucket/t"):
        assert catalogue.readable(order("", tables=(table("t", path),), roots=(str(inside),)), "t")


def test_a_table_where_nothing_lies_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in ("none", "empty", "*.none"):
        with pytest.raises(QueryFailed, match=r"table 't': there is nothing at '\S+/\S+'"):
            catalogue.readable(order("", tables=(table("t", path),), roots=(str(tmp_path),)), "t")


def test_a_table_at_a_private_address_is_refused_unless_an_admin_allows_it() -> None:
    given = order("", tables=(table("t", "hdfs://127.0.0.1:9000/t"),))
    with pytest.raises(QueryFailed, match=r"'127\.0\.0\.1' is not a public address.*lake\.private"):
        catalogue.readable(given, "t")
    assert catalogue.readable(replace(given, allows_private=True), "t")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("invalid argument: found selec at 9:14 expected ';'", "query: found selec at line 2, position 2 expected ';'"),
        (
            "[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'. (line 1, pos 0)\n\n== SQL ==\nx",
            "query: [PARSE_SYNTAX_ERROR] Syntax error at or near 'x'. (line 1, pos 0)",
        ),
        ("Table not found: [TABLE_OR_VIEW_NOT_FOUND] Table or view not found: abc", "table 'abc' not found"),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table or view `a`.`b` cannot be found. Verify …", "table 'a.b' not found"),
    ],
)
def test_the_words_of_both_engines_are_read(said: str, reason: str) -> None:
    assert faults.in_words("query", said, "-- note\n selec 1").reason == reason


def test_a_table_that_is_missing_is_named_with_those_that_are_not(tmp_path: Path) -> None:
    with pytest.raises(QueryFailed, match="table 'nope' not found: the query may name abc"):
        run(order("missing nope", tables=(table("abc", "/abc"),)))


@pytest.mark.parametrize("path", ["https://host/t", "file://elsewhere/t", "/a\0b", "s3a://b/t"])
def test_a_table_that_lies_nowhere_that_is_read_is_refused(path: str) -> None:
    with pytest.raises(QueryFailed, match="table 't'"):
        catalogue.readable(order("", tables=(table("t", path),), roots=("/",)), "t")


def test_the_reason_is_one_line_without_a_stack() -> None:
    said = "\n[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n\tat org.apache.spark.sql.X.y(X.scala:12)\n"
    assert first_line(said) == "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012"
    assert (
        first_line("(java.net.ConnectException) Call From vm to localhost:1 failed")
        == "Call From vm to localhost:1 failed"
    )
    lost = (
        '<_InactiveRpcError of RPC that ended with:\n\tstatus = X\n\tdetails = "Connection refused"\n\tdebug = "…"\n>'
    )
    assert first_line(lost) == "Connection refused"
    assert first_line("\tat org.apache.X(X.scala:1)") == "the engine gave no reason"


def test_of_many_names_some_are_listed() -> None:
    assert listed(["b", "a"]) == "a, b"
    assert listed([f"t{number:02}" for number in range(30)], most=2) == "t00, t01 and 28 more"
