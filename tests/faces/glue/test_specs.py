"""What Glue's words mean to the engine: pure translations, without a server."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from waterclock.domain.errors import InvalidInput
from waterclock.domain.run import Attempt, RunState
from waterclock.faces.glue.job_spec import job_spec
from waterclock.faces.glue.render import RUN_STATES, execution_seconds, previous_id, run_wire
from waterclock.faces.glue.trigger_spec import read_schedule

NOW = datetime(2026, 11, 15, 12, 0, 0, 250_000, tzinfo=UTC)
SECOND = 1_000_000


def spec(**more: Any) -> Any:
    return job_spec({"Command": {"Name": "pythonshell", "ScriptLocation": "a.py"}, **more})


def attempt(**changed: Any) -> Attempt:
    base = dict.fromkeys(Attempt.__dataclass_fields__)
    known = {"wire_id": "jr_1", "number": 0, "state": RunState.RUNNING, "job_name": "job", "kind": "python"}
    times = {"created_at": 10 * SECOND, "updated_at": 10 * SECOND, "arguments": {}, "settings": {}}
    return Attempt(**{**base, **known, **times, **changed})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("pythonshell", "python"),
        ("PYTHON", "python"),
        ("glueetl", "spark"),
        ("gluestreaming", "spark"),
        ("glueray", "ray"),
        ("Shell", "shell"),
        ("r", "r"),
    ],
)
def test_a_command_names_a_kind(name: str, kind: str) -> None:
    assert spec(Command={"Name": name}).kind == kind


def test_minutes_become_seconds_and_modules_are_found() -> None:
    found = spec(
        Timeout=5,
        NotificationProperty={"NotifyDelayAfter": 2},
        DefaultArguments={"--additional-python-modules": "six==1.16.0"},
        MaxRetries=3,
        JobRunQueuingEnabled=True,
    )
    assert (found.timeout_seconds, found.notify_after_seconds) == (300, 120)
    assert (found.python_modules, found.retries, found.queueing) == ("six==1.16.0", 3, True)
    assert spec().timeout_seconds == 2880 * 60


def test_labels_are_asked_for_by_an_argument() -> None:
    asked = {"--waterclock-labels": "ssd, gpu,ssd,"}
    assert spec(DefaultArguments=asked).labels == spec(NonOverridableArguments=asked).labels == ("gpu", "ssd")
    assert spec().labels == ()
    with pytest.raises(InvalidInput, match=r"^--waterclock-labels: 'big memory': a label has"):
        spec(DefaultArguments={"--waterclock-labels": "big memory"})


def test_every_state_but_skipped_has_its_word() -> None:
    assert set(RUN_STATES) == set(RunState) - {RunState.SKIPPED}


@pytest.mark.parametrize(
    ("started", "ended", "seconds"),
    [(None, None, 0), (None, 15, 0), (12, 15, 3), (12.02, 13.99, 2), (12, None, 8), (25, None, 0)],
)
def test_execution_time_is_the_time_of_running(started: float | None, ended: float | None, seconds: int) -> None:
    def us(moment: float | None) -> int | None:
        return None if moment is None else round(moment * SECOND)

    assert execution_seconds(attempt(started_at=us(started), ended_at=us(ended)), 20 * SECOND) == seconds


def test_a_retry_follows_the_attempt_before_it() -> None:
    assert previous_id(attempt(previous_wire_id="jr_0")) == "jr_0"
    assert previous_id(attempt(number=1, wire_id="jr_1_attempt_1", previous_wire_id="jr_0")) == "jr_1"
    assert previous_id(attempt(number=12, wire_id="jr_1_attempt_12")) == "jr_1_attempt_11"


def test_what_is_shown_cannot_be_overwritten_by_settings() -> None:
    shown = run_wire(attempt(settings={"Id": "x", "WorkerType": "G.1X"}), now=0)
    assert (shown["Id"], shown["WorkerType"]) == ("jr_1", "G.1X")
    assert "StateDetail" not in run_wire(replace(attempt(), wait_reason="slot"), now=0)


def test_a_rate_first_fires_one_interval_after_its_definition() -> None:
    schedule = read_schedule("rate(5 minutes)", now=NOW)
    begin = datetime(2026, 11, 15, 12, 0, 1, tzinfo=UTC)
    for early in (NOW - timedelta(hours=1), NOW, NOW + timedelta(seconds=30)):
        assert schedule.next_after(early) == begin + timedelta(minutes=5)
    assert schedule.next_after(begin + timedelta(minutes=5)) == begin + timedelta(minutes=10)


@pytest.mark.parametrize("prefix", ["CRON_TZ=Europe/Berlin ", "TZ=Europe/Berlin ", " CRON_TZ=Europe/Berlin  "])
def test_a_schedule_may_name_its_zone(prefix: str) -> None:
    for text in ("0 12 * * *", "cron(0 12 * * ? *)", "0 0 12 * * ?"):
        assert read_schedule(prefix + text, now=NOW).next_after(NOW) == datetime(2026, 11, 16, 11, 0, tzinfo=UTC)
