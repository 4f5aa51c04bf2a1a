"""The contest of stored schedules: who takes part, and which goals hold at which size."""

import argparse

from bench import stored
from bench.contest.contestant import LIMIT, PEER, US


def given(**options: object) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    stored.arguments(parser)
    return argparse.Namespace(**{**vars(parser.parse_args([])), **options})


def goals(count: int) -> dict[str, float | None]:
    (contest,) = stored.contests(given(count=count))
    return {figure.key: figure.goal for figure in contest.figures}


def test_we_meet_peers_and_the_limit_on_the_same_work() -> None:
    (contest,) = stored.contests(given())
    assert contest.name == "W4-stored-100000"
    assert [each.role for each in contest.contestants].count(US) == 1
    assert {each.role for each in contest.contestants} == {US, PEER, LIMIT}


def test_the_goals_are_the_issues() -> None:
    few, many = goals(100_000), goals(1_000_000)
    assert (few["lateness_p50_ms"], few["lateness_p99_ms"], few["together_cpu_percent"]) == (6, 25, 5)
    assert (many["lateness_p50_ms"], many["lateness_p99_ms"], many["together_cpu_percent"]) == (None, 50, 5)


def test_a_quick_one_is_small() -> None:
    (contest,) = stored.contests(given(quick=True))
    assert contest.name == "W4-stored-5000"
