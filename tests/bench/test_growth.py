"""How cost grows: every size in every round, and a page of medians and ranges."""

from collections.abc import Sequence

import pytest

from bench import growth
from bench.contest.contestant import Figures
from bench.stored import Size


def seen(cpu: float) -> Figures:
    return {"cpu_us_per_fire": cpu, "lateness_p50_ms": 5.0, "lateness_p99_ms": 12.25}


def test_a_row_is_the_median_of_the_rounds_with_the_least_and_the_most_of_them() -> None:
    series = {
        "W4, stored": [(10_000, [seen(480), seen(1_500), seen(460)]), (1_000_000, [seen(473), seen(480), seen(490)])]
    }
    rows = growth.page(series, 3, [0.5, 0.25]).splitlines()
    assert "| W4, stored | 10,000 | 480 (460–1,500) | 5.00 | 12.2 |" in rows
    assert "| W4, stored | 1,000,000 | 480 (473–490) | 5.00 | 12.2 |" in rows


def test_where_all_rounds_say_the_same_there_is_no_range() -> None:
    assert "| W1, due | 500 | 315 | 5.00 | 12.2 |" in growth.page({"W1, due": [(500, [seen(315)])]}, 1, [0, 0])


def test_each_round_begins_with_another_size_and_none_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def window(who: object, size: Size, settings: Sequence[str]) -> Figures:
        asked.append(size.count)
        return seen(len(asked))

    monkeypatch.setattr(growth, "measured", window)
    found = growth.windows([Size(count=count, due=50, seconds=30) for count in (10, 100)], rounds=2)
    assert asked == [10, 100, 100, 10]
    assert [(size, [each["cpu_us_per_fire"] for each in rounds]) for size, rounds in found] == [
        (10, [1, 4]),
        (100, [2, 3]),
    ]
