"""Sync jobs from the REST face to the lake, by a running server: modes, kills, turns, and the deaths of its worker."""

import json
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.server import Server, running, until
from tests.lake.lake_client import LakeClient
from tests.services.rest_service import Fault, RestService, numbered

pytestmark = pytest.mark.heavy

READ = "import json, sys, pyarrow.parquet as pq; print(json.dumps(pq.read_table(sys.argv[1]).to_pylist(), default=str))"


class Syncs:
    """A server that syncs, a database of SQLite and a folder for what comes of it."""

    def __init__(self, server: Server, python: Path, folder: Path) -> None:
        self.server, self.folder, self._python = server, folder, python
        self.lake = LakeClient(server)
        self.database = folder / "shop.db"
        self._number = 0

    def source(self, kind: str, **config: Any) -> str:
        self._number += 1
        name = f"source {self._number}"
        self.lake._call("POST", "/lake/source/create", {"name": name, "kind": kind, "config": config})
        return name

    def number_of(self, source: str) -> int:
        found = self.lake._call("POST", "/lake/source/list", {"keyword": source, "from": 0, "size": 100})["data"]
        return int(next(each["source_id"] for each in found if each["name"] == source))

    def create(self, class_name: str, to: str, **task: Any) -> int:
        config = {"class_name": "hadoop_config", "hdfs_uri": "file:///", "result_path": str(self.folder / to)}
        return self.lake.create(class_name, destinations=[{"type": "parquet", "config": config}], **task)

    def run(self, job_id: int) -> dict[str, Any]:
        self.lake.start(job_id)
        return self.ended(job_id, "Synced")

    def ended(self, job_id: int, status: str) -> dict[str, Any]:
        self.lake.until(job_id, status)
        found = self.lake.last(job_id)
        assert found["job_status"] == status, found
        return found

    def ids(self, to: str) -> list[int]:
        """Of the rows that are in place, in their order."""
        said = subprocess.run([self._python, "-c", READ, self.folder / to], check=True, capture_output=True, text=True)
        return sorted(row["id"] for row in json.loads(said.stdout))

    def left(self, to: str) -> list[str]:
        """What lies in place, or aside."""
        return sorted(path.name for path in self.folder.iterdir() if to in path.name)

    def execute(self, statement: str) -> None:
        with sqlite3.connect(self.database) as connection:
            connection.execute(statement)
        connection.close()


@pytest.fixture(scope="module")
def syncs(lake_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Syncs]:
    folder = tmp_path_factory.mktemp("lake")
    settings: dict[str, Any] = {"sync_python": lake_python, "lake_roots": folder, "lake_private": "true"}
    with running(tmp_path_factory.mktemp("sync"), auth="none", lease_seconds=5, **settings) as server:
        made = Syncs(server, lake_python, folder)
        made.execute("create table people (id integer primary key, name text, at text)")
        yield made


@pytest.fixture
def service() -> Iterator[RestService]:
    with RestService(numbered(25)) as made:
        yield made
        made.let_go()


def fill(syncs: Syncs, first: int, last: int) -> None:
    syncs.execute(
        f"with recursive n(i) as (select {first} union all select i + 1 from n where i < {last}) "
        "insert into people select i, 'name ' || i, '2026-11-16' from n"
    )


def test_a_table_is_synced_whole_and_then_by_what_is_new(syncs: Syncs) -> None:
    fill(syncs, 1, 2000)
    source = syncs.source("sqlite", path=str(syncs.database))
    whole = syncs.create("sync_db_job", "whole", source=source, table_name="people")
    found = syncs.run(whole)["stats"]
    assert (found["rows_read"], found["rows_written"], found["mode"], found["percent"]) == (2000, 2000, "FullSync", 100)
    assert syncs.ids("whole") == list(range(1, 2001))
    given = {"table_name": "people", "sync_mode": "IncrementalSync", "incremental_column": "id"}
    new = syncs.create("sync_db_job", "new", source=source, **given)
    assert syncs.run(new)["stats"]["rows_read"] == 2000
    assert syncs.run(new)["stats"]["rows_written"] == 0
    fill(syncs, 2001, 2010)
    assert syncs.run(new)["stats"]["rows_read"] == 10
    assert syncs.ids("new") == list(range(1, 2011))
    assert syncs.run(whole)["stats"]["rows_read"] == 2010


def test_a_source_is_tested_and_shown_by_a_worker(syncs: Syncs) -> None:
    syncs.execute("create table wide (id integer, text text)")
    syncs.execute("insert into wide values (1, 'ä'), (2, null)")
    number = syncs.number_of(syncs.source("sqlite", path=str(syncs.database)))
    assert "SQLite" in syncs.lake._call("POST", f"/lake/source/{number}/test", {})["message"]
    assert "wide" in syncs.lake._call("GET", f"/lake/source/{number}/tables")["tables"]
    shown = syncs.lake._call("POST", f"/lake/source/{number}/preview", {"table_name": "wide"})
    assert [each["name"] for each in shown["columns"]] == ["id", "text"]
    assert shown["rows"] == [[1, "ä"], [2, None]]
    wrong = syncs.lake._http.post(f"/lake/source/{number}/preview", json={"table_name": "nothing"})
    assert (wrong.status_code, "nothing" in wrong.json()["message"]) == (400, True)


def test_an_answer_that_is_too_long_for_a_report_is_cut(syncs: Syncs) -> None:
    syncs.execute("create table long (id integer, text text)")
    syncs.execute(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100) "
        "insert into long select i, replace(hex(zeroblob(100)), '0', 'ä') from n"
    )
    number = syncs.number_of(syncs.source("sqlite", path=str(syncs.database)))
    shown = syncs.lake._call("POST", f"/lake/source/{number}/preview", {"table_name": "long", "limit": 100})
    assert 10 < len(shown["rows"]) < 100
    assert (shown["cut"], shown["total"]) == (True, 100)


def test_a_kill_leaves_what_was_there(syncs: Syncs, service: RestService) -> None:
    source = syncs.source("rest", base_url=service.url)
    job = syncs.create("sync_service_job", "killed", source=source, **paged())
    syncs.run(job)
    service.fail(None, Fault(held=True))
    asked = len(service.asked)
    syncs.lake.start(job)
    until(lambda: len(service.asked) == asked + 2, "it does not ask for the second page")
    syncs.lake.kill(job)
    syncs.ended(job, "Terminated")
    assert syncs.ids("killed") == list(range(1, 26))
    assert [name for name in syncs.left("killed") if "new" in name] == []


def test_two_syncs_into_one_place_take_turns(syncs: Syncs, service: RestService) -> None:
    source = syncs.source("rest", base_url=service.url)
    first, second = (syncs.create("sync_service_job", "shared", source=source, **paged()) for _ in range(2))
    service.fail(None, Fault(held=True))
    syncs.lake.start(first)
    until(lambda: len(service.asked) == 2, "it does not ask for the second page")
    syncs.lake.start(second)
    why = f"job {first} is writing to file://{syncs.folder}/shared"
    until(lambda: syncs.lake.last(second)["message"] == why, "it does not say that it waits")
    assert syncs.lake.status(second)["current_sync_status"] == "Queued"
    service.let_go()
    syncs.ended(first, "Synced")
    syncs.ended(second, "Synced")


def test_what_a_dead_worker_wrote_is_not_waited_for_and_leaves_nothing(syncs: Syncs, service: RestService) -> None:
    source = syncs.source("rest", base_url=service.url)
    first, second = (syncs.create("sync_service_job", "dead", source=source, **paged()) for _ in range(2))
    syncs.run(first)
    asked = len(service.asked)
    service.fail(None, Fault(held=True))
    syncs.lake.start(first)
    until(lambda: len(service.asked) == asked + 2, "it does not ask for the second page")
    syncs.server.kill_everything()
    syncs.server.start()
    syncs.ended(first, "Error")
    assert syncs.ids("dead") == list(range(1, 26))
    service.records.append({**service.records[-1], "id": 26})
    syncs.run(second)
    assert syncs.ids("dead") == list(range(1, 27))
    syncs.run(first)
    assert [name for name in syncs.left("dead") if "new" in name] == []


def test_a_worker_without_the_libraries_says_what_to_do(tmp_path: Path) -> None:
    with running(tmp_path, auth="none") as server:
        syncs = Syncs(server, Path(), tmp_path)
        syncs.database = server.data / "lake/shop.db"
        syncs.database.parent.mkdir()
        syncs.execute("create table people (id integer)")
        source = syncs.source("sqlite", path="shop.db")
        job = syncs.lake.create("sync_db_job", source=source, table_name="people", dest_table_name="people")
        syncs.lake.start(job)
        assert "pip install 'waterclock[sync]'" in syncs.ended(job, "Error")["message"]


def paged() -> dict[str, Any]:
    return {
        "endpoint": "/pages",
        "records": "items",
        "paging": {"style": "page", "param": "page", "size_param": "size", "size": 10},
    }
