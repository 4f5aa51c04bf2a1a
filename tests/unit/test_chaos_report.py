"""The report of a chaos run: a table that says what was found, and never hides what was not tried."""

from waterclock.chaos.checker import Findings
from waterclock.chaos.report import Line, faults, percentile, table

GOOD = Line(number=1, title="no fault", store="postgres", seconds=31.2, fires=8, runs=9, findings=Findings())


def test_a_line_tells_what_was_counted_and_how_late_it_was() -> None:
    line = Line(
        number=3,
        title="a|b",
        store="sqlite",
        seconds=4,
        findings=Findings(lost=["job of 10"]),
        late_us=[1_000, 250_000],
    )
    written = table([GOOD, line]).splitlines()
    assert written[0].startswith("| # | scenario | store | s | fires | runs | lost | doubled | late p99 | orphans |")
    assert written[2] == "| 1 | no fault | postgres | 31 | 8 | 9 | 0 | 0 | – | 0 | passed |  |"
    assert written[3] == "| 3 | a\\|b | sqlite | 4 | 0 | 0 | 1 | 0 | 250 ms | 0 | **failed** |  |"
    assert faults([GOOD, line]) == "3 on sqlite: lost: job of 10"


def test_what_broke_or_could_not_be_tried_is_said() -> None:
    broken = Line(number=4, title="t", store="postgres", seconds=1, broken="AssertionError: no")
    untried = Line(number=7, title="t", store="postgres", seconds=1, untried="needs root")
    assert "**failed**" in table([broken])
    assert "not tried: needs root" in table([untried])
    assert faults([broken, untried]) == "4 on postgres: AssertionError: no"


def test_a_percentile_is_a_figure_that_was_measured() -> None:
    assert percentile([]) is None
    assert percentile([7]) == 7
    assert percentile(list(range(1, 101))) == 99
    assert percentile(list(range(1, 1001))) == 990
