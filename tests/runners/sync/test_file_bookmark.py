"""What an incremental sync of files remembers."""

import json

import pytest

from waterclock.domain.bookmark import MOST_BYTES
from waterclock.runners.sync.file_bookmark import Read, bookmark_of
from waterclock.runners.sync.places.place import Found
from waterclock.runners.sync.source import SourceFailed


def files(count: int) -> list[Found]:
    return [Found(name=f"orders/2026/11/16/part-{number:05}.csv", version=f"{number:032x}") for number in range(count)]


def test_what_was_read_is_known_by_its_version() -> None:
    read = Read(bookmark_of(files(2), None))
    assert read.has(files(2)[1])
    assert not read.has(Found(name=files(2)[1].name, version="another"))
    assert not read.has(files(3)[2])


def test_a_file_without_a_version_may_have_changed() -> None:
    unknown = Found(name="a.csv")
    assert not Read(bookmark_of([unknown], None)).has(unknown)


@pytest.mark.parametrize("since", [None, {}, {"value": 7}, {"files": ["a.csv"], "seen": "x", "schema": 3}])
def test_a_bookmark_of_something_else_says_nothing(since: dict[str, object] | None) -> None:
    assert not Read(since).has(files(1)[0])


def test_so_many_files_that_their_names_do_not_fit_are_remembered_by_marks() -> None:
    bookmark = bookmark_of(files(15_000), None)
    assert "files" not in bookmark
    assert len(json.dumps(bookmark)) < MOST_BYTES
    read = Read(json.loads(json.dumps(bookmark)))
    assert all(read.has(each) for each in files(15_000))
    assert not any(read.has(Found(name=each.name, version="another")) for each in files(15_000))


def test_too_many_are_refused_with_what_to_do() -> None:
    with pytest.raises(SourceFailed, match=r"^50000 files match, more than .* can remember .*narrow path"):
        bookmark_of(files(50_000), None)
