"""How late fires were, as numbers."""

import pytest

from waterclock.domain.moment import SECOND
from waterclock.engine import lateness
from waterclock.engine.lateness import ON_TIME, WINDOW_SECONDS, Late, Lateness, late_of


class Clock:
    def __init__(self) -> None:
        self.at = 100.0

    def monotonic(self) -> float:
        return self.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(lateness, "clock", clock)
    return clock


def test_the_numbers_are_those_of_the_sorted_list() -> None:
    assert late_of([]) == ON_TIME
    assert late_of([7]) == Late(median_us=7, p99_us=7, most_us=7)
    assert late_of(range(1_000, -1, -1)) == Late(median_us=500, p99_us=990, most_us=1_000)


def test_what_the_store_took_to_answer_counts_and_early_is_on_time(clock: Clock) -> None:
    seen = Lateness()
    clock.at += 2
    seen.note([3 * SECOND, -5], asked_at=clock.at - 2)
    assert seen.lately() == Late(median_us=2 * SECOND, p99_us=5 * SECOND, most_us=5 * SECOND)


def test_a_minute_later_it_is_forgotten(clock: Clock) -> None:
    seen = Lateness()
    seen.note([9 * SECOND], asked_at=clock.at)
    clock.at += WINDOW_SECONDS / 2
    seen.note([SECOND], asked_at=clock.at)
    assert seen.lately().most_us == 9 * SECOND
    clock.at += WINDOW_SECONDS / 2 + 1
    assert seen.lately().most_us == SECOND
    clock.at += WINDOW_SECONDS
    assert seen.lately() == ON_TIME
