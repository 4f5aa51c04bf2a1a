"""Every style of paging, over a real service: each record once, and an end in every case."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.runners.sync.rest_clients import read
from tests.services.rest_service import RestService, numbered
from waterclock.runners.sync.source import SourceFailed

ITEMS = "$.items[*]"
JOBS: Mapping[str, Mapping[str, Any]] = {
    "page": {"endpoint": "/pages", "records": ITEMS, "paging": {"style": "page", "size_param": "size", "size": 7}},
    "page, cut by the service": {
        "endpoint": "/pages",
        "records": ITEMS,
        "paging": {"style": "page", "size_param": "size", "size": 100},
    },
    "offset": {
        "endpoint": "/offsets",
        "records": "$.data.items[*]",
        "paging": {"style": "offset", "param": "offset", "limit_param": "limit", "limit": 100},
    },
    "cursor": {"endpoint": "/cursors", "records": ITEMS, "paging": {"style": "cursor", "path": "$.next"}},
    "cursor in the body": {
        "endpoint": "/cursors",
        "method": "POST",
        "body": {"order": "id"},
        "records": ITEMS,
        "paging": {"style": "cursor", "path": "$.next", "in": "body"},
    },
    "link_header": {"endpoint": "/links", "paging": {"style": "link_header"}},
    "next_url": {"endpoint": "/nexts", "records": "$.results[*]", "paging": {"style": "next_url", "path": "$.next"}},
    "none": {"endpoint": "/all"},
}


@pytest.mark.parametrize("count", [0, 1, 10, 25])
@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_each_record_comes_once(job: Mapping[str, Any], count: int) -> None:
    with RestService(numbered(count)) as service:
        pages, ids = read(service, job)
    assert ids == list(range(1, count + 1))
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))


def test_a_service_that_says_that_there_is_no_more_is_not_asked_again() -> None:
    job = {**JOBS["offset"], "paging": {**JOBS["offset"]["paging"], "has_more": "$.more"}}
    with RestService(numbered(20)) as service:
        read(service, job)
        assert service.params("offset") == ["0", "10"]


def test_the_total_is_known_where_the_job_says_where() -> None:
    job = {**JOBS["page"], "paging": {**JOBS["page"]["paging"], "total": "$.total"}}
    with RestService(numbered(20)) as service:
        assert read(service, job)[0][0].total == 20


def test_params_of_the_job_are_sent_with_every_page() -> None:
    job = {**JOBS["cursor"], "params": {"kind": "a b&c", "none": None}, "endpoint": "/cursors?fixed=1"}
    with RestService(numbered(20)) as service:
        read(service, job)
        assert service.params("kind") == ["a b&c"] * 2
        assert service.params("fixed") == ["1"] * 2
        assert service.params("none") == [None] * 2


def test_a_service_that_pages_for_ever_ends_at_the_cap() -> None:
    job = {"endpoint": "/endless", "paging": {"style": "page", "most_pages": 12}}
    with RestService() as service, pytest.raises(SourceFailed, match=r"^/endless: there are more than 12 pages"):
        read(service, job)
    assert len(service.asked) == 12


def test_the_same_page_twice_is_refused() -> None:
    job = {"endpoint": "/same", "paging": {"style": "page"}}
    with RestService(numbered(3)) as service, pytest.raises(SourceFailed, match=r"page 2: the same records .* page 1"):
        read(service, job)


def test_pages_that_may_repeat_are_taken_up_to_the_cap() -> None:
    job = {"endpoint": "/same", "paging": {"style": "page", "same_page": True, "most_pages": 3}}
    with RestService(numbered(3)) as service, pytest.raises(SourceFailed, match="more than 3 pages"):
        read(service, job)


def test_cursors_that_go_in_a_circle_are_refused() -> None:
    paging = {"style": "cursor", "path": "$.next", "same_page": True}
    with RestService(numbered(3)) as service, pytest.raises(SourceFailed, match=r"page 4: .* goes in a circle"):
        read(service, {"endpoint": "/circle", "records": ITEMS, "paging": paging})


def test_an_address_of_another_host_is_not_followed() -> None:
    with RestService(numbered(25)) as other, RestService(numbered(25), elsewhere=other.url) as service:
        with pytest.raises(SourceFailed, match=rf"it leads to {other.url}, which is not the source's base_url"):
            read(service, JOBS["next_url"])
        assert other.asked == []


def test_records_that_are_not_where_the_job_says_are_a_failure_with_what_is_there() -> None:
    with (
        RestService(numbered(3)) as service,
        pytest.raises(
            SourceFailed, match=r"^/pages, page 1: records \$\.data\[\*\] leads nowhere: at \$ there is .*'items'"
        ),
    ):
        read(service, {**JOBS["page"], "records": "$.data[*]"})


def test_records_may_miss_where_the_job_says_so() -> None:
    job = {**JOBS["page"], "records": "$.data[*]", "missing_records": "empty"}
    with RestService(numbered(3)) as service:
        assert read(service, job)[1] == []


def test_a_page_that_is_no_list_asks_for_the_path() -> None:
    job = {key: value for key, value in JOBS["page"].items() if key != "records"}
    with RestService(numbered(3)) as service, pytest.raises(SourceFailed, match="no list: say in records where"):
        read(service, job)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ({"endpoint": "https://evil.example/x"}, "the host is the source's"),
        ({"endpoint": "/a/../b"}, r"may not hold \.\."),
        ({"endpoint": "/a\nb"}, "is no path"),
        ({"method": "DELETE"}, "method is 'DELETE': known are GET, POST"),
        ({"body": {}}, "body is for the method POST"),
        ({"params": {"a": {}}}, r"params\.a must be"),
        ({"params": []}, "params must be an object"),
        ({"paging": "page"}, "paging must be an object"),
        ({"paging": {"style": "pages"}}, r"paging\.style is 'pages': known are none, page"),
        ({"paging": {"style": "cursor"}}, r"paging\.path is no path"),
        ({"paging": {"style": "page", "size": 7}}, r"paging\.size_param and paging\.size go together"),
        ({"paging": {"style": "page", "most_pages": 0}}, r"paging\.most_pages must be a whole number from 1"),
        ({"paging": {"style": "page", "in": "body"}}, "needs the method POST"),
        ({"incremental_column": "id", "lag_seconds": -5}, "lag_seconds must be"),
        ({"sync_mode": "IncrementalSync"}, "an IncrementalSync needs incremental_column"),
        ({"incremental_column": "id", "null_rows": "keep"}, "null_rows is 'keep': known are read, skip, fail"),
        ({"types": {"id": "number"}}, r"types\.id is 'number': known are bool, int"),
        ({"infer_records": True}, "infer_records must be"),
    ],
)
def test_what_is_wrong_in_a_job_is_said_before_anything_is_asked(job: Mapping[str, Any], words: str) -> None:
    with RestService() as service:
        with pytest.raises(SourceFailed, match=words):
            read(service, {"endpoint": "/all", **job})
        assert service.asked == []
