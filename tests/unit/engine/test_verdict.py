"""How the end of a program is judged, and what an attempt's program looks like."""

from pathlib import Path

import pytest

from waterclock.domain.run import RunState
from waterclock.engine.verdict import UNCLEAR, UNREADABLE, outcome_of, probed, reasoned
from waterclock.runners.base import End, Ended


@pytest.mark.parametrize(
    ("end", "fields", "state", "message"),
    [
        (End.EXITED, {"exit_code": 0}, RunState.SUCCEEDED, None),
        (End.EXITED, {"exit_code": 3}, RunState.FAILED, "exit code 3: last line"),
        (End.EXITED, {"signal": 9}, RunState.FAILED, "killed by signal 9 (SIGKILL): last line"),
        (End.EXITED, {"signal": 77}, RunState.FAILED, "killed by signal 77 (unknown): last line"),
        (End.STOPPED, {"signal": 15}, RunState.STOPPED, None),
        (End.TIMEOUT, {"signal": 9}, RunState.TIMEOUT, "did not end within its time-out: last line"),
        (End.LEASE_LOST, {}, RunState.FAILED, "killed: its lease could not be renewed"),
        (End.LOST, {}, RunState.FAILED, "killed: the process that watched over it died"),
        (End.NOT_STARTED, {"message": "no such file"}, RunState.FAILED, "no such file"),
    ],
)
def test_an_end_becomes_the_outcome_that_a_person_understands(
    end: End, fields: dict[str, object], state: RunState, message: str | None
) -> None:
    ended = Ended(attempt_id=1, fence=2, end=end, cpu_seconds=1.5, peak_rss_bytes=9, **fields)  # type: ignore[arg-type]
    outcome = outcome_of(ended, last_words="last line")
    assert (outcome.state, outcome.message) == (state, message)
    assert (outcome.attempt_id, outcome.fence, outcome.cpu_us, outcome.peak_rss_bytes) == (1, 2, 1_500_000, 9)


@pytest.mark.parametrize(
    ("end", "fields", "message"),
    [
        (End.EXITED, {"exit_code": 0}, None),
        (End.EXITED, {"exit_code": 1}, "no such table (exit code 1)"),
        (End.TIMEOUT, {"signal": 9}, "no such table (did not end within its time-out)"),
        (End.STOPPED, {"signal": 15}, None),
    ],
)
def test_what_a_program_says_of_its_failure_goes_first(end: End, fields: dict[str, int], message: str | None) -> None:
    ended = Ended(attempt_id=1, fence=2, end=end, **fields)  # type: ignore[arg-type]
    assert reasoned(outcome_of(ended, last_words="no such table"), ended, "no such table").message == message
    assert reasoned(outcome_of(ended), ended, None) == outcome_of(ended)


def test_every_way_to_end_is_judged() -> None:
    for end in End:
        outcome_of(Ended(attempt_id=1, fence=1, end=end), last_words=str(Path()))


@pytest.mark.parametrize(
    ("fields", "said", "state", "verdict", "message"),
    [
        ({"exit_code": 0}, "0\n", RunState.SUCCEEDED, "passed", None),
        ({"exit_code": 0}, "", RunState.SUCCEEDED, "passed", None),
        ({"exit_code": 0}, "1\n", RunState.FAILED, "not_yet", "not yet"),
        ({"exit_code": 0}, "2", RunState.FAILED, "error", "it must print 0 (passed) or 1 (not yet), and printed '2'"),
        ({"exit_code": 0}, None, RunState.FAILED, "error", UNREADABLE),
        ({"exit_code": 0, "message": "its log is incomplete"}, "", RunState.FAILED, "error", "its log is incomplete"),
        ({"exit_code": 3}, "0", RunState.FAILED, "error", "exit code 3"),
        ({"signal": 9, "message": "killed"}, "0", RunState.FAILED, "error", "killed"),
        ({"end": End.TIMEOUT}, "0", RunState.TIMEOUT, "error", "did not end within its time-out"),
        ({"end": End.NOT_STARTED, "message": "no such file"}, None, RunState.FAILED, "error", "no such file"),
        ({"end": End.STOPPED}, "0", RunState.STOPPED, None, None),
        ({"end": End.LEASE_LOST}, "0", RunState.FAILED, None, "killed: its lease could not be renewed"),
        ({"end": End.LOST}, "0", RunState.FAILED, None, "killed: the process that watched over it died"),
    ],
)
def test_the_end_of_a_probe_says_whether_its_gate_has_passed(
    fields: dict[str, object], said: str | None, state: RunState, verdict: str | None, message: str | None
) -> None:
    given = {"end": End.EXITED, **fields}
    ended = Ended(attempt_id=1, fence=2, **given)  # type: ignore[arg-type]
    outcome = probed(outcome_of(ended), ended, said=said, shown=said)
    assert (outcome.state, outcome.verdict, outcome.message) == (state, verdict, message)


@pytest.mark.parametrize(
    ("said", "shown", "verdict", "message"),
    [
        ("hunter2", "***", "error", "it must print 0 (passed) or 1 (not yet), and printed '***'"),
        ("hunter2", "", "error", UNCLEAR),
        ("hunter2", None, "error", UNCLEAR),
        ("0", None, "passed", None),
        ("1", None, "not_yet", "not yet"),
    ],
)
def test_a_probe_is_judged_by_what_it_said_and_told_by_what_may_be_shown(
    said: str, shown: str | None, verdict: str, message: str | None
) -> None:
    ended = Ended(attempt_id=1, fence=2, end=End.EXITED, exit_code=0)
    outcome = probed(outcome_of(ended), ended, said=said, shown=shown)
    assert (outcome.verdict, outcome.message) == (verdict, message)
