"""`schedule_time`: each class by example and against plain counting; what is wrong is refused with its place."""

import json
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.schedules.strategies import zoned_moments
from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_schedule import every_minutes, schedule_of
from waterclock.domain.schedule import Schedule, from_json, to_json, to_us

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)  # a Sunday
BERLIN = "Europe/Berlin"
LORD_HOWE = "Australia/Lord_Howe"
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def made(name: str, *, now: datetime = NOON, timezone: str = "UTC", **given: Any) -> Schedule:
    found = schedule_of({"class_name": f"schedule_{name}", **given}, timezone=timezone, now=to_us(now))
    assert found is not None
    assert from_json(json.loads(json.dumps(to_json(found)))) == found  # as a store keeps it
    return found


def ms(moment: datetime) -> int:
    return to_us(moment) // 1_000


def fires(schedule: Schedule, count: int, *, after: datetime | None = None, zone: str = "UTC") -> list[str]:
    """As a clock on the wall shows them."""
    found: list[str] = []
    moment = schedule.next_after(after or datetime(1969, 12, 30, tzinfo=UTC))
    while moment is not None and len(found) < count:
        found.append(f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}")
        moment = schedule.next_after(moment)
    return found


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# Each class by example


def test_none_schedule_is_no_schedule() -> None:
    assert schedule_of({"class_name": "none_schedule"}, timezone="UTC", now=0) is None


def test_once_runs_at_its_moment_and_one_in_the_past_runs_now() -> None:
    later = NOON + timedelta(days=3)
    assert made("once", start_time=ms(later)).next_after(NOON) == later
    for past in (0, ms(NOON) - 1):
        assert made("once", start_time=past).last_at_or_before(NOON) == NOON
        assert made("once", start_time=past).next_after(NOON) is None


def test_minutes_and_hours_are_elapsed_time_from_the_start() -> None:
    jump = utc("2026-03-29T00:40")
    assert fires(made("minutely", recur_every=30, start_time=ms(jump), timezone=BERLIN), 3, zone=BERLIN) == [
        "2026-03-29 01:40",
        "2026-03-29 03:10",
        "2026-03-29 03:40",
    ]
    assert fires(made("hourly", recur_every=2, start_time=ms(jump), timezone=BERLIN), 2, zone=BERLIN) == [
        "2026-03-29 01:40",
        "2026-03-29 04:40",
    ]


def test_without_a_start_the_grid_is_anchored_at_the_moment_it_is_given() -> None:
    begun = NOON + timedelta(microseconds=1_500)
    for stored in (begun, begun + timedelta(milliseconds=300)):  # never at once, however quick the store is
        assert made("minutely", recur_every=5, now=begun).next_after(stored) == begun + timedelta(minutes=5)
        assert made("daily", recur_every=2, now=begun).next_after(stored) == NOON + timedelta(days=2, seconds=1)
    assert fires(made("weekly", recur_every=2, at_hour=9, include_days=[1], now=begun), 2) == [
        "2026-11-23 09:00",  # of Sunday's week the Monday is over: two weeks after its own Monday
        "2026-12-07 09:00",
    ]


def test_daily_keeps_the_local_time_of_its_start_over_both_changes_of_the_clocks() -> None:
    spring = made("daily", recur_every=1, start_time=ms(utc("2026-03-28T01:30")), timezone=BERLIN)
    assert fires(spring, 3, zone=BERLIN) == ["2026-03-28 02:30", "2026-03-29 03:00", "2026-03-30 02:30"]
    autumn = made("daily", recur_every=1, start_time=ms(utc("2026-10-24T00:30")), timezone=BERLIN)
    assert fires(autumn, 3) == ["2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"]
    half = made("daily", recur_every=1, start_time=ms(utc("2026-10-02T15:45")), timezone=LORD_HOWE)
    assert fires(half, 3, zone=LORD_HOWE) == ["2026-10-03 02:15", "2026-10-04 02:30", "2026-10-05 02:15"]
    back = made("daily", recur_every=1, start_time=ms(utc("2026-04-03T14:45")), timezone=LORD_HOWE)
    assert fires(back, 3) == ["2026-04-03 14:45", "2026-04-04 14:45", "2026-04-05 15:15"]


def test_a_start_within_the_second_of_a_doubled_hour_is_after_the_run_of_that_day() -> None:
    second = made("daily", recur_every=1, start_time=ms(utc("2026-10-25T01:30")), timezone=BERLIN)
    assert fires(second, 1) == ["2026-10-26 01:30"]


def test_weekly_counts_weeks_from_the_starts_own_and_never_runs_before_it() -> None:
    wednesday = ms(utc("2026-11-04T10:00"))
    schedule = made(
        "weekly", recur_every=2, at_hour=9, at_minute=30, include_days=["MONDAY", 3, "fri"], start_time=wednesday
    )
    assert fires(schedule, 5) == [
        "2026-11-06 09:30",
        "2026-11-16 09:30",
        "2026-11-18 09:30",
        "2026-11-20 09:30",
        "2026-11-30 09:30",
    ]


def test_days_are_named_in_any_case_or_numbered_from_monday() -> None:
    for number, name in enumerate(WEEKDAYS, 1):
        expected = made("weekly", recur_every=1, at_hour=0, include_days=[number])
        found = expected.next_after(NOON)
        assert found is not None
        assert found.isoweekday() == number
        for spelt in (name, name.upper(), name.lower(), name[:3]):
            assert made("weekly", recur_every=1, at_hour=0, include_days=[spelt, number]) == expected


def test_a_day_past_the_months_end_is_its_last_day_in_leap_years_too() -> None:
    schedule = made(
        "monthly", recur_on_days=[29, 31], recur_every_month=1, at_hour=6, start_time=ms(utc("2028-01-30T00:00"))
    )
    assert fires(schedule, 4) == ["2028-01-31 06:00", "2028-02-29 06:00", "2028-03-29 06:00", "2028-03-31 06:00"]
    yearly = made(
        "monthly", recur_on_days=[29], recur_every_month=12, at_hour=0, start_time=ms(utc("2024-02-29T00:00"))
    )
    days = {2024: 29, 2025: 28, 2026: 28, 2027: 28, 2028: 29}
    assert fires(yearly, 5) == [f"{year}-02-{day} 00:00" for year, day in days.items()]


def test_months_are_counted_from_the_starts_own() -> None:
    schedule = made(
        "monthly", recur_on_days=[1], recur_every_month=3, at_hour=0, start_time=ms(utc("2026-11-02T00:00"))
    )
    assert fires(schedule, 2) == ["2027-02-01 00:00", "2027-05-01 00:00"]


def test_cron_reads_every_dialect_in_its_zone() -> None:
    for expression in ("30 2 * * *", "0 30 2 * * ?", "cron(30 2 * * ? *)"):
        schedule = made("cron", expression=expression, timezone=BERLIN)
        assert fires(schedule, 1, after=NOON, zone=BERLIN) == ["2026-11-16 02:30"]
    assert made("cron", expression="rate(5 minutes)").next_after(NOON) == NOON + timedelta(minutes=5)
    assert made("cron", expression="at(2027-01-01T00:00:00)").next_after(NOON) == utc("2027-01-01T00:00")
    later = made("cron", expression="@daily", start_time=ms(utc("2027-01-01T00:00")))
    assert fires(later, 1) == ["2027-01-01 00:00"]


def test_the_servers_zone_counts_where_none_is_named() -> None:
    weekly = {"class_name": "schedule_weekly", "recur_every": 1, "at_hour": 0, "include_days": [7]}
    servers = schedule_of(weekly, timezone="Asia/Seoul", now=to_us(NOON))
    named = schedule_of({**weekly, "timezone": "Asia/Seoul"}, timezone=BERLIN, now=to_us(NOON))
    assert servers == named
    assert servers is not None
    assert fires(servers, 1) == ["2026-11-21 15:00"]


def test_anchors_at_both_ends_of_time_are_as_good_as_others() -> None:
    first, last = 0, ms(utc("2199-12-31T23:59"))
    for zone in ("Pacific/Kiritimati", "Pacific/Niue", BERLIN):
        old = made("daily", recur_every=1, start_time=first, timezone=zone)
        assert old.next_after(NOON) is not None
        assert old.next_after(datetime(1969, 12, 31, tzinfo=UTC)) == utc("1970-01-01T00:00")
        for name, more in (
            ("daily", {"recur_every": 1}),
            ("weekly", {"recur_every": 1, "at_hour": 0, "include_days": [1]}),
            ("monthly", {"recur_every_month": 1, "at_hour": 0, "recur_on_days": [31]}),
        ):
            far = made(name, start_time=last, timezone=zone, **more)
            found = far.next_after(NOON)
            assert found is None or found >= utc("2199-12-31T23:59")
    assert made("hourly", recur_every=100_000, start_time=last).next_after(NOON) == utc("2199-12-31T23:59")


# Against plain counting


@settings(max_examples=60, deadline=None)
@given(zoned_moments(), st.sampled_from((("minutely", 1), ("hourly", 60))), st.integers(1, 5_000), st.integers(0, 50))
def test_elapsed_grids_are_multiples_from_their_start(
    zoned: tuple[str, datetime], kind: tuple[str, int], every: int, place: int
) -> None:
    zone, start = zoned[0], zoned[1].replace(microsecond=0)
    name, minutes = kind
    schedule = made(name, recur_every=every, start_time=ms(start), timezone=zone)
    step = timedelta(minutes=minutes * every)
    assert schedule.next_after(start - timedelta(microseconds=1)) == start
    assert schedule.next_after(start + place * step) == start + (place + 1) * step
    assert every_minutes({"class_name": f"schedule_{name}", "recur_every": every}) == minutes * every


@settings(max_examples=60, deadline=None)
@given(zoned_moments(), st.integers(1, 9))
def test_daily_is_what_counting_days_finds(zoned: tuple[str, datetime], every: int) -> None:
    zone, start = zoned
    schedule = made("daily", recur_every=every, start_time=ms(start), timezone=zone)
    at = _first_second(start).astimezone(ZoneInfo(zone))
    _same_as_counted(schedule, zone, start, at.time(), lambda day: (day - at.date()).days % every == 0)


@settings(max_examples=60, deadline=None)
@given(zoned_moments(), st.integers(1, 4), st.lists(st.integers(1, 7), min_size=1, max_size=3), st.times())
def test_weekly_is_what_counting_weeks_finds(
    zoned: tuple[str, datetime], every: int, days: list[int], at: time
) -> None:
    zone, start = zoned
    times: dict[str, Any] = {"at_hour": at.hour, "at_minute": at.minute, "at_second": at.second}
    schedule = made("weekly", recur_every=every, include_days=days, start_time=ms(start), timezone=zone, **times)
    first = _monday(_first_second(start).astimezone(ZoneInfo(zone)).date())
    _same_as_counted(
        schedule,
        zone,
        start,
        at.replace(microsecond=0),
        lambda day: (_monday(day) - first).days // 7 % every == 0 and day.isoweekday() in days,
    )


@settings(max_examples=60, deadline=None)
@given(zoned_moments(), st.integers(1, 5), st.lists(st.integers(1, 31), min_size=1, max_size=3), st.times())
def test_monthly_is_what_counting_months_finds(
    zoned: tuple[str, datetime], every: int, days: list[int], at: time
) -> None:
    zone, start = zoned
    times: dict[str, Any] = {"at_hour": at.hour, "at_minute": at.minute, "at_second": at.second}
    schedule = made(
        "monthly", recur_every_month=every, recur_on_days=days, start_time=ms(start), timezone=zone, **times
    )
    first = _first_second(start).astimezone(ZoneInfo(zone)).date()

    def on_grid(day: date) -> bool:
        months = (day.year - first.year) * 12 + day.month - first.month
        length = ((day.replace(day=1) + timedelta(31)).replace(day=1) - timedelta(1)).day
        return months % every == 0 and day.day in {min(wanted, length) for wanted in days}

    _same_as_counted(schedule, zone, start, at.replace(microsecond=0), on_grid)


def _same_as_counted(schedule: Schedule, zone: str, start: datetime, at: time, on_grid: Any) -> None:
    """Two hundred days, one by one."""
    info, begin = ZoneInfo(zone), start.replace(microsecond=start.microsecond // 1_000 * 1_000)
    first = begin.astimezone(info).date() - timedelta(2)
    days = [first + timedelta(number) for number in range(200)]
    moments = {_moment(datetime.combine(day, at.replace(tzinfo=None, fold=0)), info) for day in days if on_grid(day)}
    expected = sorted(moment for moment in moments if moment >= begin)
    found: list[datetime] = []
    following = schedule.next_after(begin - timedelta(microseconds=1))
    while following is not None and len(found) < len(expected):
        found.append(following)
        following = schedule.next_after(following)
    assert found == expected
    if expected:
        assert schedule.last_at_or_before(expected[0] - timedelta(microseconds=1)) is None


def _moment(local: datetime, info: ZoneInfo) -> datetime:
    """The first that a local time names; of one that was skipped the moment of the jump."""
    found = local.replace(tzinfo=info, fold=0).astimezone(UTC)
    if found.astimezone(info).replace(tzinfo=None) == local:
        return found
    low, high = local.replace(tzinfo=info, fold=1).astimezone(UTC), found
    before = low.astimezone(info).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=(high - low) // timedelta(seconds=2))
        low, high = (middle, high) if middle.astimezone(info).utcoffset() == before else (low, middle)
    return high


def _monday(day: date) -> date:
    return day - timedelta(day.weekday())


def _first_second(start: datetime) -> datetime:
    start = start.replace(microsecond=start.microsecond // 1_000 * 1_000)  # as milliseconds tell it
    return start if start.microsecond == 0 else start.replace(microsecond=0) + timedelta(seconds=1)


# How far apart


def test_the_distance_of_two_runs_is_told_in_minutes_where_there_is_one() -> None:
    def minutes(name: str, **more: object) -> int | None:
        return every_minutes({"class_name": name, **more})

    assert minutes("schedule_minutely", recur_every=7) == 7
    assert minutes("schedule_hourly", recur_every=2) == 120
    assert minutes("schedule_daily", recur_every=3) == 4_320
    assert minutes("schedule_weekly", recur_every=2) == 20_160
    for name in ("none_schedule", "schedule_once", "schedule_monthly", "schedule_cron"):
        assert minutes(name) is None


# What is refused

WEEKLY = {"class_name": "schedule_weekly", "recur_every": 1, "at_hour": 9, "include_days": [1]}
MONTHLY = {"class_name": "schedule_monthly", "recur_every_month": 1, "at_hour": 9, "recur_on_days": [1]}
MINUTELY = {"class_name": "schedule_minutely", "recur_every": 1}
DAILY = {"class_name": "schedule_daily", "recur_every": 1}
CRON = {"class_name": "schedule_cron", "expression": "@daily"}
ONCE = {"class_name": "schedule_once", "start_time": 0}


@pytest.mark.parametrize(
    ("whole", "field", "value", "words"),
    [
        ({}, "class_name", None, "is required, one of none_schedule, schedule_once, .*schedule_cron"),
        ({}, "class_name", "schedule_yearly", "must be one of none_schedule, .*schedule_monthly"),
        ({}, "class_name", 5, "must be one of"),
        (ONCE, "start_time", None, "is required"),
        (ONCE, "start_time", "0", "must be milliseconds since 1970"),
        (ONCE, "start_time", True, "must be milliseconds since 1970"),
        (ONCE, "start_time", 1.5, "must be milliseconds since 1970"),
        (ONCE, "start_time", -1, "must be milliseconds since 1970, a whole number from 0 to 7258118399999"),
        (ONCE, "start_time", 7_258_118_400_000, "must be milliseconds"),
        (MINUTELY, "recur_every", None, "is required"),
        (MINUTELY, "recur_every", 0, "must be a whole number, 1 to 1000000"),
        (MINUTELY, "recur_every", 10**30, "must be a whole number"),
        (MINUTELY, "recur_every", "5", "must be a whole number"),
        (MINUTELY, "recur_every", True, "must be a whole number"),
        (MINUTELY, "timezone", "Mars/Base", "no such time zone: 'Mars/Base'"),
        (MINUTELY, "timezone", 5, "must be text"),
        (DAILY, "recur_every", 10_001, "must be a whole number, 1 to 10000"),
        (DAILY, "start_time", 10**18, "must be milliseconds"),
        (DAILY, "timezone", "../etc/passwd", "no such time zone"),
        (WEEKLY, "include_days", [], "must name at least one day"),
        (WEEKLY, "include_days", None, "is required"),
        (WEEKLY, "include_days", "MONDAY", "must be a list of days"),
        (WEEKLY, "at_hour", None, "is required"),
        (WEEKLY, "at_hour", 24, "must be a whole number, 0 to 23"),
        (WEEKLY, "at_minute", 60, "must be a whole number, 0 to 59"),
        (WEEKLY, "at_second", -1, "must be a whole number, 0 to 59"),
        (WEEKLY, "recur_every", 0, "must be a whole number, 1 to 10000"),
        (MONTHLY, "recur_on_days", [], "must name at least one day"),
        (MONTHLY, "recur_every_month", 0, "must be a whole number, 1 to 10000"),
        (CRON, "expression", None, "is required"),
        (CRON, "expression", 7, "must be text"),
        (CRON, "expression", "99 * * * *", "cannot read schedule '99 . . . .'"),
        (CRON, "expression", "*" * 5_000, "cannot read schedule"),
        (CRON, "timezone", "", "no such time zone"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(
    whole: dict[str, object], field: str, value: object, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        schedule_of({**whole, field: value}, timezone="UTC", now=0)
    assert refused.value.field == f"schedule_time.{field}"


@pytest.mark.parametrize("day", [0, 8, "Funday", "1", 1.0, True, None, ["MONDAY"]])
def test_a_day_that_is_none_is_named_by_its_place_in_the_list(day: object) -> None:
    with pytest.raises(InvalidInput, match="MONDAY to SUNDAY") as refused:
        schedule_of({**WEEKLY, "include_days": ["MONDAY", day]}, timezone="UTC", now=0)
    assert refused.value.field == "schedule_time.include_days[1]"
    with pytest.raises(InvalidInput, match=r"recur_on_days\[0\]: must be a whole number, 1 to 31"):
        schedule_of({**MONTHLY, "recur_on_days": [32]}, timezone="UTC", now=0)


def test_the_largest_distances_overflow_nothing() -> None:
    for name, more in (
        ("minutely", {"recur_every": 1_000_000}),
        ("hourly", {"recur_every": 100_000}),
        ("daily", {"recur_every": 10_000}),
        ("weekly", {"recur_every": 10_000, "at_hour": 0, "include_days": [1]}),
        ("monthly", {"recur_every_month": 10_000, "at_hour": 0, "recur_on_days": [31]}),
    ):
        schedule = made(name, start_time=0, **more)
        assert schedule.next_after(utc("2199-12-31T00:00")) is None or name == "minutely"
        assert schedule.last_at_or_before(utc("2199-12-31T00:00")) is not None
        assert schedule.count_us(0, to_us(NOON)).exact
