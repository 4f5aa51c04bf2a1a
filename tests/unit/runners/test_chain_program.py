"""What the program of a gate or a step is given, and how long it has."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runners.chains import probe_of, step_of
from waterclock.domain.errors import CannotRun
from waterclock.domain.moment import SECOND
from waterclock.runners.chain_program import chain_environment, command, interpreter, timeout_of, words_of

SCRIPT = Path("/work/7/load.py")


def test_the_program_is_the_interpreter_the_script_and_its_words() -> None:
    assert command("/bin/sh", SCRIPT, "main", ["a", ""]).argv == ("/bin/sh", "/work/7/load.py", "a", "")
    assert not command("/bin/sh", SCRIPT, "main", []).warm


@pytest.mark.parametrize(("role", "words"), [("bkp", ("bkp", "a")), ("main", ("a",)), ("", ("a",))])
def test_on_the_backup_the_first_word_is_bkp(role: str, words: tuple[str, ...]) -> None:
    assert command("/bin/sh", SCRIPT, role, ["a"]).argv[2:] == words


def test_python_alone_is_our_own_warm_one() -> None:
    built = command(interpreter("python"), SCRIPT, "bkp", ["a"])
    assert (built.argv, built.warm) == (("/work/7/load.py", "bkp", "a"), True)


def test_an_interpreter_is_a_path_or_a_name() -> None:
    assert interpreter(sys.executable) == sys.executable
    assert interpreter("sh").endswith("/sh")


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ("/usr/bin/pyton3", "env '/usr/bin/pyton3' is not installed on this worker"),
        ("pyton3", "env 'pyton3' is not installed on this worker"),
        ("/bin/sh -x", "env '/bin/sh -x' is not installed on this worker: it names the one program"),
        ("venv/bin/python", "env 'venv/bin/python' must be a whole path, such as /usr/bin/python3, or a name"),
        ("/etc/passwd", "env '/etc/passwd' is not a program that this worker may run"),
        ("/tmp", "env '/tmp' is not a program that this worker may run"),
        ("a\0b", "must be a whole path"),
    ],
)
def test_an_interpreter_that_is_not_there_is_named(env: str, words: str) -> None:
    with pytest.raises(CannotRun) as refused:
        interpreter(env)
    assert words in str(refused.value)


def test_words_stand_between_semicolons_as_they_are() -> None:
    attempt = step_of("reports/load.py;two words;;ㅎ=1; last ;").attempt
    assert list(words_of(attempt).values()) == ["two words", "", "ㅎ=1", " last "]


def test_the_job_of_a_chain_is_not_run_on_its_own() -> None:
    with pytest.raises(CannotRun, match="runs as a part of its chain only"):
        words_of(step_of("x.py", arguments={}).attempt)


def test_a_program_is_told_the_chains_instant_its_run_and_its_role() -> None:
    attempt = step_of("x.py", role="bkp", settings={"fire_at": 1_794_787_200 * SECOND, "flow_run_id": 12}).attempt
    assert chain_environment(attempt, warm=False) == {
        "WATERCLOCK_FIRE_TIME": "2026-11-16T00:00:00Z",
        "WATERCLOCK_CHAIN_RUN_ID": "12",
        "WATERCLOCK_ROLE": "bkp",
        "PYTHONIOENCODING": "utf-8",
    }
    assert chain_environment(step_of("x.py", role="").attempt, warm=True)["WATERCLOCK_ROLE"] == "main"


@pytest.mark.parametrize(
    ("minutes_left", "own", "has"),
    [(5, 60, 60), (0.5, 60, 30), (0, 60, 10), (-1, 60, 10), (0, 4, 4), (1, None, 60)],
)
def test_a_probe_has_its_own_time_but_hardly_more_than_its_gate(minutes_left: float, own: int | None, has: int) -> None:
    due_at = 1_000 * SECOND
    until: dict[str, Any] = {"probe_until": due_at + int(minutes_left * 60 * SECOND)}
    for claimed_at in (0, due_at):
        probe = probe_of("x.py", timeout_seconds=own, due_at=due_at, updated_at=claimed_at, **until)
        assert timeout_of(probe.attempt) == has
    late = probe_of("x.py", timeout_seconds=own, due_at=0, updated_at=due_at, **until)
    assert timeout_of(late.attempt) == has


def test_a_step_has_its_own_time() -> None:
    assert timeout_of(step_of("x.py", timeout_seconds=60).attempt) == 60
