"""Everybody once per round, in turns; who fails is a row, and stops nobody."""

import dataclasses
from collections.abc import Callable

import pytest

from bench.contest.contestant import US, BenchProblem, Figures
from bench.contest.rounds import compete, rotated
from tests.bench.made import contest, contestant


def in_silence(_: str) -> None:
    return None


def noting(order: list[str], name: str) -> Callable[[], Figures]:
    def measure() -> Figures:
        order.append(name)
        return {"rate": len(order)}

    return measure


def test_each_round_is_begun_by_another() -> None:
    assert [rotated("abc", turn) for turn in range(4)] == [list("abc"), list("bca"), list("cab"), list("abc")]
    assert rotated([], 2) == []


def test_everybody_is_measured_once_per_round_in_turns() -> None:
    order: list[str] = []
    given = contest(*(contestant(name, noting(order, name)) for name in "ab"))
    standings = compete(given, 2, in_silence)
    assert order == ["a", "b", "b", "a"]
    assert [each.rounds for each in standings] == [[{"rate": 1}, {"rate": 4}], [{"rate": 2}, {"rate": 3}]]


def test_who_takes_minutes_may_have_fewer_rounds() -> None:
    order: list[str] = []
    slow = dataclasses.replace(contestant("slow", noting(order, "slow")), at_most=1)
    standing, _ = compete(contest(slow, contestant("us", noting(order, "us"), US)), 3, in_silence)
    assert standing.rounds == [{"rate": 1}, None, None]
    assert order.count("us") == 3


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (BenchProblem("fell behind"), "fell behind"),
        (SystemExit("did not start"), "SystemExit: did not start"),
        (KeyError("x"), "KeyError: 'x'"),
    ],
)
def test_who_fails_has_its_words_and_no_further_turn_and_the_others_go_on(raised: BaseException, words: str) -> None:
    order: list[str] = []

    def fails() -> Figures:
        order.append("broken")
        raise raised

    given = contest(contestant("broken", fails), contestant("us", noting(order, "us"), US))
    broken, us = compete(given, 3, in_silence)
    assert broken.problem == words
    assert broken.rounds == [None, None, None]
    assert order.count("broken") == 1
    assert len([seen for seen in us.rounds if seen is not None]) == 3


def test_what_a_contestant_had_before_it_failed_stays() -> None:
    left = [{"rate": 5.0}]

    def once() -> Figures:
        if not left:
            raise BenchProblem("gone")
        return left.pop()

    (standing,) = compete(contest(contestant("once", once)), 2, in_silence)
    assert standing.rounds == [{"rate": 5.0}, None]
    assert standing.problem == "gone"


def test_each_measurement_is_told() -> None:
    told: list[str] = []

    def broken() -> Figures:
        raise BenchProblem("no\nmore")

    given = contest(contestant("a", lambda: {"rate": 12_345.6, "span": 0.5}), contestant("b", broken))
    compete(given, 1, told.append)
    assert "round 1 of 1: a: fires a second 12,346 /s, lateness p99 0.50 ms" in told[0]
    assert "b: no [" in told[1]
