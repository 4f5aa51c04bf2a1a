"""How cost grows: every size in every round, and a page of medians and ranges."""

import argparse
from collections.abc import Sequence

import pytest

from bench import growth
from bench.contest.contestant import Figures
from bench.stored import Program, Site, Size


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


def test_in_each_round_all_sizes_are_in_one_window_and_another_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Sequence[Site]] = []

    def window(who: Program, sites: Sequence[Site]) -> list[Figures]:
        asked.append(sites)
        return [seen(site.size.count + len(site.settings)) for site in sites]

    monkeypatch.setattr(growth, "side_by_side", window)
    found = growth.windows([Size(count=count, due=50, seconds=30) for count in (10, 100)], rounds=2)
    assert [[(site.size.count, len(site.settings)) for site in sites] for sites in asked] == [
        [(10, 0), (100, 0), (10, 1), (100, 1)],
        [(100, 0), (10, 1), (100, 1), (10, 0)],
    ]
    cpu = {
        name: [[each["cpu_us_per_fire"] for each in rounds] for _, rounds in points] for name, points in found.items()
    }
    assert list(cpu.values()) == [[[10, 10], [100, 100]], [[11, 11], [101, 101]]]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--rounds", "0"], "--rounds 0: there must be one at least"),
        (["--due", "-5"], "--due -5: there must be one at least"),
        (["--stored", "1000"], "--stored 1000: .* at least 3000"),
        (["--stored", "10001"], "--stored 10001: .* a multiple of 50"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_started(options: list[str], told: str) -> None:
    parser = argparse.ArgumentParser()
    growth.arguments(parser)
    with pytest.raises(SystemExit, match=told):
        growth.run(parser.parse_args(options))
