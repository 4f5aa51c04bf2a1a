"""What a sync's next run knows: what the last one left, unless the job has since been told to do something else."""

import json
from pathlib import Path

import pytest

from waterclock.domain.lake_sync import SyncMode
from waterclock.runners import bookmark_file
from waterclock.runners.lake.report import Reporter
from waterclock.runners.lake.report import read as said
from waterclock.runners.sync import bookmarks
from waterclock.runners.sync.keeping import Keeping
from waterclock.runners.sync.source import SourceFailed

TASK = {"source_id": 1, "table_name": "people", "incremental_column": "id", "sync_mode": "FullSync"}
WHERES = ["file:///lake/people"]


def test_it_is_for_the_same_rows_and_the_same_place() -> None:
    mark = bookmarks.mark_of(TASK, WHERES)
    left = bookmarks.text_of({"column": "id", "value": "7"}, mark)
    assert bookmarks.read(left, mark) == {"column": "id", "value": "7"}
    assert bookmarks.mark_of({**TASK, "sync_mode": "IncrementalSync", "retries": 3}, WHERES) == mark
    for other in ({"table_name": "orders"}, {"incremental_column": "at"}, {"source_id": 2}):
        assert bookmarks.read(left, bookmarks.mark_of({**TASK, **other}, WHERES)) is None
    assert bookmarks.read(left, bookmarks.mark_of(TASK, ["file:///lake/elsewhere"])) is None


def test_one_that_a_person_has_set_is_taken_as_it_is() -> None:
    assert bookmarks.read('{"value": "9"}', "mark") == {"value": "9"}


@pytest.mark.parametrize("content", [None, "", "no json", "[1]", "7"])
def test_what_is_none_is_none(content: str | None) -> None:
    assert bookmarks.read(content, "mark") is None


def test_it_is_kept_where_the_worker_looks_for_it(tmp_path: Path) -> None:
    reporter = Reporter(tmp_path)
    store = Keeping(tmp_path, "mark", SyncMode.FULL, reporter)({"column": "id", "value": "7"})
    assert bookmark_file.take(tmp_path, 0).content is None
    store()
    left = bookmark_file.take(tmp_path, 0).content
    assert json.loads(left or "") == {"column": "id", "value": "7", "of": "mark"}
    assert said(tmp_path).progress == {"watermark": "7"}


def test_where_nothing_is_to_be_known_nothing_is_kept(tmp_path: Path) -> None:
    Keeping(tmp_path, "mark", SyncMode.FULL, Reporter(tmp_path))(None)()
    assert bookmark_file.take(tmp_path, 0).content is None


def test_one_that_is_too_long_fails_a_sync_that_needs_it_before_rows_are_in_place(tmp_path: Path) -> None:
    much = {"files": "x" * 300_000}
    with pytest.raises(SourceFailed, match="let several jobs"):
        Keeping(tmp_path, "mark", SyncMode.INCREMENTAL, Reporter(tmp_path))(much)
    Keeping(tmp_path, "mark", SyncMode.FULL, Reporter(tmp_path))(much)()
    assert bookmark_file.take(tmp_path, 0).content is None
