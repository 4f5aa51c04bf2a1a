"""What is told of a run while it is followed."""

import pytest

from waterclock.faces.cli.following import Progress


def test_a_reason_to_wait_is_told_when_it_comes_and_only_then(capsys: pytest.CaptureFixture[str]) -> None:
    progress, run = Progress(), {"id": "jr_1", "state": "STARTING", "wait_reason": None, "execution_seconds": None}
    for reason in (None, None, "no worker is alive", "no worker is alive"):
        progress.saw({**run, "wait_reason": reason})
    told = [line.partition("] ")[2] for line in capsys.readouterr().err.splitlines()]
    assert told == ["jr_1 is STARTING", "jr_1 is STARTING: no worker is alive"]
