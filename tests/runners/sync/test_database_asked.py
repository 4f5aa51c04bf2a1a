"""What a job reads of a database: decided from its task alone."""

from collections.abc import Mapping
from typing import Any

import pytest

from waterclock.runners.sync.database.asked import Increment, Mark, NullRows, asked_of, parts_of
from waterclock.runners.sync.database.faults import in_words
from waterclock.runners.sync.source import SourceFailed, Wanted

TASK: Mapping[str, Any] = {"table_name": "orders", "sync_mode": "IncrementalSync", "incremental_column": "id"}


def increment(since: Mapping[str, Any] | None = None, **task: object) -> Increment:
    found = asked_of(Wanted(task={**TASK, **task}, since=since)).increment
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("orders", ("orders",)),
        ("shop.orders", ("shop", "orders")),
        ('shop."orders.2026"', ("shop", "orders.2026")),
        ('"a""b".`c``d`', ('a"b', "c`d")),
    ],
)
def test_a_name_is_read_in_its_parts(name: str, parts: tuple[str, ...]) -> None:
    assert parts_of(name) == parts


@pytest.mark.parametrize("name", ["a.b.c", "a..b", ".a", "a.", '"', 'a"b"', ""])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(SourceFailed, match="is no name such as"):
        parts_of(name)


def test_the_bookmark_goes_before_where_the_job_begins() -> None:
    since = {"column": "id", "value": "7", "type": "number"}
    assert increment(since, last_synced_value=3).after == Mark(value="7", scale="number")
    assert increment(last_synced_value=3).after == Mark(value="3")
    assert increment({**since, "column": "at"}, last_synced_value="").after is None


def test_with_keys_what_stands_at_the_watermark_is_read_again() -> None:
    assert (increment().inclusive, increment().null_rows) == (False, NullRows.FAIL)
    keyed = increment(key_columns=["id"])
    assert (keyed.inclusive, keyed.null_rows) == (True, NullRows.READ)
    assert increment(key_columns=["id"], inclusive=False, null_rows="skip").null_rows is NullRows.SKIP


def test_a_full_sync_begins_with_the_first_row() -> None:
    found = increment({"column": "id", "value": "7"}, sync_mode="FullSync")
    assert (found.is_full, found.after) == (True, None)
    assert asked_of(Wanted(task={"table_name": "orders"})).increment is None


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ({"query": "SELECT 1"}, "give table_name or query, one of them"),
        ({"incremental_column": ""}, "an IncrementalSync needs incremental_column"),
        ({"null_rows": "maybe"}, "null_rows must be one of read, skip, fail"),
        ({"lag_seconds": -1}, "lag_seconds must be a number, 0 or more"),
        ({"table_name": "a\0b"}, "holds a NUL character"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(task: Mapping[str, Any], words: str) -> None:
    with pytest.raises(SourceFailed, match=words):
        increment(**task)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            'IO Error: Unable to connect to Postgres at "": connection to server at "::1", port 1 failed: '
            "Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?\n",
            'it cannot be reached: connection to server at "::1", port 1 failed: Connection refused',
        ),
        (
            'IO Error: Failed to fetch result row for MySQL query "SELECT `a` FROM (\nselect "x": 1\n)": \n',
            "the connection was lost",
        ),
        (
            'Binder Error: Failed to prepare query "SELECT * FROM nope": ERROR:  relation "nope" does not exist\n'
            "LINE 1: SELECT * FROM nope\n    ^\n\n\nLINE 1: FROM postgres_query('src', 'SELECT…\n",
            'there is no such table: relation "nope" does not exist',
        ),
        ("password sesame is wrong", "password *** is wrong"),
    ],
)
def test_an_error_is_told_without_what_stands_around_it(said: str, words: str) -> None:
    assert in_words("a place", said, "sesame") == f"a place: {words}"
