"""Sync jobs as they are sent: three kinds, their aliases; what is wrong is refused with its place."""

from typing import Any

import pytest

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake import LakeDraft
from waterclock.domain.lake_sync import SyncKind
from waterclock.faces.lake.definition import draft_of
from waterclock.faces.lake.many import jobs_of

PARQUET: dict[str, Any] = {"type": "parquet", "config": {"result_path": "file:///data/orders"}}
TABLE: dict[str, Any] = {
    "class_name": "sync_db_job",
    "display_name": "orders",
    "source": "shop",
    "table_name": "orders",
    "destinations": [PARQUET],
}
FILES: dict[str, Any] = {
    "class_name": "sync_file_job",
    "display_name": "sales",
    "source": 7,
    "path": "sales/*.csv",
    "destinations": [PARQUET],
}
SERVICE: dict[str, Any] = {
    "class_name": "sync_service_job",
    "display_name": "users",
    "source": "crm",
    "endpoint": "/users",
    "records": "$.data[*]",
    "paging": {"style": "page", "size_param": "n", "size": 100},
    "destinations": [PARQUET],
}


def draft(job: dict[str, Any]) -> LakeDraft:
    return draft_of(job, timezone="UTC", now=1_700_000_000_000_000)


def test_what_is_kept_is_what_was_sent_and_the_mode() -> None:
    found = draft({**TABLE, "nobody": 1, "database_name": "", "key_columns": []})
    parquet = {"class_name": "hadoop_config", "hdfs_uri": "file:///", "result_path": "/data/orders"}
    assert (found.class_name, found.job_type, found.display_name) == (SyncKind.DB, "SyncDb", "orders")
    assert found.task == {
        "source": "shop",
        "table_name": "orders",
        "sync_mode": "FullSync",
        "destinations": ({"type": "parquet", "config": parquet},),
    }
    assert list(found.definition)[:4] == ["class_name", "display_name", "job_type", "schedule_time"]
    assert draft(SERVICE).task["paging"] == SERVICE["paging"]
    files = draft({**FILES, "path": ["a.csv", "b/*.csv"], "format": "CSV", "on_bad_line": "Skip"}).task
    assert (files["path"], files["format"], files["on_bad_line"]) == (("a.csv", "b/*.csv"), "csv", "skip")


@pytest.mark.parametrize(
    ("alias", "kind", "job"),
    [
        ("jdbc_job", SyncKind.DB, TABLE),
        ("generic_jdbc_job", SyncKind.DB, TABLE),
        ("amazon_s3_job", SyncKind.FILE, FILES),
        ("google_sheets_job", SyncKind.FILE, {**FILES, "path": None, "spreadsheet_id": "abc"}),
    ],
)
def test_an_alias_is_one_of_the_three_kinds_and_shown_as_it_was_sent(
    alias: str, kind: SyncKind, job: dict[str, Any]
) -> None:
    found = draft({**job, "class_name": alias})
    assert (found.class_name, found.definition["class_name"]) == (kind, alias)


def test_a_destination_may_be_a_name_and_a_source_a_number() -> None:
    job = {**TABLE, "source": None, "source_id": "12", "destinations": ["clickhouse", "Hadoop"], "dest_table_name": "t"}
    found = draft(job).task
    assert (found["source"], found["destinations"]) == (12, ("Clickhouse", "Hadoop"))
    assert "destinations" not in draft({**TABLE, "destinations": None, "dest_table_name": "t"}).task


def test_databases_and_files_of_duckdb_are_outputs() -> None:
    postgresql: dict[str, Any] = {
        "type": "postgresql",
        "config": {"source": "dwh", "schema": "shop", "table_name": "orders"},
    }
    duckdb: dict[str, Any] = {
        "type": "duckdb",
        "config": {"path": "/data/lake.db", "table_name": "orders", "keep_old_hours": 0},
    }
    kept = draft({**TABLE, "destinations": [postgresql, duckdb]}).definition["destinations"]
    assert kept == (
        {"type": "postgresql", "config": {"class_name": "database_config", **postgresql["config"]}},
        {"type": "duckdb", "config": {"class_name": "duckdb_config", **duckdb["config"]}},
    )


DEEP: Any = None
for _ in range(900):
    DEEP = [DEEP]
INCREMENTAL = {"sync_mode": "IncrementalSync"}
CONFIG = {"result_path": "file:///x"}
NO_KEY = {"source": 1, "table_name": "t", "write_mode": "upsert"}


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        ({**TABLE, "source": None}, r"job\.source: is required: a source's name or number"),
        ({**TABLE, "source": 0}, r"job\.source: must be a whole number"),
        ({**TABLE, "table_name": ""}, r"job\.table_name: is required, or query"),
        ({**TABLE, "query": "select 1"}, r"job\.query: cannot be given together with table_name"),
        ({**FILES, "path": None}, r"job\.path: is required, or spreadsheet_id"),
        ({**SERVICE, "endpoint": ""}, r"job\.endpoint: is required"),
        ({**TABLE, **INCREMENTAL}, r"job\.incremental_column: is required for an IncrementalSync"),
        ({**SERVICE, **INCREMENTAL}, r"job\.incremental_column: is required .* or key_columns"),
        ({**TABLE, "sync_mode": "Full"}, r"job\.sync_mode: must be one of FullSync, IncrementalSync"),
        ({**TABLE, "key_columns": ["id", 3]}, r"job\.key_columns\[1\]: must be text"),
        ({**TABLE, "key_columns": "id"}, r"job\.key_columns: must be a list"),
        ({**TABLE, "last_synced_value": [1]}, r"job\.last_synced_value: must be text or a number"),
        ({**TABLE, "destinations": []}, r"job\.dest_table_name: is required, or destinations"),
        ({**TABLE, "destinations": ["Clickhouse"]}, r"job\.dest_table_name: is required where a destination is Click"),
        ({**TABLE, "destinations": ["Oracle"]}, r"job\.destinations\[0\]: must be Clickhouse or Hadoop, or an output"),
        (
            {**TABLE, "destinations": [{"type": "mysql", "config": {"table_name": "t"}}]},
            r"\[0\]\.config\.source: is re",
        ),
        (
            {**TABLE, "destinations": [{"type": "parquet", "config": {**CONFIG, "write_mode": "append"}}]},
            r"job\.destinations\[0\]\.config\.write_mode: is decided by sync_mode .* make it replace",
        ),
        (
            {**FILES, **INCREMENTAL, "key_columns": ["id"], "destinations": [{"type": "text_file", "config": CONFIG}]},
            r"job\.destinations\[0\]\.type: is text, which has no types to know a key by",
        ),
        ({**TABLE, "destinations": [{"type": "jdbc", "config": NO_KEY}]}, r"config\.key_columns: is required where"),
        ({**FILES, "options": [1]}, r"job\.options: must be a JSON object"),
        ({**FILES, "options": {"deep": DEEP}}, r"job\.options: is nested more than 32 deep"),
        ({**FILES, "options": {"nulls": ["\0"]}}, r"job\.options: cannot hold a NUL"),
        ({**SERVICE, "params": {"a": "x" * 70_000}}, r"job\.params: is longer than 65536"),
        ({**SERVICE, "params": {"a": "{{secret:}}"}}, r"job\.params\.a: a reference to a secret"),
        ({**FILES, "path": ["a.csv", 1]}, r"job\.path\[1\]: must be text"),
        ({**FILES, "format": "word"}, r"job\.format: must be one of csv, json, parquet, excel"),
    ],
)
def test_what_can_never_run_is_refused_with_its_place(job: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        draft(job)


def test_an_incremental_sync_says_by_what_it_goes_on() -> None:
    assert (
        draft({**TABLE, **INCREMENTAL, "incremental_column": "id", "last_synced_value": 5}).task["last_synced_value"]
        == 5
    )
    assert draft({**SERVICE, **INCREMENTAL, "key_columns": ["id"]}).task["key_columns"] == ("id",)
    assert draft({**FILES, **INCREMENTAL}).task["sync_mode"] == "IncrementalSync"


def test_a_job_for_each_table_has_its_own_place() -> None:
    mysql = {"type": "mysql", "config": {"source": 3}}
    parquet = {"type": "parquet", "config": {"result_path": "s3://lake/{table}"}}
    job = {**TABLE, "table_name": None, "destinations": ["Clickhouse", mysql, parquet]}
    first, second = jobs_of(job, ['shop."orders.2026"', "users"])
    assert (first["display_name"], first["table_name"]) == ('orders shop."orders.2026"', 'shop."orders.2026"')
    assert (first["dest_table_name"], second["dest_table_name"]) == ("shop_orders_2026", "users")
    assert [output["config"] for output in first["destinations"][1:]] == [
        {"source": 3, "table_name": "shop_orders_2026"},
        {"result_path": "s3://lake/shop_orders_2026"},
    ]
    assert jobs_of({**job, "dest_table_name": "shop_{table}"}, ["users"])[0]["dest_table_name"] == "shop_users"
    assert jobs_of({**TABLE, "dest_table_name": "one"}, ["users"])[0]["destinations"] == [PARQUET]


@pytest.mark.parametrize(
    ("job", "tables", "reason"),
    [
        ({**TABLE, "destinations": None, "dest_table_name": "one"}, ["a", "b"], r"job\.dest_table_name: is one place"),
        (TABLE, ["a", "b"], r"job\.destinations\[0\]: is one place for all tables: put \{table\}"),
        ({**TABLE, "destinations": None}, ["a.b", "A_B"], r"tables: 'a\.b' and 'A_B' would both be written to A_B"),
    ],
)
def test_two_tables_never_go_to_one_place(job: dict[str, Any], tables: list[str], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        jobs_of(job, tables)
