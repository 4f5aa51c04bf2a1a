"""Quartz as a peer: its programs compile against Debian's jars and print the figures that the workloads ask for."""

from pathlib import Path

import pytest

from bench.contest.contestant import BenchProblem, Figures
from bench.contest.program import figures_of
from bench.peers import quartz

pytestmark = pytest.mark.heavy


def command(workload: str, options: quartz.Options) -> list[str]:
    try:
        return quartz.command(workload, options)
    except BenchProblem as problem:
        pytest.skip(str(problem))


def measured(workload: str, options: quartz.Options) -> Figures:
    command(workload, {})
    return quartz.measure(workload, quartz.SETTINGS[1], options)


def test_a_next_fire_costs_something(tmp_path: Path) -> None:
    order = tmp_path / "order"
    order.write_text("1704067201 1735689601\n0 0 12 L * ?\tUTC\n0 0 12 ? * 6#3\tAmerica/New_York\n")
    found = figures_of(command("W5", {"order": str(order)}))
    assert sorted(found) == ["0", "1"]
    assert min(found.values()) > 0


def test_all_of_a_burst_begin_after_they_are_due() -> None:
    found = measured("W1", {"count": 30, "limit": 60})
    assert found["begun"] == 30
    assert 0 < found["lateness_p50_ms"] <= found["lateness_p99_ms"]


def test_submitted_jobs_leave_nothing_in_the_store() -> None:
    assert measured("W3", {"count": 20, "together": 10})["jobs_per_second"] > 0


def test_stored_triggers_that_are_due_begin() -> None:
    found = measured("W4", {"count": 500, "due": 5, "seconds": 3})
    assert found["not_begun"] == 0
    assert found["memory_mb"] > 0


def test_what_a_program_refuses_is_told_in_its_words() -> None:
    with pytest.raises(BenchProblem, match="no such workload: W0"):
        figures_of(command("W0", {}))
