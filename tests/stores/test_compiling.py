"""Named statements as each server takes them."""

import pytest

from waterclock.domain.lake import RunSortField, SortField
from waterclock.stores.dialect import MYSQL, POSTGRES, SQLITE, parameters, sorted_by, statement, statements
from waterclock.stores.mysql import compiling as mysql
from waterclock.stores.postgres import compiling as postgres


@pytest.mark.parametrize("dialect", [SQLITE, POSTGRES, MYSQL])
def test_no_statement_keeps_a_word_or_a_comment(dialect: object) -> None:
    from waterclock.stores.dialect import Dialect, worded

    assert isinstance(dialect, Dialect)
    for name, text in statements(dialect.name).items():
        assert "{" not in worded(dialect, text), name
        assert "--" not in text, name


def test_a_name_that_stands_twice_is_one_parameter_of_postgres() -> None:
    compiled = postgres.compiled("stop_node")
    assert compiled.sql == "UPDATE nodes SET stopped_at = $1, heartbeat_at = $1 WHERE id = $2"
    assert compiled.names == ("now", "id")


def test_a_list_is_an_array_of_postgres() -> None:
    assert "id = ANY($1)" in postgres.compiled("delete_runs").sql


def test_a_batch_of_updates_is_one_statement_of_postgres() -> None:
    batch = postgres.batched("advance_trigger", ("int8",) * 4, frozenset({"id", "next_fire_at"}))
    assert batch.sql == (
        "UPDATE triggers SET next_fire_at = u.p_next_fire_at, job_id = $3::int8, version = version + 1 "
        "FROM unnest($1::int8[], $2::int8[]) AS u(p_id, p_next_fire_at) WHERE id = u.p_id "
        "AND CASE WHEN version = $4::int8 THEN TRUE END"
    )
    assert batch.names == ("id", "next_fire_at", "job_id", "was")


def test_a_batch_of_inserts_is_one_statement_of_postgres() -> None:
    batch = postgres.batched("insert_transitions", ("int8", "int8", "text"), frozenset({"moves"}))
    assert batch.sql == (
        "INSERT INTO transitions (org_id, at, moves) "
        "SELECT $2::int8, $3::int8, u.p_moves FROM unnest($1::text[]) AS u(p_moves)"
    )


def test_several_statements_are_one_of_postgres() -> None:
    resume, stop = postgres.compiled("resume_node"), postgres.compiled("stop_node")
    assert postgres.together((resume, stop)) == (
        "WITH part_0 AS (UPDATE nodes SET draining_at = NULL, drained_at = NULL WHERE id = $1) "
        "UPDATE nodes SET stopped_at = $2, heartbeat_at = $2 WHERE id = $3"
    )
    assert postgres.together((stop,)) == stop.sql


def test_what_an_insert_does_about_a_conflict_stands_behind_the_rows() -> None:
    batch = postgres.batched("remember_call", ("text", "text", "int8"), frozenset({"digest", "answer"}))
    assert batch.sql.endswith("AS u(p_answer, p_digest)\nON CONFLICT (digest) DO NOTHING")
    rows = [{"digest": digest, "answer": "a", "now": 1} for digest in ("d", "e")]
    assert mysql.batched("remember_call", rows, "utf8mb4_bin").sql.startswith("INSERT IGNORE INTO idempotent_calls")


def test_a_list_is_written_out_for_mysql_and_an_empty_one_matches_nothing() -> None:
    assert mysql.bound("delete_flow_runs", {"ids": [1, 2]}) == mysql.Bound(
        "DELETE FROM flow_runs WHERE id IN (1,2)", ()
    )
    assert mysql.bound("delete_flow_runs", {"ids": []}).sql.endswith("IN (NULL)")
    named = mysql.bound("triggers_by_names", {"org_id": 1, "namespace": "n", "names": ["a'", "b"]})
    assert named.sql.endswith("name IN (%s,%s)")
    assert named.values == (1, "n", "a'", "b")


def test_a_batch_is_one_json_table_for_mysql() -> None:
    rows = [{"id": n, "was": 1, "next_fire_at": None, "job_id": 5} for n in (7, 8)]
    batch = mysql.batched("advance_trigger", rows, "utf8mb4_bin")
    assert batch.sql == (
        "UPDATE JSON_TABLE(%s, '$[*]' COLUMNS (p_id BIGINT PATH '$[0]')) AS u "
        "STRAIGHT_JOIN triggers FORCE INDEX (PRIMARY) "
        "SET next_fire_at = %s, job_id = %s, version = version + 1 WHERE id = u.p_id AND version = %s"
    )
    assert batch.values == ("[[7],[8]]", None, 5, 1)


def test_a_fraction_among_many_rows_is_not_rounded_by_mysql() -> None:
    rows = [{"id": n, "was": 1, "next_fire_at": at, "job_id": 5} for n, at in ((7, 1), (8, 0.5))]
    assert "p_next_fire_at DOUBLE PATH" in mysql.batched("advance_trigger", rows, "utf8mb4_bin").sql


def test_every_statement_that_is_run_for_many_rows_can_be() -> None:
    for name, text in statements(POSTGRES.name).items():
        names = tuple(dict.fromkeys(parameters(text)))
        if text.startswith("INSERT") or (text.startswith("UPDATE") and "IN :" not in text):
            postgres.batched(name, ("int8",) * len(names), frozenset(names))
            mysql.batched(name, [dict.fromkeys(names, 0), dict.fromkeys(names, 1)], "utf8mb4_bin")


def test_a_statement_that_cannot_be_run_for_many_rows_says_so() -> None:
    with pytest.raises(ValueError, match="not to be run for many rows"):
        postgres.batched("delete_job", ("int8",), frozenset({"id"}))


def test_the_key_of_an_update_is_given_for_each_row_also_where_all_share_a_part_of_it() -> None:
    columns: dict[str, list[object]] = {"id": [1, 2], "run_at": [5, 5], "state": ["SUCCEEDED", "SUCCEEDED"]}
    assert postgres.varying_names("end_run", columns) == {"id", "run_at"}
    assert postgres.varying_names("insert_run", columns) == {"id"}


LIST = "lake_job_ids"


def test_a_list_is_sorted_by_its_own_words_before_its_own_order() -> None:
    assert sorted_by(LIST, []) == LIST
    name = sorted_by(LIST, [("display_name", True), ("job_type", False)])
    plain, text = statement("sqlite", LIST), statement("sqlite", name)
    assert text == plain.replace("ORDER BY l.id", "ORDER BY l.folded_name DESC, l.job_type, l.id")
    assert postgres.compiled(name).names == postgres.compiled(LIST).names
    with pytest.raises(KeyError):
        statement("sqlite", sorted_by(LIST, [("1; DROP TABLE jobs", False)]))


def test_what_may_be_null_comes_last_both_ways() -> None:
    up, down = [statement("sqlite", sorted_by(LIST, [("next_run_time", way)])) for way in (False, True)]
    assert "ORDER BY COALESCE(t.next_fire_at, 9223372036854775807), l.id" in up
    assert "ORDER BY COALESCE(t.next_fire_at, -1) DESC, l.id" in down


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql"])
def test_every_field_that_may_be_asked_for_has_its_words(dialect: str) -> None:
    lists: tuple[tuple[str, type[SortField | RunSortField]], ...] = (
        (LIST, SortField),
        ("lake_runs", RunSortField),
        ("lake_runs_of_job", RunSortField),
        ("lake_runs_of_jobs", RunSortField),
    )
    for name, fields in lists:
        text = statement(dialect, sorted_by(name, [(field, True) for field in fields]))
        assert "--" not in text
        assert text.count("DESC") >= len(fields)
