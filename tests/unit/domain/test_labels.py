"""Labels are sets: asked for in any order, offered in any order, matched as subsets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waterclock.domain.errors import InvalidInput
from waterclock.domain.labels import MOST_LABELS, joined, label_set, offers, subsets

LABEL = st.text(alphabet="abcXYZ019-_.=:", min_size=1, max_size=20)
SETS = st.lists(LABEL, max_size=MOST_LABELS, unique=True)


@given(offered=SETS, asked=SETS)
def test_a_worker_takes_exactly_what_asks_for_a_subset(offered: list[str], asked: list[str]) -> None:
    takes = joined(label_set(asked, "labels")) in subsets(tuple(offered))
    assert takes == offers(offered, joined(asked)) == (set(asked) <= set(offered))


@given(offered=SETS)
def test_no_subset_is_listed_twice(offered: list[str]) -> None:
    found = subsets(tuple(offered))
    assert len(found) == len(set(found)) == 2 ** len(offered)


def test_a_worker_with_too_many_labels_is_refused_before_their_subsets_are_counted() -> None:
    with pytest.raises(InvalidInput, match="at most 8 labels, not 40"):
        subsets(tuple(f"label-{n}" for n in range(40)))


@pytest.mark.parametrize("wrong", ["", "a,b", "a b", "naïve", "x" * 64, "a\n"])
def test_what_is_no_label_is_named(wrong: str) -> None:
    with pytest.raises(InvalidInput, match="a label has 1 to 63 of letters"):
        label_set(["fine", wrong], "labels")
