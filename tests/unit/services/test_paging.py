"""Tokens: opaque, of one list, and never trusted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waterclock.domain.errors import InvalidInput
from waterclock.services.paging import position, token


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")), st.integers(-(2**63), 2**63 - 1))
def test_a_token_gives_back_its_position(name: str, number: int) -> None:
    assert position("list", token("list", name, number), (str, int)) == (name, number)


def test_no_token_is_the_beginning() -> None:
    assert position("list", None, (str,)) is None


@given(st.text())
def test_what_is_not_a_token_is_refused(given: str) -> None:
    with pytest.raises(InvalidInput):
        position("list", given, (str,))


def test_a_token_of_another_list_is_refused() -> None:
    with pytest.raises(InvalidInput, match="NextToken"):
        position("jobs", token("triggers", "a"), (str,))
    with pytest.raises(InvalidInput):
        position("jobs", token("jobs", 1), (str,))


@pytest.mark.parametrize("place", [2**63, 2**64 - 1, "a\0b", True, None, 1.0])
def test_a_token_that_no_store_could_look_for_is_refused(place: object) -> None:
    for kind in (int, str):
        with pytest.raises(InvalidInput, match="NextToken"):
            position("list", token("list", place), (kind,))
