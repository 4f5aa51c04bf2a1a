"""States and their moves, ids, outcomes."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waterclock.domain.outcome import Retry, plan_retry
from waterclock.domain.run import ACTIVE, ENDED, LIVE, NEXT, RunState, attempt_wire_id, may_move, run_wire_id

REPO = Path(__file__).resolve().parents[3]


def test_every_state_has_its_row_and_what_has_ended_moves_nowhere() -> None:
    assert set(NEXT) == set(RunState)
    assert all(not NEXT[state] for state in ENDED)
    assert set(RunState) == LIVE | ENDED
    assert not LIVE & ENDED
    assert {RunState.WAITING} == LIVE - ACTIVE


def test_every_live_state_can_be_stopped() -> None:
    assert all(may_move(state, RunState.STOPPING) for state in LIVE - {RunState.STOPPING})
    assert may_move(RunState.STOPPING, RunState.STOPPED)


def test_the_page_about_states_is_what_the_table_says() -> None:
    checked = subprocess.run([sys.executable, REPO / "tools" / "states", "--check"], check=False)
    assert checked.returncode == 0


@given(st.integers(0, 2**50), st.binary(min_size=26, max_size=26))
def test_a_run_id_is_jr_and_64_hex_digits(at: int, entropy: bytes) -> None:
    wire_id = run_wire_id(at, entropy)
    assert wire_id.startswith("jr_")
    assert len(wire_id) == 67
    int(wire_id[3:], 16)


@given(st.integers(0, 2**50), st.integers(1_000, 2**40))
def test_later_runs_have_greater_ids(at: int, later: int) -> None:
    assert run_wire_id(at, b"\xff" * 26) < run_wire_id(at + later + 1_000, b"\0" * 26)


def test_retries_are_named_after_the_first_attempt() -> None:
    assert attempt_wire_id("jr_1", 0) == "jr_1"
    assert attempt_wire_id("jr_1", 2) == "jr_1_attempt_2"


@pytest.mark.parametrize(
    ("was", "ended", "number", "expected"),
    [
        (RunState.RUNNING, RunState.FAILED, 0, Retry(number=1, due_at=1_000_000 + 5_000_000)),
        (RunState.RUNNING, RunState.FAILED, 1, Retry(number=2, due_at=1_000_000 + 5_000_000)),
        (RunState.RUNNING, RunState.FAILED, 2, None),
        (RunState.RUNNING, RunState.TIMEOUT, 0, None),
        (RunState.RUNNING, RunState.SUCCEEDED, 0, None),
        (RunState.STOPPING, RunState.FAILED, 0, None),
        (RunState.STOPPING, RunState.STOPPED, 0, None),
    ],
)
def test_only_a_failure_that_nobody_asked_for_is_tried_again(
    was: RunState, ended: RunState, number: int, expected: Retry | None
) -> None:
    assert plan_retry(was=was, ended=ended, number=number, retries=2, delay_seconds=5, now=1_000_000) == expected


@pytest.mark.parametrize(("number", "waits"), [(0, 90), (1, 180), (5, 2_880), (6, 3_600), (5_000, 3_600)])
def test_a_delay_that_doubles_ends_at_an_hour(number: int, waits: int) -> None:
    retry = plan_retry(
        was=RunState.RUNNING,
        ended=RunState.FAILED,
        number=number,
        retries=10_000,
        delay_seconds=90,
        now=0,
        doubles=True,
    )
    assert retry == Retry(number=number + 1, due_at=waits * 1_000_000)
