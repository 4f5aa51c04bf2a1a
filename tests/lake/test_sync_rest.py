"""Services as sources, in Arrow: a real HTTP service, read by a process that has pyarrow."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.services.rest_service import Fault, RestService, numbered

pytestmark = pytest.mark.heavy

PAGES: Final = {"endpoint": "/pages", "records": "$.items[*]", "paging": {"style": "page", "total": "$.total"}}


class SourceRefused(Exception):
    """What the source said."""


class Reader:
    def __init__(self, python: Path) -> None:
        program = Path(__file__).with_name("rest_reading.py")
        self._process = subprocess.Popen([python, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, do: str, service: RestService, **asked: Any) -> Any:
        config = {"base_url": service.url, **asked.pop("config", {})}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"do": do, "config": config, **asked}), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline() or '{"failed": "the reader has died"}')
        if "failed" in answer:
            raise SourceRefused(answer["failed"])
        return answer["done"]

    def read(self, service: RestService, task: Mapping[str, Any], **wanted: Any) -> Any:
        return self.tell("read", service, task=task, **wanted)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def reader(lake_python: Path) -> Iterator[Reader]:
    made = Reader(lake_python)
    yield made
    made.close()


def rows_of(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [row for batch in found["batches"] for row in batch]


def test_records_become_batches_with_their_types(reader: Reader) -> None:
    records = numbered(25, score=1, deep={"a": [1]}, none=None)
    with RestService([*records[:3], {**records[3], "score": 1.5}, *records[4:]]) as service:
        found = reader.read(service, PAGES, batch_rows=7)
    assert found["schema"] == {
        "id": "int64",
        "name": "string",
        "updated_at": "string",
        "score": "double",
        "deep": "string",
        "none": "string",
    }
    assert [len(batch) for batch in found["batches"]] == [7, 7, 7, 4]
    assert [row["id"] for row in rows_of(found)] == list(range(1, 26))
    assert rows_of(found)[3] == {**records[3], "score": 1.5, "deep": '{"a":[1]}'}
    assert (found["total"], found["bookmark"], found["bad_lines"]) == (25, None, 0)


def test_a_job_may_name_the_types(reader: Reader) -> None:
    task = {**PAGES, "types": {"updated_at": "timestamp", "id": "text", "more": "date"}}
    with RestService(numbered(1)) as service:
        found = reader.read(service, task)
    assert found["schema"] == {
        "updated_at": "timestamp[us, tz=UTC]",
        "id": "string",
        "more": "date32[day]",
        "name": "string",
    }
    assert rows_of(found) == [{"updated_at": "2026-11-16 00:00:01+00:00", "id": "1", "more": None, "name": "name 1"}]


def test_a_preview_asks_for_no_more_pages_than_it_needs(reader: Reader) -> None:
    with RestService(numbered(100)) as service:
        assert len(rows_of(reader.read(service, PAGES, most_rows=15))) == 15
        assert service.params("page") == ["1", "2"]


def test_the_next_run_begins_where_the_last_one_ended(reader: Reader) -> None:
    task = {
        **PAGES,
        "sync_mode": "IncrementalSync",
        "incremental_column": "updated_at",
        "since": {"param": "updated_since"},
        "key_columns": ["id"],
    }
    with RestService(numbered(5, score=1.5)) as service:
        first = reader.read(service, task)
        assert first["bookmark"]["value"] == "2026-11-16T00:00:05Z"
        service.records = [*numbered(5, score=1.5), *numbered(8, score=2)[5:]]
        second = reader.read(service, task, since=first["bookmark"])
        assert [row["id"] for row in rows_of(second)] == [5, 6, 7, 8]
        assert second["schema"] == first["schema"]  # although all new scores are whole
        assert "2026-11-16T00:00:05Z" in service.params("updated_since")
        third = reader.read(service, task, since=second["bookmark"])
        assert [row["id"] for row in rows_of(third)] == [8]
        assert third["bookmark"] == second["bookmark"]


def test_a_service_that_cannot_filter_is_filtered_here(reader: Reader) -> None:
    task = {**PAGES, "sync_mode": "IncrementalSync", "incremental_column": "id"}
    with RestService(numbered(25)) as service:
        found = reader.read(service, task, since={"column": "id", "value": 20})
        assert [row["id"] for row in rows_of(found)] == [21, 22, 23, 24, 25]
        assert rows_of(reader.read(service, task, since={"column": "id", "value": 25})) == []


def test_a_run_without_news_knows_its_columns(reader: Reader) -> None:
    task = {**PAGES, "sync_mode": "IncrementalSync", "incremental_column": "id"}
    with RestService() as service:
        bookmark = {"column": "id", "value": 5, "columns": {"id": "int", "name": "text"}}
        found = reader.read(service, task, since=bookmark)
    assert (found["schema"], found["batches"]) == ({"id": "int64", "name": "string"}, [])
    assert found["bookmark"] == bookmark


def test_no_record_at_all_asks_for_the_types(reader: Reader) -> None:
    with RestService() as service:
        with pytest.raises(SourceRefused, match=r"^/pages: no record came, so its columns are not known: .* types"):
            reader.read(service, PAGES)
        assert reader.read(service, {**PAGES, "types": {"id": "int"}})["batches"] == []


# Bad records


def test_a_record_that_is_no_object_is_refused_with_its_place(reader: Reader) -> None:
    with RestService([*numbered(12), ["x"], *numbered(2)]) as service:  # type: ignore[list-item]
        with pytest.raises(SourceRefused, match=r"^/pages, page 2, record 3: it is a list of 1, and no object"):
            reader.read(service, PAGES)
        found = reader.read(service, {**PAGES, "on_bad_line": "skip"})
        assert (len(rows_of(found)), found["bad_lines"]) == (14, 1)


def test_a_value_that_does_not_fit_is_refused_with_its_place(reader: Reader) -> None:
    task = {**PAGES, "infer_records": 10}
    with RestService([*numbered(14), {"id": "fifteen"}]) as service:
        with pytest.raises(
            SourceRefused, match=r"^/pages, page 2, record 5: 'id' is \"fifteen\", and the column is int"
        ):
            reader.read(service, task)
        assert reader.read(service, {**task, "on_bad_line": "skip"})["bad_lines"] == 1
        assert rows_of(reader.read(service, {**task, "types": {"id": "text"}}))[-1]["id"] == "fifteen"
        assert reader.read(service, PAGES)["schema"]["id"] == "string"  # it was among the first


def test_a_field_that_comes_late_is_never_lost_in_silence(reader: Reader) -> None:
    task = {**PAGES, "infer_records": 10}
    with RestService([*numbered(14), *numbered(1, late=1)]) as service:
        with pytest.raises(SourceRefused, match=r"^/pages, page 2, record 5: the field 'late' is new"):
            reader.read(service, task)
        assert "late" not in reader.read(service, {**task, "new_fields": "ignore"})["schema"]
        assert rows_of(reader.read(service, {**task, "types": {"late": "int"}}))[-1]["late"] == 1


def test_half_a_character_is_refused_with_its_place(reader: Reader) -> None:
    with (
        RestService([{"id": "\ud800"}]) as service,
        pytest.raises(SourceRefused, match=r"record 1: .*half a character"),
    ):
        reader.read(service, PAGES)


def test_records_whose_names_are_data_are_refused(reader: Reader) -> None:
    with (
        RestService([{str(number): number for number in range(2_001)}]) as service,
        pytest.raises(SourceRefused, match=r"^/pages: the records have 2001 different fields: are their names data"),
    ):
        reader.read(service, PAGES)


# Faults


def test_a_service_that_fails_half_of_the_time_is_read_whole(reader: Reader) -> None:
    with RestService(numbered(1000), most=50) as service:
        service.fails = lambda number: [None, Fault(status=500), None, Fault(cut=0.5)][number % 4]
        assert [row["id"] for row in rows_of(reader.read(service, PAGES))] == list(range(1, 1001))


def test_a_service_that_is_cut_half_way_is_a_failure(reader: Reader) -> None:
    with RestService(numbered(1000), most=50) as service:
        service.fails = lambda number: Fault(cut=0.5) if number > 10 else None
        with pytest.raises(SourceRefused, match=r"/pages: the connection was lost: .*asked 6 times"):
            reader.read(service, PAGES)


def test_a_wrong_token_and_a_wrong_path_are_said(reader: Reader) -> None:
    with RestService(numbered(3), token="a-token") as service:
        with pytest.raises(SourceRefused, match=r"the credentials are refused \(401\)"):
            reader.tell("read", service, task=PAGES, config={"auth": {"type": "bearer", "token": "another"}})
        config = {"auth": {"type": "bearer", "token": "a-token"}}
        with pytest.raises(SourceRefused, match=r"records \$\.data\[\*\] leads nowhere"):
            reader.tell("read", service, task={**PAGES, "records": "$.data[*]"}, config=config)


def test_memory_stays_bounded_whatever_there_is_to_read(reader: Reader) -> None:
    with RestService(numbered(40_000, text="x" * 100), most=5_000) as service:
        found = reader.tell("count", service, task=PAGES, batch_rows=10_000)
    assert found["rows"] == 40_000
    assert found["largest"] <= 10_000
    assert found["arrow_bytes"] < 8 * 1024 * 1024


# Tests of a source


def test_a_source_is_tested_by_one_request(reader: Reader) -> None:
    with RestService(token="a-token") as service:
        bearer = {"auth": {"type": "bearer", "token": "a-token"}, "endpoints": ["/all", "/pages"]}
        assert reader.tell("greet", service, config=bearer) == f"{service.url} answers (200)"
        assert service.paths() == ["/all"]
        assert reader.tell("tables", service, config=bearer) == ["/all", "/pages"]
        with pytest.raises(SourceRefused, match=r"the credentials are refused \(401\)"):
            reader.tell("greet", service)
        wrong = {"auth": bearer["auth"], "endpoints": ["/nothing"]}
        with pytest.raises(SourceRefused, match=r"there is nothing at this address \(404\)"):
            reader.tell("greet", service, config=wrong)
        assert reader.tell("greet", service, config={"auth": bearer["auth"]}) == f"{service.url} answers (404)"
        with pytest.raises(SourceRefused, match=r"127\.0\.0\.1 is not a public address"):
            reader.tell("greet", service, allows_private=False)
