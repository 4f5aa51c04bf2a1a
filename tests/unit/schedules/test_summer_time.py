"""Skipped and doubled local times, in zones that change by an hour, half an hour, a day, and at midnight."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from waterclock.domain.errors import BadSchedule
from waterclock.domain.schedule import Fold, Gap, Schedule, parse_schedule


def _on(schedule: Schedule, day: str, zone: str) -> list[str]:
    """The local times, with their offset in hours, at which it fires on a local date."""
    return [f"{fire:%H:%M}{_hours(fire)}" for fire in _fires(schedule, date.fromisoformat(day), ZoneInfo(zone))]


def _fires(schedule: Schedule, day: date, zone: ZoneInfo) -> Iterator[datetime]:
    moment = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(days=2)
    while (following := schedule.next_after(moment)) and following.astimezone(zone).date() <= day:
        moment = following
        if moment.astimezone(zone).date() == day:
            yield moment.astimezone(zone)


def _hours(fire: datetime) -> str:
    offset = fire.utcoffset()
    assert offset is not None
    return f"{offset / timedelta(hours=1):+g}"


ZONES = [
    # expression, zone, date, default, gap=skip, fold=twice
    ("30 2 * * *", "Europe/Berlin", "2026-03-29", ["03:00+2"], [], ["03:00+2"]),
    ("0 2 * * *", "Europe/Berlin", "2026-03-29", ["03:00+2"], [], ["03:00+2"]),
    ("0 3 * * *", "Europe/Berlin", "2026-03-29", ["03:00+2"], ["03:00+2"], ["03:00+2"]),
    ("0 2,3 * * *", "Europe/Berlin", "2026-03-29", ["03:00+2"], ["03:00+2"], ["03:00+2"]),
    ("*/20 2 * * *", "Europe/Berlin", "2026-03-29", ["03:00+2"], [], ["03:00+2"]),
    ("30 2 * * *", "Europe/Berlin", "2026-10-25", ["02:30+2"], ["02:30+2"], ["02:30+2", "02:30+1"]),
    ("0 3 * * *", "Europe/Berlin", "2026-10-25", ["03:00+1"], ["03:00+1"], ["03:00+1"]),
    ("30 2 * * *", "America/New_York", "2026-03-08", ["03:00-4"], [], ["03:00-4"]),
    ("30 1 * * *", "America/New_York", "2026-11-01", ["01:30-4"], ["01:30-4"], ["01:30-4", "01:30-5"]),
    ("15 2 * * *", "Australia/Lord_Howe", "2026-10-04", ["02:30+11"], [], ["02:30+11"]),
    ("30 2 * * *", "Australia/Lord_Howe", "2026-10-04", ["02:30+11"], ["02:30+11"], ["02:30+11"]),
    ("45 1 * * *", "Australia/Lord_Howe", "2026-04-05", ["01:45+11"], ["01:45+11"], ["01:45+11", "01:45+10.5"]),
    ("0 12 * * *", "Pacific/Apia", "2011-12-31", ["00:00+14", "12:00+14"], ["12:00+14"], ["00:00+14", "12:00+14"]),
    ("0 0 * * *", "America/Sao_Paulo", "2018-11-04", ["01:00-2"], [], ["01:00-2"]),
    ("30 23 * * *", "America/Sao_Paulo", "2019-02-16", ["23:30-2"], ["23:30-2"], ["23:30-2", "23:30-3"]),
    ("30 0 * * *", "Africa/Cairo", "2014-05-16", ["01:00+3"], [], ["01:00+3"]),
    ("0 30 2 ? * SUN", "Europe/Berlin", "2026-03-29", ["03:00+2"], [], ["03:00+2"]),
    ("cron(30 2 * * ? *)", "Europe/Berlin", "2026-10-25", ["02:30+2"], ["02:30+2"], ["02:30+2", "02:30+1"]),
]


@pytest.mark.parametrize(("text", "zone", "day", "default", "skipping", "twice"), ZONES)
def test_each_policy_fires_as_it_says(
    text: str, zone: str, day: str, default: list[str], skipping: list[str], twice: list[str]
) -> None:
    assert _on(parse_schedule(text, timezone=zone), day, zone) == default
    assert _on(parse_schedule(text, timezone=zone, gap=Gap.SKIP), day, zone) == skipping
    assert _on(parse_schedule(text, timezone=zone, fold=Fold.TWICE), day, zone) == twice


@pytest.mark.parametrize(
    ("text", "count"), [("* * * * *", 24 * 60), ("0 * * * *", 24), ("*/30 * * * *", 48), ("0/10 0 * * * ?", 144)]
)
def test_a_doubled_hour_counts_once_or_twice_for_what_runs_every_hour_too(text: str, count: int) -> None:
    once = parse_schedule(text, timezone="Europe/Berlin")
    assert len(_on(once, "2026-10-25", "Europe/Berlin")) == count
    twice = parse_schedule(text, timezone="Europe/Berlin", fold=Fold.TWICE)
    assert len(_on(twice, "2026-10-25", "Europe/Berlin")) == count * 25 // 24


def test_what_runs_in_some_hours_only_runs_once_in_the_doubled_hour() -> None:
    assert _on(parse_schedule("0 */2 * * *", timezone="Europe/Berlin"), "2026-10-25", "Europe/Berlin")[:3] == [
        "00:00+2", "02:00+2", "04:00+1",
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "count"), [("* * * * *", 23 * 60), ("0 * * * *", 23), ("30 * * * *", 24)])
def test_skipped_times_are_made_up_for_once_at_the_jump(text: str, count: int) -> None:
    schedule = parse_schedule(text, timezone="Europe/Berlin")
    assert len(_on(schedule, "2026-03-29", "Europe/Berlin")) == count


def test_a_rate_does_not_care_about_clocks_on_the_wall() -> None:
    schedule = parse_schedule("rate(1 hour)", timezone="Europe/Berlin")
    assert len(_on(schedule, "2026-10-25", "Europe/Berlin")) == 25
    assert len(_on(schedule, "2026-03-29", "Europe/Berlin")) == 23


def test_at_in_a_skipped_hour_runs_at_the_jump_or_is_refused() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    schedule = parse_schedule("at(2026-03-29T02:30:00)", timezone="Europe/Berlin")
    assert schedule.next_after(moment) == datetime(2026, 3, 29, 1, tzinfo=UTC)
    with pytest.raises(BadSchedule, match="the clocks of Europe/Berlin skip this time"):
        parse_schedule("at(2026-03-29T02:30:00)", timezone="Europe/Berlin", gap=Gap.SKIP)


def test_at_in_a_doubled_hour_means_the_first() -> None:
    schedule = parse_schedule("at(2026-10-25T02:30:00)", timezone="Europe/Berlin", fold=Fold.TWICE)
    fire = schedule.next_after(datetime(2026, 1, 1, tzinfo=UTC))
    assert fire == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert schedule.next_after(fire) is None
