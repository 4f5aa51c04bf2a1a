"""The window of the stored workload: who counts, and how late."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.peers import stored_window
from bench.peers.stored_window import Window, Work, resident_mb, tree_cpu_seconds

WORK = Work(step="run", url="", count=1_000, due=10, seconds=5, base=1_000, postmaster=0)


@pytest.fixture(autouse=True)
def nobody_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_window, "begun", [])


def test_schedules_are_spread_over_their_period() -> None:
    assert WORK.period == 100
    assert [WORK.slot(number) for number in (0, 9, 10, 999)] == [0, 0, 1, 99]


def test_the_window_begins_at_a_whole_second_after_the_base() -> None:
    assert Window.after(WORK, 900.5).first == 1_000
    assert Window.after(WORK, 1_010.2).first == 1_011


def test_a_base_within_a_second_has_its_window_there_too() -> None:
    window = Window.after(dataclasses.replace(WORK, base=1_000.25), 1_009.5)
    assert (window.first, window.end) == (1_010.25, 1_015.25)
    stored_window.begun.extend([(1_009.5, 9), (1_010.5, 10), (1_014.75, 14), (1_015.5, 15)])
    assert window.begun() == [0.25, 0.5]


def test_a_window_that_would_meet_nothing_due_is_refused() -> None:
    with pytest.raises(SystemExit):
        Window.after(WORK, 1_097)


def test_only_what_is_due_in_the_window_counts() -> None:
    window = Window.after(WORK, 1_010)
    stored_window.begun.extend([(1_009.5, 9), (1_010.25, 10), (1_014.5, 14), (1_015.5, 15)])
    assert window.begun() == [0.25, 0.5]


def test_who_has_not_begun_is_as_late_as_it_is_by_now() -> None:
    window = Window.after(WORK, 1_010)
    stored_window.begun.extend((1_010.001 + slot - 10, slot) for slot in range(10, 15) for _ in range(9))
    late = window.lateness(1_030)
    assert late["not_begun"] == 5
    assert late["lateness_p50_ms"] == pytest.approx(1)
    assert late["lateness_p99_ms"] == pytest.approx(15_000)


def test_a_process_has_used_some_cpu_and_memory() -> None:
    assert tree_cpu_seconds(os.getpid()) > 0
    assert resident_mb(os.getpid()) > 1


def test_what_a_child_has_used_is_not_lost_in_the_moment_in_which_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = "sum(range(20_000_000)); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        before = tree_cpu_seconds(os.getpid())
        read = Path.read_text

        def and_the_child_ends(path: Path) -> str:
            text = read(path)
            if path == Path(f"/proc/{os.getpid()}/stat"):
                child.kill()
                child.wait()
            return text

        monkeypatch.setattr(Path, "read_text", and_the_child_ends)
        assert tree_cpu_seconds(os.getpid()) >= before
