"""How the end of a program is judged, and what an attempt's program looks like."""

from pathlib import Path

import pytest

from waterclock.domain.run import RunState
from waterclock.engine.verdict import outcome_of
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


def test_every_way_to_end_is_judged() -> None:
    for end in End:
        outcome_of(Ended(attempt_id=1, fence=1, end=end), last_words=str(Path()))
