"""Where a sync writes to: names spelled out, how each is written, and what two that write to one place share."""

from pathlib import Path
from typing import Any

import pytest

from waterclock.domain.lake_sync import SyncMode
from waterclock.runners.sql.outputs import OutputFailed
from waterclock.runners.sync.destinations import Own, destinations_of, where_of, wheres_of

OWN = Own(clickhouse="http://ch:8123/", hadoop="hdfs://lake:9000/warehouse")
FULL, INCREMENTAL = SyncMode.FULL, SyncMode.INCREMENTAL


def parquet(uri: str = "file:///", path: str = "/srv/lake/people", **config: Any) -> dict[str, Any]:
    return {"type": "parquet", "config": {"hdfs_uri": uri, "result_path": path, **config}}


def test_names_are_the_workers_own_stores() -> None:
    task = {"destinations": ["Clickhouse", "hadoop"], "dest_database_name": "shop", "dest_table_name": "people"}
    clickhouse, hadoop = destinations_of(task, FULL, OWN)
    assert (clickhouse["type"], hadoop["type"]) == ("datainsider", "parquet")
    assert wheres_of([clickhouse, hadoop], OWN) == [
        "clickhouse http://ch:8123 shop.people",
        "hdfs://lake:9000/warehouse/shop/people",
    ]


@pytest.mark.parametrize(("own", "type_"), [(OWN, "datainsider"), (Own(hadoop="file:///data/lake"), "parquet")])
def test_where_none_is_named_rows_go_where_the_worker_keeps_its_own(own: Own, type_: str) -> None:
    (made,) = destinations_of({"dest_table_name": "people"}, FULL, own)
    assert made["type"] == type_


def test_a_full_sync_replaces_and_keeps_the_old_for_a_day() -> None:
    (made,) = destinations_of({"destinations": [parquet()], "key_columns": ["id"]}, FULL, OWN)
    assert (made["config"]["write_mode"], made["config"]["keep_old_hours"]) == ("replace", 24)
    (made,) = destinations_of({"destinations": [parquet(keep_old_hours=0)]}, FULL, OWN)
    assert made["config"]["keep_old_hours"] == 0


def test_what_is_new_goes_by_its_key_or_is_added() -> None:
    (keyed,) = destinations_of({"destinations": [parquet()], "key_columns": ["id"]}, INCREMENTAL, OWN)
    assert (keyed["config"]["write_mode"], keyed["config"]["key_columns"]) == ("upsert", ["id"])
    (added,) = destinations_of({"destinations": [parquet()]}, INCREMENTAL, OWN)
    assert added["config"]["write_mode"] == "append"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (parquet("lake:9000"), parquet("hdfs://lake:9000/srv", "lake//people/")),
        (parquet(), {**parquet(), "type": "text_file"}),
        (
            {"type": "postgresql", "config": {"source": "shop", "source_id": 3, "table_name": "t"}},
            {"type": "postgresql", "config": {"source": 3, "source_id": 3, "table_name": "t", "schema": "public"}},
        ),
        (
            {"type": "duckdb", "config": {"path": "/srv/x.db", "table_name": "one"}},
            {"type": "duckdb", "config": {"path": "/srv/../srv/x.db", "table_name": "other"}},
        ),
    ],
)
def test_one_place_has_one_name(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert where_of(one, OWN) == where_of(other, OWN)


def test_a_link_leads_to_the_same_place(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    one, other = (where_of(parquet(path=f"{tmp_path}/{name}"), OWN) for name in ("out", "link/out"))
    assert one == other == f"file://{tmp_path}/out"


@pytest.mark.parametrize(
    ("task", "why"),
    [
        ({"destinations": ["Clickhouse"]}, "dest_table_name is missing"),
        ({"destinations": ["Oracle"], "dest_table_name": "t"}, "'Oracle' is not known"),
        ({"destinations": ["Hadoop", 7], "dest_table_name": "t"}, r"destinations\[1\]: 7 is neither"),
        ({"destinations": {}, "dest_table_name": "t"}, None),
        ({"destinations": {"type": "parquet"}}, "must be a list"),
    ],
)
def test_what_is_wrong_is_said(task: dict[str, Any], why: str | None) -> None:
    if why is None:
        assert destinations_of(task, FULL, OWN)
        return
    with pytest.raises(OutputFailed, match=why):
        destinations_of(task, FULL, OWN)
