"""The argument that says what becomes of a job's bookmark."""

import pytest

from waterclock.domain.bookmark import BookmarkOption, bookmark_option
from waterclock.domain.errors import InvalidInput


@pytest.mark.parametrize("option", BookmarkOption)
def test_the_options_are_those_of_aws(option: BookmarkOption) -> None:
    assert bookmark_option({"--job-bookmark-option": option.value}) is option


def test_without_the_argument_a_bookmark_is_given_and_saved() -> None:
    assert bookmark_option({"--day": "today"}) is BookmarkOption.ENABLE


@pytest.mark.parametrize("value", ["", "enable", "job-bookmark-Enable"])
def test_any_other_value_is_refused_and_told_the_three(value: str) -> None:
    three = "job-bookmark-enable, job-bookmark-pause, job-bookmark-disable"
    with pytest.raises(InvalidInput, match=f"^--job-bookmark-option: must be one of {three}$"):
        bookmark_option({"--job-bookmark-option": value})
