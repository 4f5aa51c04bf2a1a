"""Records that two pages show: once where they have a key, and never lost where they have none."""

from waterclock.runners.sync.service.overlap import Overlap


def test_what_was_in_this_page_or_the_one_before_is_known() -> None:
    overlap = Overlap(["id", "of"])
    first, other = {"id": 1, "of": "a"}, {"id": 1, "of": "b"}
    assert [overlap.holds(1, first), overlap.holds(1, other), overlap.holds(1, first)] == [False, False, True]
    assert overlap.holds(2, {**first, "changed": True})
    assert overlap.holds(3, first)
    assert not overlap.holds(3, other)


def test_without_keys_or_their_values_nothing_is_known() -> None:
    assert not any(Overlap([]).holds(1, {"id": 1}) for _ in range(2))
    overlap = Overlap(["id"])
    assert not any(overlap.holds(1, {"id": None}) for _ in range(2))
