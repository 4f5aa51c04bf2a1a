"""Paths into pages: what they lead to, and the words for what they do not."""

from typing import Any

import pytest

from waterclock.runners.sync.service.path import NotThere, path_of
from waterclock.runners.sync.source import SourceFailed

PAGE = {"data": {"items": [{"id": 1}, {"id": 2}], "odd name": [3], "none": None}, "groups": [{"of": [1, 2]}, {}]}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$.data.items[*]", [{"id": 1}, {"id": 2}]),
        ("$.data.items", [{"id": 1}, {"id": 2}]),
        ("data.items", [{"id": 1}, {"id": 2}]),
        ("$.data['odd name']", [3]),
        ('$["data"]["odd name"][*]', [3]),
        ("$.data.items[-1]", [{"id": 2}]),
        ("$.data.none[*]", []),
        ("$.data.none.deeper", []),
        ("$.groups[*].of", [1, 2]),
        ("$.groups[*].of[*]", [1, 2]),
        ("$.data.items[*].id", [1, 2]),
    ],
)
def test_a_path_leads_to_records(text: str, found: list[Any]) -> None:
    assert path_of(text, field="records").records(PAGE) == found


def test_the_page_itself_may_be_the_list() -> None:
    assert path_of("$", field="records").records([1, 2]) == [1, 2]
    assert path_of("$[*]", field="records").records([1, None]) == [1, None]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$.data.itemz[*]", r"at \$\.data there is an object with 'items' \(a list of 2\), 'odd name' \(a list of 1\)"),
        ("$.data[*]", r"at \$\.data there is an object"),
        ("$.data.items[7]", r"at \$\.data\.items there is a list of 2"),
        ("$.groups.of", r"at \$\.groups there is a list of 2"),
    ],
)
def test_a_path_that_leads_nowhere_says_what_is_there(text: str, words: str) -> None:
    with pytest.raises(NotThere, match=words):
        path_of(text, field="records").records(PAGE)


def test_one_value_is_the_first_or_none() -> None:
    assert path_of("$.data.items[0].id", field="x").value(PAGE) == 1
    assert path_of("$.no.such", field="x").value(PAGE) is None


@pytest.mark.parametrize(
    "text", ["$..items", "$.a[?(@.x)]", "$.a[1:2]", "$.a b", "$a$b", "[", "$.", "$['a", "", 7, None]
)
def test_what_is_no_path_is_refused(text: object) -> None:
    with pytest.raises(SourceFailed, match=r"^records .*give one such as \$\.data\.items\[\*\]"):
        path_of(text, field="records")
