"""`waterclock cron next`: previews without a server, one by one and line by line."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule import parse_schedule
from waterclock.faces.cli import main
from waterclock.faces.cli.cron import answer


def run(*args: str, stdin: bytes | str | None = None) -> Result:
    return CliRunner().invoke(main, ["cron", "next", *args], input=stdin)


def test_it_prints_utc_times_one_a_line() -> None:
    said = run("30 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-03-28T00:00:00Z", "-n", "3")
    # On the 29th the clocks skip 02:30: it runs at the moment of the jump.
    assert said.stdout == "2026-03-28T01:30:00Z\n2026-03-29T01:00:00Z\n2026-03-30T00:30:00Z\n"


def test_json_is_a_list_of_utc_times() -> None:
    said = run("rate(5 minutes)", "--from", "2026-11-15T12:00:00Z", "-n", "2", "--json")
    assert json.loads(said.stdout) == ["2026-11-15T12:05:00Z", "2026-11-15T12:10:00Z"]


def test_without_a_moment_it_begins_now() -> None:
    (first,) = json.loads(run("* * * * * ?", "-n", "1", "--json").stdout)
    assert abs((datetime.fromisoformat(first) - datetime.now(UTC)).total_seconds()) < 60


def test_a_schedule_that_is_over_has_no_fires() -> None:
    said = run("at(2020-01-01T00:00:00)", "--json")
    assert (said.exit_code, json.loads(said.stdout)) == (0, [])


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["61 * * * *"], "61"),
        (["* * *"], "schedule"),
        (["@daily", "--tz", "Mars/Olympus"], "no such time zone"),
        (["@daily", "--from", "tomorrow"], "from: must be a time"),
        (["@daily", "--from", "9999-12-31T23:59:59-01:00"], "from: must"),
        (["@daily", "-n", "0"], "-n"),
        (["@daily", "--frmo", "x"], "--frmo"),
        ([], "EXPR"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(args: list[str], words: str) -> None:
    said = run(*args)
    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr.startswith("waterclock: ")
    assert words in said.stderr
    assert said.stderr.count("\n") == 1


def test_lines_are_answered_one_by_one() -> None:
    lines = (
        b"0 12 * * *\tAsia/Seoul\t2026-11-15T00:00:00Z\n"
        b"nonsense\tUTC\t2026-11-15T00:00:00Z\r\n"
        b"@hourly\n"
        b"\n"
        b"0 0 0 1 1 ? 2030\t\t2026-01-01\n"
        b"\xff\xfe\tUTC\n"
        b"@daily\tUTC\t2026-01-01\tmore\n"
        b"@daily\tUTC\t2026-01-01"
    )
    said = run("-", "--from", "2026-11-15T00:30:00Z", "-n", "1", stdin=lines)
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    assert answers[0] == ["2026-11-15T03:00:00Z"]
    assert answers[2] == ["2026-11-15T01:00:00Z"]
    assert answers[7] == ["2026-01-02T00:00:00Z"]
    assert [list(each) for each in answers if isinstance(each, dict)] == [["error"]] * 4
    assert (said.exit_code, len(answers)) == (0, 8)


WORDS = st.sampled_from(
    ["*", "0", "5", "*/7", "1-5", "L", "?", "MON", "60", "-1", "", "rate(", "2026", "15W", "#", "@daily"]
)
LINES = st.one_of(
    st.binary(max_size=60),
    st.lists(WORDS, min_size=1, max_size=8).map(lambda words: " ".join(words).encode()),
    st.tuples(
        st.sampled_from(["0 12 * * *", "*/5 * * * * ?", "rate(3 hours)", "at(2026-06-01T00:00:00)"]),
        st.sampled_from(["UTC", "Europe/Berlin", "Nowhere", ""]),
        st.integers(0, 5_600_000_000).map(lambda second: datetime.fromtimestamp(second, UTC).isoformat()),
    ).map(lambda fields: "\t".join(fields).encode()),
)


@given(LINES)
def test_any_line_gets_one_line_of_json_that_agrees_with_the_schedule(line: bytes) -> None:
    (said,) = answer(line.split(b"\n")[0], "UTC", "2026-11-15T00:00:00Z", 3).split("\n")
    found = json.loads(said)
    if isinstance(found, dict):
        assert list(found) == ["error"]
        return
    assert len(found) <= 3
    fires = [datetime.fromisoformat(each) for each in found]
    assert fires == sorted(set(fires))
    assert all(each.endswith("Z") for each in found)
    expression, zone, _ = (*line.split(b"\n")[0].rstrip(b"\r").decode(errors="replace").split("\t"), "", "")[:3]
    schedule = parse_schedule(expression, timezone=zone.strip() or "UTC")
    assert all(schedule.last_at_or_before(fire) == fire for fire in fires)


@given(st.lists(LINES.filter(lambda line: b"\n" not in line), max_size=8))
def test_there_are_as_many_answers_as_lines(lines: list[bytes]) -> None:
    said = run("-", "-n", "1", stdin=b"".join(line + b"\n" for line in lines))
    assert said.exit_code == 0
    assert said.stdout.count("\n") == len(lines)
    for line in said.stdout.split("\n")[:-1]:
        json.loads(line)


def test_a_preview_imports_neither_the_client_nor_a_server() -> None:
    code = (
        "import sys; from waterclock.faces.cli import main; main(['cron', 'next', '@daily'], standalone_mode=False);"
        "print([name for name in ('httpx', 'starlette', 'botocore', 'asyncio', 'uvicorn') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "[]"


def test_a_wrong_expression_is_an_error_of_the_domain() -> None:
    with pytest.raises(InvalidInput):
        parse_schedule("nonsense")
