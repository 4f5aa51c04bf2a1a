"""A tiny contest from end to end: us in memory and a limit, each in a process of its own."""

import argparse
import sys
from pathlib import Path

import psutil
import pytest

from bench.contest import holding
from bench.contest.contestant import PEER, BenchProblem, Contest, Figure
from bench.contest.entrants import MEMORY, entrant, limit, ours
from bench.contest.program import figures_of
from bench.contest.results import read
from tests.bench.made import contest, contestant
from tests.services.server import wait_until

RATE = Figure(key="fires_per_second", title="fires a second", unit="/s", more_is_better=True, goal=1)


def test_a_tiny_contest_ends_in_figures_tables_and_a_row_for_who_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = ("burst", "--count", "5")
    given = Contest(
        name="W1-tiny",
        title="W1: five",
        figures=[RATE],
        contestants=[
            ours("waterclock, memory", "bench.ours.library", *order, on=MEMORY),
            entrant("broken", PEER, lambda: [sys.executable, "-c", "raise SystemExit('no such thing')"], on=MEMORY),
            limit("a heap", "bench.limits.memory", *order, on=MEMORY),
        ],
    )
    options = argparse.Namespace(peers=None, rounds=1, quick=True, into=tmp_path, no_plots=True)
    assert holding.hold([given], options)
    found = {each.name: each for each in read(tmp_path / "W1-tiny.json").standings}
    assert (found["waterclock, memory"].median(RATE) or 0) > 0
    assert (found["a heap"].median(RATE) or 0) > 0
    assert found["broken"].problem == "no such thing"
    assert "broken: no such thing" in (tmp_path / "README.md").read_text()
    assert "| waterclock, memory | us |" in capsys.readouterr().out


def test_peers_are_chosen_by_how_their_names_begin_and_we_always_take_part() -> None:
    def nothing() -> dict[str, float]:
        return {}

    given = contest(
        contestant("us", nothing, "us"), contestant("quartz, batch 1", nothing), contestant("celery", nothing)
    )

    def names(chosen: str) -> list[str]:
        return [each.name for each in holding.with_peers(given, chosen).contestants]

    assert names("all") == ["us", "quartz, batch 1", "celery"]
    assert names("none") == ["us"]
    assert names("quartz,huey") == names("Quartz") == ["us", "quartz, batch 1"]


def test_a_program_that_takes_too_long_is_ended_and_told() -> None:
    with pytest.raises(BenchProblem, match=r"not done within 0\.2 s"):
        figures_of([sys.executable, "-c", "import time; time.sleep(60)"], timeout_seconds=0.2)


def test_a_program_that_is_ended_leaves_no_process_and_no_file_behind(tmp_path: Path) -> None:
    told = tmp_path / "told"
    left = "import os, subprocess, sys, tempfile; child = subprocess.Popen(['sleep', '600']); "
    left += "place = tempfile.mkdtemp(); open(sys.argv[1], 'w').write(f'{child.pid} {place}'); print('{}')"
    assert figures_of([sys.executable, "-c", left, str(told)]) == {}
    pid, place = told.read_text().split()
    wait_until(lambda: not psutil.pid_exists(int(pid)) or psutil.Process(int(pid)).status() == "zombie", "its end")
    assert not Path(place).exists()


def test_a_program_without_figures_is_told() -> None:
    with pytest.raises(BenchProblem, match="no figures"):
        figures_of([sys.executable, "-c", "print('hello')"])
