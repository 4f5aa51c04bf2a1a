"""What all programs of a contest measure with."""

from pathlib import Path

import pytest

from bench.peers import measures
from bench.peers.marks import FileMarks


def test_a_burst_is_measured_from_its_instant_to_the_last_begin() -> None:
    figures = measures.burst_figures([100.0 + n / 100 for n in range(1, 101)], 100.0)
    assert figures["fires_per_second"] == pytest.approx(100)
    assert figures["lateness_p50_ms"] == pytest.approx(510)
    assert figures["lateness_p99_ms"] == pytest.approx(1000)


def test_batches_hold_all_jobs() -> None:
    assert measures.batches(2_500, 1_000) == [1_000, 1_000, 500]
    assert measures.batches(3, 1) == [1, 1, 1]
    assert measures.batches(300, 1_000) == [300]


def test_who_falls_behind_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "PATIENCE_SECONDS", 0.0)
    with pytest.raises(measures.FellBehind, match="fell behind: 3 of 5"):
        measures.wait_for(lambda: 3, 5)


def test_a_burst_that_is_late_before_it_begins_is_none() -> None:
    with pytest.raises(measures.FellBehind):
        measures.check_lead(0.0)


def test_marks_of_several_processes_are_one_file(tmp_path: Path) -> None:
    one, other = FileMarks(tmp_path / "marks"), FileMarks(tmp_path / "marks")
    one.mark()
    other.mark()
    assert one.count() == 2
    assert one.nth(1) == other.all()[1]
    assert one.nth(2) is None
    one.clear()
    assert other.count() == 0
