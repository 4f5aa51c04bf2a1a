"""A refused schedule says which expression, which field, which value, and why."""

from datetime import UTC, date, datetime, timedelta

import pytest

from waterclock.domain.errors import BadSchedule, InvalidInput
from waterclock.domain.schedule import Every, parse_schedule

WRONG = [
    ("61 * * * *", "minute '61': must be 0–59"),
    ("* 24 * * *", "hour '24': must be 0–23"),
    ("* * 0 * *", "day-of-month '0': must be 1–31"),
    ("* * * 13 *", "month '13': must be 1–12"),
    ("* * * * 8", "day-of-week '8': must be 0–7"),
    ("* * * * FRY", "day-of-week 'FRY': must be 0–7 or a name"),
    ("*/0 * * * *", "minute '*/0': the step must be 1–59"),
    ("*/90 * * * *", "minute '*/90': the step must be 1–59"),
    ("*/ * * * *", "minute '*/': the step must be 1–59"),
    ("50-10 * * * *", "minute '50-10': the range runs backwards"),
    ("1,,2 * * * *", "minute '': must be 0–59"),
    ("* * L * *", "day-of-month 'L': must be 1–31"),
    ("* * ? * *", "day-of-month '?': must be 1–31"),
    ("-5 * * * *", "minute '': must be 0–59"),
    ("١ * * * *", "minute '١': must be 0–59"),
    ("99999999999999999999 * * * *", "minute '99999999999999999999': must be 0–59"),
    ("0 0 30 2 *", "never fires: no such day ever comes"),
    ("0 0 12 31 4,6,9,11 ?", "never fires: no such day ever comes"),
    ("0 0 12 29 2 ? 2026", "never fires: no such day ever comes"),
    ("", "has 0 field(s): crontab has 5, Quartz 6 or 7"),
    ("* * * *", "has 4 field(s): crontab has 5, Quartz 6 or 7"),
    ("* * * * * * * *", "has 8 field(s): crontab has 5, Quartz 6 or 7"),
    ("@reboot", "unknown name; known are @hourly"),
    ("60 * * * * ?", "second '60': must be 0–59"),
    ("0 0 12 * * *", "exactly one of day-of-month and day-of-week must be '?'"),
    ("0 0 12 ? * ?", "exactly one of day-of-month and day-of-week must be '?'"),
    ("0 0 12 ? * 0", "day-of-week '0': must be 1–7"),
    ("0 0 12 L,15 * ?", "day-of-month 'L,15': L and W stand alone"),
    ("0 0 12 1W,15W * ?", "day-of-month '1W,15W': L and W stand alone"),
    ("0 0 12 32W * ?", "day-of-month '32': must be 1–31"),
    ("0 0 12 L-31 * ?", "day-of-month 'L-31': the days before the last must be 0–30"),
    ("0 0 12 ? * 6#6", "day-of-week '6#6': the number after # must be 1–5"),
    ("0 0 12 ? * 6L,2", "day-of-week '6L,2': L and # stand alone"),
    ("0 0 12 ? * 9L", "day-of-week '9': must be 1–7"),
    ("0 0 12 1 1 ? 1969", "year '1969': must be 1970–2099"),
    ("0 0 12 1 1 ? 2100", "year '2100': must be 1970–2099"),
    ("cron(0 12 * * ? 2200)", "year '2200': must be 1970–2199"),
    ("cron(0 12 * * ?)", "has 5 field(s): cron() has 6"),
    ("cron(0 12 * * * *)", "exactly one of day-of-month and day-of-week must be '?'"),
    ("cron(60 12 * * ? *)", "minute '60': must be 0–59"),
    ("rate(0 minutes)", "rate '0': must be at least 1"),
    ("rate(5 minute)", "unit 'minute': with more than one it is minutes"),
    ("rate(5 weeks)", "must read rate(5 minutes)"),
    ("rate(-5 minutes)", "must read rate(5 minutes)"),
    ("rate(5)", "must read rate(5 minutes)"),
    ("at(2026-02-30T12:00:00)", "at '2026-02-30T12:00:00': day is out of range for month"),
    ("at(tomorrow)", "must read at(2026-11-15T12:00:00)"),
    ("at(1969-01-01T00:00:00)", "at '1969-01-01T00:00:00': the year must be 1970–2199"),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_a_wrong_expression_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(BadSchedule) as refused:
        parse_schedule(text)
    assert words in str(refused.value)
    assert repr(text) in str(refused.value)


def test_the_error_carries_the_facts_apart() -> None:
    with pytest.raises(BadSchedule) as refused:
        parse_schedule("0 25 * * *")
    error = refused.value
    assert (error.expression, error.part, error.value) == ("0 25 * * *", "hour", "25")


@pytest.mark.parametrize(
    "zone", ["Mars/Olympus", "", "../etc/passwd", "/etc/passwd", "a" * 300, "\0", "America", "\ud800"]
)
def test_an_unknown_zone_is_refused_by_name(zone: str) -> None:
    with pytest.raises(BadSchedule, match="no such time zone"):
        parse_schedule("0 12 * * *", timezone=zone)


@pytest.mark.parametrize("text", [None, 5, b"* * * * *", ["*"]])
def test_what_is_not_text_is_refused(text: object) -> None:
    with pytest.raises(BadSchedule, match="is not text"):
        parse_schedule(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["1," * 10_000_000, "*" * 10_000_000, "(" * 10_000_000, "rate(" + "9" * 10_000_000])
def test_a_very_long_text_is_refused_at_once_and_its_error_is_short(text: str) -> None:
    with pytest.raises(BadSchedule, match="longer than 1000 characters") as refused:
        parse_schedule(text)
    assert len(str(refused.value)) < 300


def test_the_longest_lists_are_read() -> None:
    minutes = ",".join(["0-59"] * 190)
    assert parse_schedule(f"{minutes} * * * *").next_after(datetime(2026, 1, 1, tzinfo=UTC))


def test_an_end_before_the_start_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must not be before the start"):
        parse_schedule("@daily", start=datetime(2026, 2, 1, tzinfo=UTC), end=datetime(2026, 1, 1, tzinfo=UTC))


def test_an_interval_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="interval"):
        Every(interval=timedelta(0))


@pytest.mark.parametrize("seconds", [-1, 10**9, float("inf"), float("nan")])
def test_senseless_jitter_is_refused(seconds: float) -> None:
    with pytest.raises(InvalidInput, match="jitter"):
        parse_schedule("@daily", jitter_seconds=seconds)


def test_holidays_outside_the_known_years_do_no_harm() -> None:
    schedule = parse_schedule("@daily", exclude=[date(1, 1, 1), date(9999, 12, 31)], timezone="Europe/Berlin")
    assert schedule.next_after(datetime(2026, 1, 1, 12, tzinfo=UTC)) == datetime(2026, 1, 1, 23, tzinfo=UTC)
