"""Fields that must all match, and calendar steps: by a plain second opinion, backwards, counted, kept."""

import json
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.schedules import oracle
from tests.unit.schedules.strategies import zoned_moments
from waterclock.domain.cron.named import NAMES
from waterclock.domain.errors import BadSchedule, InvalidInput
from waterclock.domain.schedule import Fielded, Fold, Gap, Jittered, Schedule, Stepped, from_json, to_json, to_us

TIMES = {"hour": 23, "minute": 59, "second": 59}
TICK = timedelta(microseconds=1)
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
policies = st.tuples(st.sampled_from(Gap), st.sampled_from(Fold))
steps = st.integers(1, 2).map(lambda step: f"*/{step}")


def plain(low: int, high: int) -> st.SearchStrategy[str]:
    """Lists and ranges without long steps, which this language refuses where crontab does not."""
    value = st.integers(low, high)
    pair = st.tuples(value, value).map(lambda ends: f"{min(ends)}-{max(ends)}")
    return st.just("*") | steps | st.lists(value.map(str) | pair, min_size=1, max_size=3).map(",".join)


fields = st.fixed_dictionaries(
    {
        "month": st.just("*") | plain(1, 12),
        "day": st.just("*") | plain(1, 28) | st.sampled_from(("last", "1st mon", "2nd fri", "5th sun", "last wed")),
        "week": st.just("*") | plain(1, 53),
        "day_of_week": st.just("*") | plain(0, 6),
        "hour": plain(0, 23),
        "minute": plain(0, 59),
        "second": st.sampled_from(("0", "30", "*/20")),
    }
)
stepped = st.builds(
    lambda months, days, at, anchor: Stepped(months=months, days=days + (not months), at=at, anchor=anchor),
    st.integers(0, 30),
    st.integers(0, 400),
    st.times().map(lambda at: at.replace(microsecond=0)),
    st.dates(date(2019, 1, 1), date(2024, 12, 31)),
)


def walk(schedule: Schedule, moment: datetime, count: int) -> list[datetime]:
    found: list[datetime] = []
    following = schedule.next_after(moment)
    while following is not None and len(found) < count:
        found.append(following)
        following = schedule.next_after(following)
    return found


def on_day(made: dict[str, str]) -> Callable[[date], bool]:
    months, weeks = oracle.expand(made["month"], 1, 12), oracle.expand(made["week"], 1, 53)
    weekdays = oracle.expand(made["day_of_week"], 0, 6)
    return lambda day: (
        day.month in months
        and day.isocalendar().week in weeks
        and day.weekday() in weekdays
        and day_matches(made["day"], day)
    )


def day_matches(text: str, day: date) -> bool:
    length = monthrange(day.year, day.month)[1]
    if text == "last":
        return day.day == length
    place, _, weekday = text.partition(" ")
    if not weekday:
        return day.day in oracle.expand(text, 1, 31)
    if f"{day:%a}".lower() != weekday:
        return False
    return day.day + 7 > length if place == "last" else (day.day - 1) // 7 + 1 == int(place[0])


@settings(max_examples=80, deadline=None)
@given(fields, zoned_moments(), policies)
def test_fields_fire_as_the_oracle_says(
    made: dict[str, str], where: tuple[str, datetime], policy: tuple[Gap, Fold]
) -> None:
    zone, moment = where
    schedule = Fielded(**made, timezone=zone, gap=policy[0], fold=policy[1])
    found = [fire for fire in walk(schedule, moment, 4) if fire - moment < timedelta(days=800)]
    hours, minutes, seconds = (tuple(sorted(oracle.expand(made[name], 0, high))) for name, high in TIMES.items())
    expected = oracle.fires(
        oracle.Plain(hours, minutes, seconds, on_day(made)),
        zone,
        moment,
        len(found),
        catch_gap=policy[0] is Gap.RUN_AT_JUMP,
        twice=policy[1] is Fold.TWICE,
    )
    assert found == (expected if found else [])


@settings(max_examples=80, deadline=None)
@given(fields, zoned_moments(), policies)
def test_fields_are_searched_backwards_and_counted_alike(
    made: dict[str, str], where: tuple[str, datetime], policy: tuple[Gap, Fold]
) -> None:
    zone, moment = where
    check_both_ways(Fielded(**made, timezone=zone, gap=policy[0], fold=policy[1]), moment)


@settings(max_examples=100, deadline=None)
@given(stepped, st.datetimes(datetime(2018, 1, 1), datetime(2030, 1, 1)))  # noqa: DTZ001 - given its zone below
def test_steps_are_searched_backwards_and_counted_alike(schedule: Stepped, moment: datetime) -> None:
    check_both_ways(schedule, moment.replace(tzinfo=UTC))


def check_both_ways(schedule: Schedule, moment: datetime) -> None:
    found = walk(schedule, moment, 8)
    previous = moment
    for place, fire in enumerate(found, start=1):
        assert fire > previous
        assert schedule.last_at_or_before(fire) == fire
        assert schedule.next_after(fire - TICK) == fire
        assert schedule.count_us(to_us(moment), to_us(fire)) == (place, True)
        if place > 1:
            assert schedule.last_at_or_before(fire - TICK) == previous
        previous = fire
    assert from_json(json.loads(json.dumps(to_json(schedule)))) == schedule


@settings(max_examples=100, deadline=None)
@given(stepped)
def test_steps_are_those_that_adding_finds(schedule: Stepped) -> None:
    day, expected = schedule.anchor, [schedule.anchor]
    while len(expected) < 6 and day.year < 2_190:
        year, month, number = day.year, day.month, day.day
        while True:
            year, month = year + (month - 1 + schedule.months) // 12, (month - 1 + schedule.months) % 12 + 1
            if number <= monthrange(year, month)[1]:
                break
        day = date(year, month, number) + timedelta(days=schedule.days)
        expected.append(day)
    found = walk(schedule, datetime(2018, 1, 1, tzinfo=UTC), len(expected))
    assert [fire.date() for fire in found] == expected
    assert {fire.time() for fire in found} == {schedule.at}


def test_weeks_that_are_searched_for_long_are_counted_by_weeks() -> None:
    schedule = Fielded(week="53", hour="0", minute="0", second="0")
    begin, end = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
    days = [begin + timedelta(days=number) for number in range((end - begin).days)]
    expected = sum(day.isocalendar().week == 53 for day in days)
    assert schedule.count_us(to_us(begin) - 1, to_us(end) - 1) == (expected, True)
    assert Fielded(week="10", month="6").next_after(NOON) is None
    assert Fielded(week="10", month="6").last_at_or_before(NOON) is None


def test_texts_are_kept_in_one_form() -> None:
    schedule = Fielded(day=" 2ND  Fri, LAST ", hour="05", day_of_week="MON-Wed,5-5", second="10-20/05")
    assert (schedule.day, schedule.hour) == ("2nd fri,last", "5")
    assert (schedule.day_of_week, schedule.second) == ("mon-wed,5", "10-20/5")
    assert schedule == Fielded(day="2nd fri,last", hour="5", day_of_week="mon-wed,5", second="10-20/5")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["", "x", "?", "1-", "*/0", "*/9999", "99999", "5-3", "-1", "1,,2", "*" * 2_000, "²"])
def test_a_field_that_cannot_be_read_is_named(name: str, text: str) -> None:
    if name == "year" and text == "99999":
        text = "10000"
    made: dict[str, Any] = {name: text}
    with pytest.raises(BadSchedule) as refused:
        Fielded(**made)
    assert refused.value.part in (name, "day_of_week")


def test_what_is_no_text_or_no_step_is_refused() -> None:
    with pytest.raises(InvalidInput, match="hour: is not text"):
        Fielded(hour=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="at least one day"):
        Stepped()
    with pytest.raises(InvalidInput, match="months: must not be negative"):
        Stepped(months=-1)
    with pytest.raises(BadSchedule, match="no such time zone"):
        Stepped(days=1, timezone="UTC+24:00")


def test_steps_from_far_away_and_of_any_size_are_answered() -> None:
    assert Stepped(months=1, anchor=date(1, 1, 1)).next_after(NOON) == datetime(2026, 12, 1, tzinfo=UTC)
    assert Stepped(months=10**9, anchor=date(2027, 1, 1)).next_after(NOON) == datetime(2027, 1, 1, tzinfo=UTC)
    assert Stepped(months=1, days=10**9, anchor=date(2020, 1, 1)).next_after(NOON) is None
    assert Stepped(days=10**9, anchor=date(9_999, 1, 1), at=time(3)).next_after(NOON) is None


def test_a_fixed_offset_is_a_zone() -> None:
    schedule = Fielded(hour="3", minute="0", second="0", timezone="UTC-03:30")
    assert schedule.next_after(NOON) == datetime(2026, 11, 16, 6, 30, tzinfo=UTC)
    assert from_json(to_json(schedule)) == schedule


def test_jitter_ends_with_the_end_it_is_given() -> None:
    hourly = Fielded(minute="0", second="0")
    for seed in map(str, range(50)):
        end = NOON + timedelta(seconds=1)
        schedule = Jittered(schedule=hourly, most=timedelta(minutes=9), seed=seed, end=end)
        fire = schedule.next_after(NOON - TICK)
        assert fire is not None
        assert NOON <= fire <= end
        assert from_json(to_json(schedule)) == schedule
