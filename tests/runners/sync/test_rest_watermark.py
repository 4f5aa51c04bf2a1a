"""How far a sync of a service has come: nothing lost, nothing hidden by a wrong clock, and never back."""

from typing import Any

import pytest

from tests.runners.sync.rest_clients import NOON_US
from waterclock.runners.sync.service.job import reading_of
from waterclock.runners.sync.service.watermark import Watermark
from waterclock.runners.sync.source import SourceFailed

INCREMENTAL = {"sync_mode": "IncrementalSync"}
KEYED: dict[str, Any] = {"key_columns": ["id"]}


def watermark(begin: Any = None, *, bookmark: dict[str, Any] | None = None, **job: Any) -> Watermark:
    task = {"endpoint": "/x", "incremental_column": "at", "last_synced_value": begin, **INCREMENTAL, **job}
    incremental = reading_of(task).incremental
    assert incremental is not None
    return Watermark.after(incremental, bookmark, now_us=NOON_US)


def taken(mark: Watermark, *values: Any) -> list[Any]:
    return [value for value in values if mark.takes({"at": value}, "page 1, record 1")]


def test_the_first_run_takes_all_and_remembers_the_largest() -> None:
    mark = watermark()
    assert taken(mark, 3, 9, 7) == [3, 9, 7]
    assert mark.bookmark == {"column": "at", "value": 9}
    assert mark.params == {}


def test_the_next_run_takes_what_is_later() -> None:
    mark = watermark(bookmark={"column": "at", "value": 7})
    assert taken(mark, 6, 7, 8) == [8]
    assert mark.bookmark["value"] == 8


def test_with_keys_it_also_takes_what_is_as_late_and_what_has_no_value() -> None:
    mark = watermark(bookmark={"column": "at", "value": 7}, **KEYED)
    assert taken(mark, 6, 7, 8, None) == [7, 8, None]
    assert taken(watermark(bookmark={"value": 7}, inclusive=False, **KEYED), 7, 8) == [8]


def test_without_keys_what_has_no_value_is_refused_unless_the_job_says_otherwise() -> None:
    with pytest.raises(
        SourceFailed, match=r"^page 1, record 1: at is null, which no watermark finds: give key_columns"
    ):
        taken(watermark(), None)
    assert taken(watermark(null_rows="skip"), None, 1) == [1]
    assert taken(watermark(null_rows="read"), None, 1) == [None, 1]


def test_a_full_run_takes_all_and_remembers_the_largest_for_the_next_one() -> None:
    mark = watermark(5, bookmark={"column": "at", "value": 7}, sync_mode="FullSync")
    assert taken(mark, None, 3, 9) == [None, 3, 9]
    assert mark.bookmark["value"] == 9


def test_a_run_without_news_keeps_what_was() -> None:
    mark = watermark(bookmark={"column": "at", "value": "2026-11-16T09:00:00Z"}, **KEYED)
    assert taken(mark, "2026-11-16T08:00:00Z", None) == [None]
    assert mark.bookmark["value"] == "2026-11-16T09:00:00Z"


def test_only_nulls_leave_the_next_run_where_this_one_began() -> None:
    mark = watermark(**KEYED)
    taken(mark, None, None)
    assert mark.bookmark == {"column": "at", "value": None}
    assert taken(watermark(5, bookmark=dict(mark.bookmark)), 4, 6) == [6]


def test_moments_are_compared_as_such_and_kept_as_they_were_written() -> None:
    mark = watermark(bookmark={"column": "at", "value": "2026-11-16T09:00:00Z"})
    later = "2026-11-16T18:00:01+09:00"
    assert taken(mark, "2026-11-16T18:00:00+09:00", "2026-11-16 08:59:59", later) == [later]
    assert mark.bookmark["value"] == later


def test_the_service_is_told_where_to_begin() -> None:
    mark = watermark(bookmark={"column": "at", "value": 7}, since={"param": "updated_since"})
    assert mark.params == {"updated_since": 7}


def test_what_the_service_leaves_out_may_be_all_that_is_left_out() -> None:
    mark = watermark(bookmark={"value": 7}, since={"param": "after", "filter": False})
    assert taken(mark, 6, 8) == [6, 8]
    assert mark.bookmark["value"] == 8


def test_a_record_dated_far_ahead_is_left_for_its_day_and_hides_nothing() -> None:
    mark, early, soon = watermark(), "2026-11-16T11:00:00Z", "2026-11-17T11:00:00Z"
    assert taken(mark, early, "2099-01-01T00:00:00Z", soon) == [early, soon]
    assert mark.bookmark["value"] == soon
    full = watermark(sync_mode="FullSync")
    assert taken(full, early, "2099-01-01T00:00:00Z") == [early, "2099-01-01T00:00:00Z"]
    assert full.bookmark["value"] == early


def test_a_lag_holds_back_what_is_younger_for_the_next_run() -> None:
    mark = watermark(lag_seconds=60)
    assert taken(mark, "2026-11-16T11:59:00Z", "2026-11-16T11:59:01Z") == ["2026-11-16T11:59:00Z"]
    assert mark.bookmark["value"] == "2026-11-16T11:59:00Z"


def test_a_column_of_another_name_begins_anew() -> None:
    assert taken(watermark(bookmark={"column": "other", "value": 7}), 6, 8) == [6, 8]


def test_where_it_begins_may_be_a_number_in_a_text() -> None:
    assert taken(watermark("5"), 4, 5, 6) == [6]
    assert taken(watermark(""), 4) == [4]


@pytest.mark.parametrize(
    ("since", "value", "words"),
    [
        (7, "seven", "at is a text, and the watermark 7 is a number"),
        ("2026-11-16", 7, "at is a number, and the watermark '2026-11-16' is a moment"),
        ("2026-11-16", "new", "at is a text, and the watermark '2026-11-16' is a moment"),
        (None, {"at": 1}, "at cannot be a watermark"),
        (None, True, "at cannot be a watermark"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_its_place(since: Any, value: Any, words: str) -> None:
    with pytest.raises(SourceFailed, match=f"^page 1, record 1: {words}"):
        taken(watermark(since), value)


def test_a_lag_is_for_moments() -> None:
    with pytest.raises(SourceFailed, match="lag_seconds is for moments, and at is a number"):
        taken(watermark(lag_seconds=5), 7)


def test_an_incremental_sync_needs_a_column() -> None:
    with pytest.raises(SourceFailed, match="needs incremental_column"):
        watermark(incremental_column="")
