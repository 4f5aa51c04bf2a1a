"""Our triggers answer as the installed APScheduler's do: random triggers, random moments, chains of fires.

Where clocks change ours has its own policy: there the answers may part, but only at such a moment. One thing more:
stepping over a change, APScheduler 3.11 may lose the next local time (a midnight, say) that it finds when asked later.
"""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from apscheduler.triggers import calendarinterval, combining, cron, date, interval

from tests.library import random_triggers
from tests.library.random_triggers import CHANGING, STEADY, Options
from waterclock.triggers.base import BaseTrigger
from waterclock.triggers.calendarinterval import CalendarIntervalTrigger
from waterclock.triggers.combining import AndTrigger, OrTrigger
from waterclock.triggers.cron import CronTrigger
from waterclock.triggers.date import DateTrigger
from waterclock.triggers.interval import IntervalTrigger

CHAIN = 6
NEVER = datetime.max.replace(tzinfo=UTC)


def fires(trigger: Any, now: datetime, count: int = CHAIN) -> list[datetime | None]:
    """The first answer and those that follow from it, each asked for at the moment of the one before."""
    found = [trigger.get_next_fire_time(None, now)]
    while len(found) < count and (previous := found[-1]) is not None:
        found.append(trigger.get_next_fire_time(previous, max(now, previous)))
    return found


def assert_alike(ours: BaseTrigger, theirs: Any, now: datetime, made: object) -> None:
    assert str(ours) == str(theirs), made
    assert repr(ours) == repr(theirs), made
    assert fires(ours, now) == fires(theirs, now), (made, now)


def near_a_change(when: datetime, zone: str) -> bool:
    span, info = timedelta(hours=3), ZoneInfo(zone)
    return (when - span).astimezone(info).utcoffset() != (when + span).astimezone(info).utcoffset()


def assert_alike_between_changes(ours: BaseTrigger, theirs: Any, now: datetime, zone: str, made: object) -> int:
    """How many answers were alike: they part only at a change of the clocks, or where APScheduler loses a fire."""
    if near_a_change(now, zone):
        return 0
    found, expected = fires(ours, now), fires(theirs, now)
    for place, (own, other) in enumerate(zip(found, expected, strict=False)):
        if own != other:
            if not near_a_change(min(own or NEVER, other or NEVER), zone):
                assert own is not None, (made, now, other)
                assert other is None or own < other, (made, now, own, other)
                assert theirs.get_next_fire_time(None, own) == own, (made, now, own, other)
            return place
    return len(found)


@pytest.mark.parametrize("seed", range(4))
def test_cron_triggers_fire_alike(seed: int) -> None:
    random = Random(seed)
    for _ in range(200):
        made = random_triggers.cron(random, random.choice(STEADY))
        now = made["end_date"] - timedelta(days=random.choice((0, 2, 300)), seconds=random.randrange(10**5))
        assert_alike(CronTrigger(**made), cron.CronTrigger(**made), now, made)


def test_cron_triggers_fire_alike_where_clocks_change() -> None:
    random, compared = Random(7), 0
    for _ in range(600):
        made = random_triggers.cron(random, zone := random.choice(CHANGING))
        now = made["end_date"] - timedelta(days=random.choice((2, 300)), seconds=random.randrange(10**5))
        ours, theirs = CronTrigger(**made), cron.CronTrigger(**made)
        compared += assert_alike_between_changes(ours, theirs, now, zone, made)
    assert compared > 1_500


def test_crontabs_fire_alike() -> None:
    random = Random(11)
    for _ in range(300):
        text, zone = random_triggers.crontab(random), random.choice(STEADY)
        ours, theirs = CronTrigger.from_crontab(text, zone), cron.CronTrigger.from_crontab(text, zone)
        assert str(ours) == str(theirs)
        assert [str(field) for field in ours.fields] == [str(field) for field in theirs.fields]
        assert [field.is_default for field in ours.fields] == [field.is_default for field in theirs.fields]
        now = random_triggers.moment(random)
        first = ours.get_next_fire_time(None, now)
        if first is not None and first - now < timedelta(days=4_000):
            assert fires(ours, now, 3) == fires(theirs, now, 3), (text, now)


def test_interval_triggers_fire_alike() -> None:
    random = Random(13)
    for _ in range(1_000):
        made = random_triggers.interval(random, random.choice((*STEADY, *CHANGING)))
        assert_alike(IntervalTrigger(**made), interval.IntervalTrigger(**made), random_triggers.moment(random), made)


def test_fractions_of_a_second_come_alike_but_for_rounding() -> None:
    random = Random(17)
    for _ in range(200):
        made: Options = {
            "seconds": random.uniform(0.05, 90),
            "start_date": random_triggers.moment(random),
            "timezone": UTC,
        }
        ours, theirs, now = IntervalTrigger(**made), interval.IntervalTrigger(**made), random_triggers.moment(random)
        for own, other in zip(fires(ours, now), fires(theirs, now), strict=True):
            assert own is not None
            assert other is not None
            assert abs(own - other) < timedelta(microseconds=50), (made, now)


@pytest.mark.parametrize("seed", range(2))
def test_calendar_intervals_fire_alike(seed: int) -> None:
    random = Random(seed + 19)
    for _ in range(350):
        made = random_triggers.calendar(random, random.choice(STEADY))
        now = datetime.fromisoformat(f"{made['start_date']}").replace(tzinfo=UTC) - timedelta(days=2)
        assert_alike(CalendarIntervalTrigger(**made), calendarinterval.CalendarIntervalTrigger(**made), now, made)


def test_calendar_intervals_fire_alike_where_clocks_change() -> None:
    random, compared = Random(23), 0
    for _ in range(350):
        made = random_triggers.calendar(random, zone := random.choice(CHANGING))
        now = datetime.fromisoformat(f"{made['start_date']}").replace(tzinfo=UTC) - timedelta(days=2)
        ours, theirs = CalendarIntervalTrigger(**made), calendarinterval.CalendarIntervalTrigger(**made)
        compared += assert_alike_between_changes(ours, theirs, now, zone, made)
    assert compared > 1_500


def test_date_triggers_fire_alike() -> None:
    random = Random(29)
    texts = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%SZ", "%Y-%m-%dT%H:%M:%S+05:30")
    for _ in range(300):
        when = random_triggers.moment(random)
        given = random.choice((when, when.replace(tzinfo=None), when.date(), when.strftime(random.choice(texts))))
        zone, now = random.choice((*STEADY, *CHANGING)), random_triggers.moment(random)
        assert_alike(DateTrigger(given, zone), date.DateTrigger(given, zone), now, (given, zone))


def both(random: Random, zone: object, end: datetime) -> tuple[CronTrigger, Any]:
    """A cron trigger of ours and of theirs that fires often enough to meet others."""
    made: Options = {"hour": random_triggers.numbers(random, 0, 23), "minute": random.choice(("0", "*/15", "30"))}
    if random.random() < 0.6:
        made["day_of_week"] = random_triggers.field(random, "day_of_week")
    made |= {"timezone": zone, "end_date": end}
    return CronTrigger(**made), cron.CronTrigger(**made)


def test_any_of_several_fires_alike() -> None:
    random = Random(31)
    for _ in range(200):
        now, zones = random_triggers.moment(random), random.choices(STEADY, k=random.randint(1, 4))
        ours, theirs = zip(*(both(random, zone, now + timedelta(days=40)) for zone in zones), strict=True)
        assert_alike(OrTrigger(list(ours)), combining.OrTrigger(list(theirs)), now, theirs)


def test_all_of_several_fire_first_alike() -> None:
    """Only the first answer: asked for a second one, APScheduler 3.11 searches without end unless it comes at once."""
    random = Random(37)
    for _ in range(200):
        now = random_triggers.moment(random)
        pairs = [both(random, "UTC", now + timedelta(days=20)) for _ in range(random.randint(1, 3))]
        ours, theirs = zip(*pairs, strict=True)
        met, expected = AndTrigger(list(ours)), combining.AndTrigger(list(theirs))
        assert repr(met) == repr(expected)
        for _ in range(4):
            found = met.get_next_fire_time(None, now)
            assert [found] == [expected.get_next_fire_time(None, now)], (theirs, now)
            if found is None:
                break
            now, asked = found + timedelta(microseconds=1), now
            assert met.get_next_fire_time(found, asked) == met.get_next_fire_time(None, now)


def test_what_cannot_be_read_is_refused_alike() -> None:
    """Random texts in every field: what APScheduler refuses with a ValueError, we do too, and the other way round."""
    random, refused = Random(41), 0
    alphabet = ("*", "/", "-", ",", " ", "0", "1", "5", "12", "31", "60", "mon", "fri", "dec", "last", "2nd", "x", "?")
    for _ in range(4_000):
        name = random.choice(CronTrigger.FIELD_NAMES)
        text = "".join(random.choice(alphabet) for _ in range(random.randint(0, 4)))
        ours, theirs = reading(CronTrigger, name, text), reading(cron.CronTrigger, name, text)
        if ours != theirs:
            assert ours is None, (name, text, ours, theirs)
            assert is_lenient(text), (name, text, ours, theirs)
        refused += ours is None
    assert 500 < refused < 3_900


def reading(made: Any, name: str, text: str) -> str | None:
    try:
        return str(made(**{name: text}))
    except ValueError:
        return None


def is_lenient(text: str) -> bool:
    """APScheduler ignores whatever follows a name, and takes 0-0 with a step for 0: we refuse both."""
    return any(word in text for word in ("mon", "fri", "dec", "last")) or "0-0/" in text
