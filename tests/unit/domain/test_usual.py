"""What is usual: learned from three and more, round the clock, in the chain's own zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from waterclock.domain.moment import SECOND, Moment, from_datetime
from waterclock.domain.usual import usual_seconds, usual_time

UTC_ZONE = ZoneInfo("UTC")
SEOUL = ZoneInfo("Asia/Seoul")


def at(*clock: str, day: int = 1) -> list[Moment]:
    """These times of successive days, in UTC."""
    days = [datetime.fromisoformat(f"2026-11-01T{time}:00+00:00") for time in clock]
    return [from_datetime(each + timedelta(days=day * number)) for number, each in enumerate(days)]


def test_two_tell_nothing() -> None:
    assert usual_time(at("02:14", "02:14"), UTC_ZONE) is None
    assert usual_seconds([(0, SECOND)] * 2) is None


def test_the_usual_time_is_one_that_was_seen_and_one_odd_day_does_not_move_it() -> None:
    assert usual_time(at("02:10", "02:14", "02:20", "02:14", "17:00"), UTC_ZONE) == "02:14"


def test_times_about_midnight_are_near_each_other() -> None:
    assert usual_time(at("23:58", "00:01", "00:03"), UTC_ZONE) == "00:01"


def test_the_time_is_that_of_the_chains_zone_over_a_change_of_the_clocks_too() -> None:
    assert usual_time(at("17:14", "17:14", "17:15"), SEOUL) == "02:14"
    berlin = ZoneInfo("Europe/Berlin")
    summer = [from_datetime(datetime(2026, 10, day, 0, 14, tzinfo=UTC)) for day in (22, 23, 24)]
    winter = [from_datetime(datetime(2026, 10, day, 1, 14, tzinfo=UTC)) for day in (26, 27)]
    assert usual_time(summer + winter, berlin) == "02:14"


def test_the_usual_span_is_the_middle_one() -> None:
    spans = [(0, 2 * SECOND), (7, 7 + 3 * SECOND), (9, 9 + 600 * SECOND)]
    assert usual_seconds(spans) == 3.0


@given(st.lists(st.integers(0, 24 * 60 - 1), min_size=3, max_size=30))
def test_no_other_time_of_day_that_was_seen_is_nearer_to_all(minutes: list[int]) -> None:
    midnight = from_datetime(datetime(2026, 1, 1, tzinfo=UTC))
    found = usual_time([midnight + minute * 60 * SECOND for minute in minutes], UTC_ZONE)
    assert found is not None
    chosen = int(found[:2]) * 60 + int(found[3:])

    def far(one: int) -> int:
        return sum(min((one - other) % 1440, (other - one) % 1440) for other in minutes)

    assert chosen in minutes
    assert far(chosen) == min(far(minute) for minute in minutes)
