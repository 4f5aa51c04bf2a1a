"""Medians, ranges, ratios and goals of a contest."""

from dataclasses import replace

from bench.contest.contestant import LIMIT, PEER, US
from bench.contest.standing import best, champion, holds, ratio
from tests.bench.made import RATE, SPAN, standing


def test_the_median_and_the_range_are_of_the_rounds_that_have_figures() -> None:
    seen = standing("a", PEER, 30, None, 10, 20)
    assert seen.median(RATE) == 20
    assert seen.extent(RATE) == (10, 30)


def test_without_figures_there_is_neither_median_nor_range() -> None:
    seen = standing("a", PEER, None)
    assert seen.median(RATE) is None
    assert seen.extent(RATE) is None
    assert standing("b", PEER, 5).median(SPAN) is None


def test_the_ratio_is_the_median_of_the_rounds_own_and_not_that_of_medians() -> None:
    ours, theirs = standing("us", US, 100, 400, 900), standing("them", PEER, 10, 400, 300)
    assert ratio(ours, theirs, RATE) == 3  # of 10, 1 and 3; the medians' would be 400 / 300


def test_where_less_is_better_a_ratio_over_one_is_still_ours() -> None:
    ours, theirs = standing("us", US, 2, key="span"), standing("them", PEER, 6, key="span")
    assert ratio(ours, theirs, SPAN) == 3


def test_rounds_in_which_one_of_the_two_has_no_figures_do_not_count() -> None:
    ours, theirs = standing("us", US, 100, None, 300), standing("them", PEER, None, 10, 100)
    assert ratio(ours, theirs, RATE) == 3
    assert ratio(ours, standing("never", PEER, None, None, None), RATE) is None


def test_a_goal_holds_from_its_own_value_on() -> None:
    assert holds([standing("us", US, 1_000)], RATE) is True
    assert holds([standing("us", US, 999)], RATE) is False
    assert holds([standing("us", US, 250, key="span")], SPAN) is True
    assert holds([standing("us", US, 251, key="span")], SPAN) is False


def test_a_share_of_the_limit_goes_by_the_rounds_own_ratios() -> None:
    most = replace(RATE, goal=None, share=0.9)
    ours, limit = standing("us", US, 90, 200, 10), standing("bare", LIMIT, 100, 100, 100)
    assert holds([ours, limit], most) is True  # of 0.9, 2 and 0.1
    assert holds([standing("us", US, 89), standing("bare", LIMIT, 100)], most) is False
    assert holds([ours], most) is False  # there is nobody to compare with
    assert holds([standing("us", US, 90), standing("bare", LIMIT, 100)], replace(most, goal=91)) is False
    assert holds([ours, limit], replace(most, share=None)) is None


def test_a_goal_does_not_hold_for_who_has_no_figures() -> None:
    assert holds([standing("us", US, None)], RATE) is False


def test_the_best_of_a_role_goes_by_what_is_better() -> None:
    standings = [standing("us", US, 9), standing("a", PEER, 1), standing("b", PEER, 5), standing("c", LIMIT, 99)]
    chosen = best(standings, RATE)
    assert chosen is not None
    assert chosen.name == "b"
    spans = [standing("a", PEER, 1, key="span"), standing("b", PEER, 5, key="span")]
    chosen = best(spans, SPAN)
    assert chosen is not None
    assert chosen.name == "a"
    assert best(standings, SPAN) is None


def test_the_first_of_ours_is_the_one_that_goals_are_for() -> None:
    standings = [standing("peer", PEER, 1), standing("library", US, 1), standing("server", US, 2)]
    assert champion(standings).name == "library"
