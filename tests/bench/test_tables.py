"""Results on disk, and the tables that are written of them."""

import dataclasses
from pathlib import Path

import pytest

from bench.contest.contestant import US, Figure
from bench.contest.results import in_order, read, read_all, write
from bench.contest.tables import overview, page, write_tables
from bench.contest.wording import number
from tests.bench.made import RATE, result, standing


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    given = result()
    found = read(write(given, tmp_path / "made" / "here"))
    assert (found.name, found.load, found.rounds, found.machine) == (given.name, given.load, 3, given.machine)
    assert list(found.figures) == list(given.figures)
    assert list(found.standings) == list(given.standings)


def test_all_results_of_a_folder_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("W1-burst-10000", "W10-x", "W1-burst-5000", "W2-y"):
        write(result(name=name), tmp_path)
    assert [each.name for each in read_all(tmp_path)] == ["W1-burst-5000", "W1-burst-10000", "W2-y", "W10-x"]
    assert sorted(["W1-burst-memory", "W1-burst-5000"], key=in_order) == ["W1-burst-5000", "W1-burst-memory"]


def test_the_page_of_a_contest_has_us_first_then_peers_by_their_place_then_the_limit() -> None:
    rows = [line.split(" | ")[0].strip("| ") for line in page(result()).splitlines() if line.startswith("| ")]
    assert rows[1:] == ["waterclock", "fast", "slow", "broken", "bare"]


def test_the_page_tells_medians_ranges_ratios_and_why_somebody_has_none() -> None:
    told = page(result())
    assert "| fast | peer | 550/s (325–600) | – | 2.00 × |" in told
    assert "- broken: not done within 150 s" in told
    assert "load 0.5 → 1.25" in told
    assert "W0-made.svg" in told


def test_the_overview_has_ours_the_best_peer_every_peer_the_limit_and_the_goal() -> None:
    row = next(line for line in overview([result()]).splitlines() if line.startswith("| [W0-made]"))
    cells = [cell.strip() for cell in row.strip("|").split(" | ")]
    assert cells[1] == "1,200/s (1,100–1,300)"
    assert cells[2] == "fast: 550/s (325–600)"
    assert cells[3] == "2.00 ×"
    assert "slow 110/s (100–120) [10.8 ×]" in cells[4]
    assert "broken: not done within 150 s" in cells[4]
    assert cells[5] == "bare: 2,400/s (2,200–2,600), 50 % of it"
    assert cells[6:] == ["≥ 1,000/s", "yes", "0.5 → 1.25"]


def test_a_share_of_the_limit_is_a_goal_in_words() -> None:
    figures = [dataclasses.replace(RATE, goal=None, share=0.9)]
    told = overview([dataclasses.replace(result(), figures=figures)])
    assert "50 % of it | ≥ 90 % of the limit | **no** |" in told


def test_a_missed_goal_and_a_goal_without_figures_are_told_as_missed() -> None:
    rows = overview([result([standing("waterclock", US, 900)])]).splitlines()
    found = [line for line in rows if line.startswith("| [W0-made]")]
    assert len(found) == 2  # both figures have goals
    assert all("**no**" in line for line in found)


def test_a_quick_run_is_told_as_such() -> None:
    assert "quick: small counts" in overview([result(quick=True)])
    assert "quick" not in overview([result()])


def test_a_problem_with_bars_and_lines_does_not_break_the_table() -> None:
    told = overview([result([standing("waterclock", US, None, problem="a | b\nc")])])
    assert "a / b c" in told


def test_tables_are_written_for_each_and_for_all(tmp_path: Path) -> None:
    write_tables([result()], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "W0-made.md"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (12_345.6, "12,346"),
        (123.4, "123"),
        (12.34, "12.3"),
        (1.234, "1.23"),
        (0.5, "0.50"),
        (0.0123, "0.012"),
        (0, "0.00"),
    ],
)
def test_numbers_have_as_many_digits_as_mean_something(value: float, words: str) -> None:
    assert number(value) == words


def test_a_figure_without_a_goal_has_no_row_of_its_own_unless_it_is_the_first() -> None:
    plain = Figure(key="rate", title="rate", unit="/s", more_is_better=True)
    other = Figure(key="span", title="span", unit="ms", more_is_better=False)
    told = overview([dataclasses.replace(result(), figures=[plain, other])])
    assert len([line for line in told.splitlines() if line.startswith("| [W0-made]")]) == 1
