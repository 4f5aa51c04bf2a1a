"""Where clocks change: our policy, which is stated, in place of APScheduler's."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from waterclock.domain.schedule import Fold, Gap
from waterclock.triggers.base import BaseTrigger
from waterclock.triggers.calendarinterval import CalendarIntervalTrigger
from waterclock.triggers.combining import OrTrigger
from waterclock.triggers.cron import CronTrigger
from waterclock.triggers.date import DateTrigger
from waterclock.triggers.interval import IntervalTrigger

BERLIN = ZoneInfo("Europe/Berlin")
SPRING, AUTUMN = date(2026, 3, 29), date(2026, 10, 25)


def on(day: date, trigger: BaseTrigger) -> list[str]:
    """The fires of one local day, as UTC times."""
    now = datetime(day.year, day.month, day.day, tzinfo=BERLIN)
    found, previous = [], trigger.get_next_fire_time(None, now)
    while previous is not None and previous.astimezone(BERLIN).date() == day:
        found.append(f"{previous.astimezone(UTC):%H:%M}")
        previous = trigger.get_next_fire_time(previous, previous)
    return found


def test_a_skipped_time_runs_when_the_clocks_jump() -> None:
    assert on(SPRING, CronTrigger(hour=2, minute=30, timezone=BERLIN)) == ["01:00"]
    assert on(SPRING, CronTrigger(hour="2,3", minute="0,30", timezone=BERLIN)) == ["01:00", "01:30"]
    assert on(SPRING, CronTrigger(hour=2, minute=30, timezone=BERLIN, gap=Gap.SKIP)) == []
    daily = {"days": 1, "hour": 2, "minute": 30, "start_date": date(2026, 3, 1), "timezone": BERLIN}
    assert on(SPRING, CalendarIntervalTrigger(**daily)) == ["01:00"]  # type: ignore[arg-type]
    assert on(SPRING, CalendarIntervalTrigger(**daily, gap="skip")) == []  # type: ignore[arg-type]


def test_a_doubled_time_runs_once() -> None:
    assert on(AUTUMN, CronTrigger(hour=2, minute=30, timezone=BERLIN)) == ["00:30"]
    assert on(AUTUMN, CronTrigger(hour=2, minute=30, timezone=BERLIN, fold=Fold.TWICE)) == ["00:30", "01:30"]
    daily = {"days": 1, "hour": 2, "minute": 30, "start_date": date(2026, 10, 1), "timezone": BERLIN}
    assert on(AUTUMN, CalendarIntervalTrigger(**daily)) == ["00:30"]  # type: ignore[arg-type]
    assert on(AUTUMN, CalendarIntervalTrigger(**daily, fold="twice")) == ["00:30", "01:30"]  # type: ignore[arg-type]


def test_every_hour_of_the_day_runs_once_too() -> None:
    assert len(on(AUTUMN, CronTrigger(hour="*", timezone=BERLIN))) == 24
    assert len(on(AUTUMN, CronTrigger(hour="*", timezone=BERLIN, fold="twice"))) == 25
    assert len(on(SPRING, CronTrigger(hour="*", timezone=BERLIN))) == 23
    assert len(on(AUTUMN, IntervalTrigger(hours=1, start_date="2026-01-01", timezone=BERLIN))) == 25


@pytest.mark.parametrize("day", [SPRING, AUTUMN])
def test_the_midnight_after_a_change_is_not_lost(day: date) -> None:
    following = day + timedelta(days=1)
    trigger = OrTrigger([CronTrigger(week=following.isocalendar().week, day_of_week=0, timezone=BERLIN)])
    midnight = datetime(following.year, following.month, following.day, tzinfo=BERLIN)
    assert trigger.get_next_fire_time(None, midnight - timedelta(days=20)) == midnight


def test_a_date_that_the_clocks_skip_is_the_moment_of_the_jump() -> None:
    jump = datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert DateTrigger("2026-03-29 02:30:00", BERLIN).run_date == jump
    assert CronTrigger(hour=3, start_date="2026-03-29 02:30:00", timezone=BERLIN).start_date == jump
    first = DateTrigger("2026-10-25 02:30:00", BERLIN)
    assert first.run_date.astimezone(UTC) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    second = datetime(2026, 10, 25, 2, 30, fold=1)  # noqa: DTZ001 - the caller says which of the two is meant
    assert DateTrigger(second, BERLIN).run_date.astimezone(UTC) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert DateTrigger(second, BERLIN) != first
