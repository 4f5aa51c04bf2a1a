"""Triggers of the installed APScheduler become ours, and the runs that follow are the same: none lost, none doubled."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.calendarinterval import CalendarIntervalTrigger
from apscheduler.triggers.combining import AndTrigger, OrTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger
from apscheduler.triggers.interval import IntervalTrigger

from tests.library import random_triggers
from tests.library.random_triggers import CHANGING, STEADY
from waterclock.domain.library import LibraryJob
from waterclock.domain.moment import from_datetime, to_datetime
from waterclock.faces.library.importing import Found, carried, library_job
from waterclock.faces.library.importing_triggers import CannotCarry
from waterclock.triggers.codec import from_json

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def brought(trigger: Any, next_run_time: datetime | None, now: datetime = NOON, **more: Any) -> LibraryJob:
    state = {
        "version": 1,
        "id": "a",
        "func": "tasks:tick",
        "trigger": trigger,
        "executor": "default",
        "args": (),
        "kwargs": {},
        "name": "tick",
        "misfire_grace_time": 1,
        "coalesce": True,
        "max_instances": 1,
        "next_run_time": next_run_time,
        **more,
    }
    found = Found(id="a", next_at=None if next_run_time is None else from_datetime(next_run_time))
    told = carried(found, state, now=from_datetime(now), serializer="json")
    return library_job(told, "library")


def runs_here(job: LibraryJob, count: int) -> list[datetime]:
    """As the engine fires them: the stored moment, then what the schedule has after each."""
    found: list[datetime] = []
    at = job.next_fire_at
    while at is not None and len(found) < count:
        found.append(to_datetime(at))
        at = job.schedule.next_after_us(at)
    return found


def runs_there(trigger: Any, next_run_time: datetime, count: int) -> Iterator[datetime]:
    """As APScheduler fires them: each is asked for with the one before."""
    at: datetime | None = next_run_time
    while at is not None and count:
        yield at
        at, count = trigger.get_next_fire_time(at, at), count - 1


def assert_goes_on(trigger: Any, next_run_time: datetime, now: datetime, made: object) -> None:
    ours, theirs = runs_here(brought(trigger, next_run_time, now), 6), list(runs_there(trigger, next_run_time, 6))
    assert len(ours) == len(theirs), made
    assert all(abs(own - other) < timedelta(milliseconds=1) for own, other in zip(ours, theirs, strict=True)), made


def test_random_triggers_go_on_as_they_would_have_there() -> None:
    random, compared = Random(5), 0
    for _ in range(200):
        now, zone = random_triggers.moment(random), random.choice(STEADY)
        made: Any = random.choice(
            [
                (CronTrigger, random_triggers.cron(random, zone)),
                (IntervalTrigger, random_triggers.interval(random, zone)),
                (CalendarIntervalTrigger, random_triggers.calendar(random, zone)),
            ]
        )
        trigger = made[0](**made[1])
        following = trigger.get_next_fire_time(None, now)
        for _ in range(random.randrange(4)):
            following = following and trigger.get_next_fire_time(following, following)
        if following is not None:
            assert_goes_on(trigger, following, now, made)
            compared += 1
    assert compared > 100


def test_where_clocks_change_nothing_is_refused() -> None:
    random = Random(6)
    for _ in range(60):
        now, zone = random_triggers.moment(random), random.choice(CHANGING)
        made = random_triggers.cron(random, zone)
        trigger = CronTrigger(**made)
        following = trigger.get_next_fire_time(None, now)
        if following is not None:
            assert brought(trigger, following, now).next_fire_at == from_datetime(following), made


@pytest.mark.parametrize("off", [-HOUR / 2, -timedelta(milliseconds=40), timedelta(microseconds=-1), HOUR / 3])
def test_an_interval_that_has_left_its_grid_goes_on_from_where_it_is(off: timedelta) -> None:
    """As after `add_job(…, "interval", hours=1, next_run_time=datetime.now())`: a moment before each on the grid."""
    trigger = IntervalTrigger(hours=1, start_date=NOON - 30 * HOUR, timezone="UTC")
    for ahead in (-29 * HOUR, HOUR):
        assert_goes_on(trigger, NOON + ahead + off, NOON, off)
    job = brought(trigger, NOON + HOUR + off)
    later = brought(trigger, NOON + 3 * HOUR + off)
    assert job.trigger == later.trigger  # it does not differ because time goes by


def test_an_interval_that_begins_in_the_future_but_runs_now_goes_on_from_now() -> None:
    trigger = IntervalTrigger(hours=1, start_date=NOON + timedelta(days=50), timezone="UTC")
    assert_goes_on(trigger, NOON + timedelta(minutes=10), NOON, "early")


def test_a_calendar_interval_goes_on_from_a_run_on_another_date() -> None:
    trigger = CalendarIntervalTrigger(days=3, hour=6, start_date="2026-11-01", timezone="UTC")
    assert_goes_on(trigger, datetime(2026, 11, 18, 6, tzinfo=UTC), NOON, "another date")
    assert_goes_on(trigger, datetime(2026, 11, 18, 2, 30, tzinfo=UTC), NOON, "another time")


def test_a_date_runs_once_whenever_it_was_set_to() -> None:
    trigger = DateTrigger(NOON + 5 * HOUR, "UTC")
    assert runs_here(brought(trigger, NOON + HOUR), 3) == [NOON + HOUR]


@pytest.mark.parametrize(
    "trigger",
    [
        CronTrigger(hour="*", jitter=600, timezone="UTC"),
        CronTrigger(minute="*/10", jitter=3600, timezone="UTC"),
        IntervalTrigger(hours=1, start_date=NOON, jitter=600, timezone="UTC"),
        CalendarIntervalTrigger(days=1, start_date="2026-11-15", jitter=600, timezone="UTC"),
        OrTrigger([CronTrigger(hour="*/2", timezone="UTC"), CronTrigger(hour="1-23/2", timezone="UTC")], jitter=600),
    ],
    ids=lambda trigger: type(trigger).__name__,
)
def test_a_run_that_was_put_off_by_jitter_is_not_run_twice(trigger: BaseTrigger) -> None:
    """Whatever jitter APScheduler drew, and whatever ours draws, there is one run for each time of the trigger."""
    for minute in (0, 1, 4, 9):
        job = brought(trigger, NOON + timedelta(days=1, minutes=minute, seconds=7), NOON)
        first, *others = runs_here(job, 8)
        assert abs(first - NOON - timedelta(days=1)) <= timedelta(seconds=600)
        spans = [later - sooner for sooner, later in zip([first, *others], others, strict=False)]
        if getattr(trigger, "jitter", 0) == 600:
            assert min(spans) >= HOUR - timedelta(seconds=600)


def test_the_same_import_makes_the_same_trigger() -> None:
    trigger = OrTrigger([CronTrigger(hour=3, jitter=5, timezone="UTC"), CronTrigger(hour=4, timezone="UTC")], jitter=9)
    assert brought(trigger, None).trigger == brought(trigger, None).trigger
    parts: Any = brought(trigger, None).trigger["triggers"]
    assert parts[0]["seed"] != parts[1]["seed"]


def test_triggers_keep_what_was_declared() -> None:
    begin, end = NOON - timedelta(days=3), NOON + timedelta(days=300)
    for theirs in (
        CronTrigger(day="last fri", hour="*/3", start_date=begin, end_date=end, timezone="Europe/Berlin"),
        CronTrigger(month="jan-mar,12", day_of_week="mon-fri", week="1-50/3", hour=5, minute="30", timezone="UTC"),
        IntervalTrigger(days=2, minutes=1, seconds=0.25, start_date=begin, end_date=end, timezone="Asia/Seoul"),
        CalendarIntervalTrigger(months=2, weeks=1, hour=4, start_date="2026-11-30", timezone="America/New_York"),
        DateTrigger("2027-01-01 03:00:00", "Europe/Berlin"),
        AndTrigger([CronTrigger(hour="1-4", timezone="UTC"), CronTrigger(day_of_week="mon", timezone="UTC")]),
    ):
        ours = from_json(brought(theirs, None).trigger)
        assert (str(ours), repr(ours)) == (str(theirs), repr(theirs))


def test_a_paused_job_stays_paused() -> None:
    assert brought(CronTrigger(hour=3, timezone="UTC"), None).next_fire_at is None


class OfTheirOwn(BaseTrigger):  # type: ignore[misc]
    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        return None


class Shifted(CronTrigger):  # type: ignore[misc]
    """Passes for APScheduler's own, and fires otherwise."""

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        found: datetime | None = super().get_next_fire_time(previous_fire_time, now)
        return found and found + timedelta(minutes=1)


Shifted.__module__, Shifted.__qualname__ = CronTrigger.__module__, CronTrigger.__qualname__


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"trigger": OfTheirOwn()}, "its trigger is a .*:OfTheirOwn, which is none of APScheduler's own"),
        ({"trigger": Shifted(hour=3, timezone="UTC")}, "would fire at 2026-11-17 03:00:00 UTC here, and at .*03:01:00"),
        (
            {"trigger": OrTrigger([CronTrigger(hour=3, timezone="UTC"), DateTrigger("2026-11-18", "UTC")])},
            "would fire at 2026-11-18 00:00:00 UTC here, and at 2026-11-18 03:00:00 UTC in APScheduler",
        ),
        ({"version": 2}, "of version 2"),
        ({"id": "b"}, "its state is that of the job 'b'"),
        ({"func": "tick"}, "func is 'tick'"),
        ({"max_instances": 0, "name": "a\0b"}, "name is 'a.x00b'; max_instances is 0"),
        ({"kwargs": {1: 2}}, "kwargs is {1: 2}"),
        ({"args": (object,)}, "args.0. is of type type, .* and import it with --serializer pickle"),
    ],
)
def test_what_cannot_be_carried_says_why(changes: dict[str, Any], words: str) -> None:
    given = {"trigger": CronTrigger(hour=3, timezone="UTC"), **changes}
    with pytest.raises(CannotCarry, match=words):
        brought(given.pop("trigger"), datetime(2026, 11, 16, 3, tzinfo=UTC), **given)


def test_what_is_no_state_at_all_says_so() -> None:
    with pytest.raises(CannotCarry, match="holds no job of APScheduler 3 but list"):
        carried(Found(id="a", next_at=None), [], now=0, serializer="json")
    with pytest.raises(CannotCarry, match="has no func, no name"):
        carried(Found(id="a", next_at=None), {"id": "a"}, now=0, serializer="json")
