"""How much is taken ahead."""

import pytest

from waterclock import clock
from waterclock.faces.library import pacing
from waterclock.faces.library.pacing import ALONE, AT_FIRST, MOST_AHEAD, Pace


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The moment that it is; the last counts."""
    moments = [100.0]
    monkeypatch.setattr(clock, "monotonic", lambda: moments[-1])
    return moments


def test_who_is_alone_takes_all(at: list[float]) -> None:
    assert Pace(10, alone=True).slots == ALONE


def test_much_is_taken_ahead_until_something_had_to_go_back(at: list[float]) -> None:
    pace = Pace(10, alone=False)
    assert pace.slots == 10 + AT_FIRST
    assert pace.gave_back() == 10


def test_of_calls_that_are_very_short_more_are_taken(at: list[float]) -> None:
    pace = Pace(10, alone=False)
    at.append(101.0)
    assert pace.measured(10_000) == 10 + 1_500
    at.append(102.0)
    assert pace.measured(110_000) == 10 + MOST_AHEAD
    at.append(103.0)
    assert pace.measured(110_000) == 10 + AT_FIRST


def test_after_that_as_many_as_are_done_in_a_moment(at: list[float]) -> None:
    pace = Pace(10, alone=False)
    pace.gave_back()
    at.append(101.0)
    assert pace.measured(500) == 10 + 75
    at.append(102.0)
    assert pace.measured(500) == 10


def test_caution_ends(at: list[float]) -> None:
    pace = Pace(10, alone=False)
    pace.gave_back()
    at.append(100.0 + pacing.CAUTIOUS_SECONDS)
    assert pace.measured(3) == 10 + AT_FIRST
