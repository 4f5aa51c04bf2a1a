"""Once, every, calendars, combinations, bounds, jitter and holidays, each by example and by brute force."""

import json
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule import (
    Bounded,
    Calendar,
    Combined,
    Cron,
    Every,
    Excluding,
    How,
    Jittered,
    Once,
    Schedule,
    Unit,
    from_json,
    parse_schedule,
    to_json,
    to_us,
)

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def _fires(schedule: Schedule, moment: datetime, count: int) -> list[datetime]:
    found: list[datetime] = []
    following = schedule.next_after(moment)
    while following is not None and len(found) < count:
        found.append(following)
        following = schedule.next_after(following)
    return found


def test_once_fires_at_its_moment_and_never_again() -> None:
    schedule = Once(at=NOON)
    assert schedule.next_after(NOON - SECOND) == NOON
    assert schedule.next_after(NOON) is None
    assert schedule.last_at_or_before(NOON) == NOON
    assert schedule.last_at_or_before(NOON - SECOND) is None


def test_every_counts_from_its_anchor_and_never_before_it() -> None:
    schedule = Every(interval=timedelta(minutes=7), anchor=NOON)
    assert schedule.next_after(datetime(2000, 1, 1, tzinfo=UTC)) == NOON
    assert schedule.next_after(NOON) == NOON + timedelta(minutes=7)
    assert schedule.last_at_or_before(NOON + timedelta(minutes=13)) == NOON + timedelta(minutes=7)
    assert schedule.last_at_or_before(NOON - SECOND) is None
    assert schedule.count_us(to_us(NOON) - 1, to_us(NOON + timedelta(hours=7))) == (61, True)


def test_a_rate_counts_from_the_start_it_is_given() -> None:
    begun = NOON + timedelta(seconds=17)
    assert parse_schedule("rate(5 minutes)", start=begun).next_after(begun) == begun + timedelta(minutes=5)
    assert parse_schedule("rate(1 second)", start=begun).next_after(begun) == begun + SECOND
    assert parse_schedule("rate(5 minutes)").next_after(begun) == NOON + timedelta(minutes=5)


def test_every_two_days_at_a_local_time_keeps_to_the_wall_clock() -> None:
    schedule = Calendar(unit=Unit.DAYS, every=2, at=time(2, 30), anchor=date(2026, 3, 27), timezone="Europe/Berlin")
    local = [fire.astimezone(ZoneInfo("Europe/Berlin")) for fire in _fires(schedule, NOON.replace(month=1), 3)]
    assert [f"{fire:%m-%d %H:%M}" for fire in local] == ["03-27 02:30", "03-29 03:00", "03-31 02:30"]


def test_every_second_week_on_weekdays_counts_weeks_from_the_anchor() -> None:
    schedule = Calendar(unit=Unit.WEEKS, every=2, on=(1, 5), at=time(9), anchor=date(2026, 11, 4))
    assert [fire.day for fire in _fires(schedule, datetime(2026, 10, 1, tzinfo=UTC), 4)] == [6, 16, 20, 30]


def test_a_day_past_the_months_end_means_its_last_day() -> None:
    schedule = Calendar(unit=Unit.MONTHS, on=(30, 31), at=time(6), anchor=date(2027, 1, 1))
    days = [(fire.month, fire.day) for fire in _fires(schedule, NOON, 6)]
    assert days == [(1, 30), (1, 31), (2, 28), (3, 30), (3, 31), (4, 30)]


def test_every_third_month_is_counted_from_the_anchors_month() -> None:
    schedule = Calendar(unit=Unit.MONTHS, every=3, on=(1,), anchor=date(2026, 11, 2))
    assert [(fire.year, fire.month) for fire in _fires(schedule, NOON, 3)] == [(2027, 2), (2027, 5), (2027, 8)]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(Unit),
    st.integers(1, 40),
    st.lists(st.integers(1, 7) | st.integers(1, 31), max_size=4),
    st.dates(date(2019, 1, 1), date(2021, 12, 31)),
    st.dates(date(2018, 6, 1), date(2023, 1, 1)),
)
def test_calendars_fire_on_the_days_that_counting_finds(
    unit: Unit, every: int, on: list[int], anchor: date, begin: date
) -> None:
    on = [day for day in on if day <= 7] if unit is Unit.WEEKS else on if unit is Unit.MONTHS else []
    schedule = Calendar(unit=unit, every=every, on=tuple(on), anchor=anchor, at=time(5))
    days = [begin + timedelta(days=number) for number in range(1_500)]
    expected = [day for day in days if _on_grid(unit, every, on, anchor, day)]
    moment = datetime(begin.year, begin.month, begin.day, tzinfo=UTC)
    found = _fires(schedule, moment, len(expected))
    assert [fire.date() for fire in found] == expected
    for before, after in pairwise(found):
        assert schedule.last_at_or_before(after - SECOND) == before
    if found:
        assert schedule.count_us(to_us(moment), to_us(found[-1])).value == len(found)


def _on_grid(unit: Unit, every: int, on: list[int], anchor: date, day: date) -> bool:
    if day < anchor:
        return False
    if unit is Unit.DAYS:
        return (day - anchor).days % every == 0
    if unit is Unit.WEEKS:
        weeks = ((day - timedelta(day.weekday())) - (anchor - timedelta(anchor.weekday()))).days // 7
        return weeks % every == 0 and day.isoweekday() in (on or [anchor.isoweekday()])
    months = (day.year - anchor.year) * 12 + day.month - anchor.month
    length = ((day.replace(day=1) + timedelta(31)).replace(day=1) - timedelta(1)).day
    return months % every == 0 and day.day in {min(wanted, length) for wanted in on or [anchor.day]}


@pytest.mark.parametrize(("unit", "on"), [(Unit.WEEKS, (8,)), (Unit.WEEKS, (0,)), (Unit.MONTHS, (32,))])
def test_a_calendar_refuses_days_that_do_not_exist(unit: Unit, on: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match="on: must be"):
        Calendar(unit=unit, on=on)


def test_any_of_several_fires_at_each_moment_once() -> None:
    schedule = Combined(how=How.ANY, schedules=(Cron(expression="*/20 * * * *"), Cron(expression="*/30 * * * *")))
    minutes = [fire.minute for fire in _fires(schedule, NOON, 5)]
    assert minutes == [20, 30, 40, 0, 20]
    assert schedule.last_at_or_before(NOON + timedelta(minutes=39)) == NOON + timedelta(minutes=30)
    assert schedule.count_us(to_us(NOON), to_us(NOON + timedelta(days=1))) == (4 * 24, True)


def test_all_of_several_fires_where_they_meet() -> None:
    schedule = Combined(
        how=How.ALL, schedules=(Every(interval=timedelta(seconds=7)), Every(interval=timedelta(seconds=11)))
    )
    first, second = _fires(schedule, NOON, 2)
    assert (second - first).total_seconds() == 77
    assert schedule.last_at_or_before(second - SECOND) == first
    assert schedule.count_us(to_us(first), to_us(first) + 770_000_000) == (10, True)


def test_schedules_that_never_meet_are_given_up() -> None:
    odd = Every(interval=timedelta(seconds=2), anchor=NOON + SECOND)
    schedule = Combined(how=How.ALL, schedules=(Every(interval=timedelta(seconds=2), anchor=NOON), odd))
    assert schedule.next_after(NOON) is None
    assert schedule.last_at_or_before(NOON + timedelta(days=9)) is None


def test_bounds_are_inclusive() -> None:
    schedule = parse_schedule("0 12 * * *", start=NOON, end=NOON + timedelta(days=2))
    assert _fires(schedule, datetime(2000, 1, 1, tzinfo=UTC), 9) == [NOON + timedelta(days=n) for n in range(3)]
    assert schedule.last_at_or_before(NOON + timedelta(days=99)) == NOON + timedelta(days=2)
    assert schedule.last_at_or_before(NOON - SECOND) is None
    assert schedule.count_us(0, to_us(NOON + timedelta(days=99))) == (3, True)


def test_holidays_of_the_zone_are_left_out() -> None:
    holidays = [date(2026, 12, 25), date(2026, 12, 26), date(2027, 1, 1)]
    schedule = parse_schedule("30 0 * * *", timezone="Europe/Berlin", exclude=holidays)
    zone = ZoneInfo("Europe/Berlin")
    days = [fire.astimezone(zone).date() for fire in _fires(schedule, datetime(2026, 12, 23, 12, tzinfo=UTC), 7)]
    assert [day.day for day in days] == [24, 27, 28, 29, 30, 31, 2]
    christmas = datetime(2026, 12, 25, 12, tzinfo=UTC)
    assert schedule.last_at_or_before(christmas) == datetime(2026, 12, 23, 23, 30, tzinfo=UTC)
    assert schedule.count_us(to_us(christmas), to_us(datetime(2027, 1, 3, tzinfo=UTC))).value == 7


def test_a_holiday_ends_at_midnight_and_not_a_fire_later() -> None:
    schedule = parse_schedule("@daily", exclude=[date(2026, 11, 17)])
    assert [fire.day for fire in _fires(schedule, NOON, 3)] == [16, 18, 19]
    assert schedule.last_at_or_before(datetime(2026, 11, 17, 12, tzinfo=UTC)) == datetime(2026, 11, 16, tzinfo=UTC)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 4_000), st.integers(1, 900), st.text(max_size=5), st.integers(0, 10**6))
def test_jitter_keeps_order_and_number_and_is_the_same_every_time(
    interval: int, most: int, seed: str, begin: int
) -> None:
    plain = Every(interval=timedelta(seconds=interval))
    schedule = Jittered(schedule=plain, most=timedelta(seconds=most), seed=seed)
    moment = NOON + timedelta(seconds=begin)
    nominal = _fires(plain, plain.last_at_or_before(moment) or moment, 10)
    fires = _fires(schedule, nominal[0] - timedelta(microseconds=1), 10)
    assert fires == _fires(schedule, nominal[0] - timedelta(microseconds=1), 10)
    for place, (fire, due) in enumerate(zip(fires, nominal, strict=True)):
        assert timedelta(0) <= fire - due < timedelta(seconds=min(most, interval))
        assert schedule.last_at_or_before(fire) == fire
        assert schedule.count_us(to_us(fires[0]), to_us(fire)).value == place
        assert schedule.count_us(to_us(fire) - 1, to_us(fires[-1])).value == len(fires) - place


def test_jitter_spreads_fires_and_seeds_tell_triggers_apart() -> None:
    one, other = (parse_schedule("0 * * * *", jitter_seconds=600, seed=seed) for seed in ("a", "b"))
    delays = {(fire.minute, fire.second) for fire in _fires(one, NOON, 50)}
    assert len(delays) > 40
    assert _fires(one, NOON, 5) != _fires(other, NOON, 5)


EACH = [
    Once(at=NOON),
    Every(interval=timedelta(milliseconds=1_500), anchor=NOON),
    Cron(expression="0 0 12 ? * 6#3 2026-2099", timezone="Asia/Seoul"),
    Calendar(unit=Unit.MONTHS, every=2, at=time(9, 30, 5), on=(1, 31), anchor=date(2026, 1, 31), timezone="Asia/Seoul"),
    Combined(how=How.ALL, schedules=(Cron(expression="@hourly"), Every(interval=timedelta(hours=5), anchor=NOON))),
    Bounded(schedule=Cron(expression="@daily"), start=NOON),
    Excluding(schedule=Cron(expression="@daily"), dates=frozenset({date(2026, 11, 17)}), timezone="Asia/Seoul"),
    parse_schedule("@daily", start=NOON, end=NOON + timedelta(days=9), jitter_seconds=30, exclude=[date(2026, 11, 18)]),
]


@pytest.mark.parametrize("schedule", EACH, ids=lambda schedule: type(schedule).__name__)
def test_every_kind_survives_its_json_and_can_be_a_key(schedule: Schedule) -> None:
    kept = from_json(json.loads(json.dumps(to_json(schedule))))
    assert kept == schedule
    assert {schedule: 1}[kept] == 1
    assert _fires(kept, NOON, 5) == _fires(schedule, NOON, 5)


@pytest.mark.parametrize("schedule", EACH, ids=lambda schedule: type(schedule).__name__)
def test_every_kind_is_frozen(schedule: Schedule) -> None:
    with pytest.raises((AttributeError, TypeError)):
        schedule.expression = "* * * * *"  # type: ignore[attr-defined]
    assert not hasattr(schedule, "__dict__")


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "weather"},
        {"kind": []},
        {"kind": "once"},
        {"kind": "once", "at": "noon"},
        {"kind": "once", "at": 10**30},
        {"kind": "every", "interval": 0, "anchor": 0},
        {"kind": "cron", "expression": "x"},
        {"kind": "cron", "expression": 5, "timezone": "UTC", "gap": "skip", "fold": "once"},
        {"kind": "combined", "how": "any"},
        [],
        None,
        "cron",
    ],
)
def test_json_that_is_no_schedule_is_invalid_input(data: object) -> None:
    with pytest.raises(InvalidInput):
        from_json(data)  # type: ignore[arg-type]
