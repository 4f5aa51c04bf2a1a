"""Each trigger by example: the documented ones, the edges, and what is refused."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from importlib import import_module
from pathlib import Path
from typing import Any
from zoneinfo import TZPATH, ZoneInfo, ZoneInfoNotFoundError

import pytest

from waterclock.triggers import zones
from waterclock.triggers.base import BaseTrigger, ScheduleTrigger
from waterclock.triggers.calendarinterval import CalendarIntervalTrigger
from waterclock.triggers.combining import AndTrigger, OrTrigger
from waterclock.triggers.cron import CronTrigger
from waterclock.triggers.date import DateTrigger
from waterclock.triggers.interval import IntervalTrigger

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)  # a Sunday
HOUR = timedelta(hours=1)


def fires(trigger: BaseTrigger, now: datetime = NOON, count: int = 3) -> list[str]:
    found, previous = list[str](), trigger.get_next_fire_time(None, now)
    while previous is not None and len(found) < count:
        found.append(f"{previous:%a %Y-%m-%d %H:%M:%S}")
        previous = trigger.get_next_fire_time(previous, now)
    return found


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (date(2009, 11, 6), "2009-11-06 00:00:00 CET"),
        (datetime(2009, 11, 6, 16, 30, 5), "2009-11-06 16:30:05 CET"),  # noqa: DTZ001 - what a caller may give
        (datetime(2009, 11, 6, 16, 30, 5, tzinfo=UTC), "2009-11-06 16:30:05 UTC"),
        ("2009-11-06 16:30:05", "2009-11-06 16:30:05 CET"),
        ("2009-1-6 6:30:05", "2009-01-06 06:30:05 CET"),
        ("2009-11-06T16:30:05Z", "2009-11-06 16:30:05 UTC"),
        ("2009-11-06 16:30:05.25-03:30", "2009-11-06 16:30:05 UTC-03:30"),
    ],
)
def test_a_date_trigger_fires_once_even_when_its_date_has_passed(given: Any, shown: str) -> None:
    trigger = DateTrigger(given, BERLIN)
    assert str(trigger) == f"date[{shown}]"
    assert repr(trigger) == f"<DateTrigger (run_date='{shown}')>"
    assert trigger.get_next_fire_time(None, NOON) == trigger.run_date
    assert trigger.get_next_fire_time(trigger.run_date, NOON) is None


def test_a_date_trigger_without_a_date_fires_now() -> None:
    before = datetime.now(UTC)
    run_date = DateTrigger(timezone="Europe/Berlin").run_date
    assert before - timedelta(milliseconds=1) <= run_date <= datetime.now(UTC)
    assert run_date.tzinfo == BERLIN


def test_an_interval_begins_at_its_start_and_ends_at_its_end() -> None:
    trigger = IntervalTrigger(
        hours=2, start_date="2010-10-10 09:30:00", end_date="2010-10-10 13:30:00", timezone="Europe/Berlin"
    )
    began = trigger.start_date
    assert fires(trigger, began - HOUR, 9) == [f"Sun 2010-10-10 {time}:30:00" for time in ("09", "11", "13")]
    assert trigger.get_next_fire_time(None, began + HOUR) == began + 2 * HOUR
    assert trigger.get_next_fire_time(None, began + 5 * HOUR) is None
    assert str(trigger) == "interval[2:00:00]"
    assert repr(trigger) == (
        "<IntervalTrigger (interval=datetime.timedelta(seconds=7200), start_date='2010-10-10 09:30:00 CEST', "
        "end_date='2010-10-10 13:30:00 CEST', timezone='Europe/Berlin')>"
    )


def test_an_interval_without_a_start_begins_one_interval_from_now() -> None:
    before = datetime.now(UTC)
    trigger = IntervalTrigger(minutes=5, timezone=UTC)
    assert timedelta(minutes=5) <= trigger.start_date - before + timedelta(milliseconds=1) < timedelta(minutes=6)
    assert trigger.get_next_fire_time(None, before) == trigger.start_date


def test_an_interval_of_nothing_is_a_second() -> None:
    trigger = IntervalTrigger(start_date=NOON)
    assert trigger.interval == timedelta(seconds=1)
    assert trigger.interval_length == 1


def test_an_interval_is_real_time_whatever_the_clocks_do() -> None:
    trigger = IntervalTrigger(hours=1, start_date="2026-10-25 00:30:00", timezone="Europe/Berlin")
    moments = fires(trigger, trigger.start_date, 4)
    assert [moment[-8:-3] for moment in moments] == ["00:30", "01:30", "02:30", "02:30"]


def test_an_interval_stays_on_its_grid_when_it_was_asked_late() -> None:
    trigger = IntervalTrigger(minutes=10, start_date=NOON)
    late = NOON + timedelta(minutes=10, seconds=7)
    assert trigger.get_next_fire_time(late, late) == NOON + timedelta(minutes=20)


def test_the_third_friday_of_some_months() -> None:
    trigger = CronTrigger(month="6-8,11-12", day="3rd fri", hour="0-3", timezone="UTC")
    assert fires(trigger, count=5) == [
        "Fri 2026-11-20 00:00:00",
        "Fri 2026-11-20 01:00:00",
        "Fri 2026-11-20 02:00:00",
        "Fri 2026-11-20 03:00:00",
        "Fri 2026-12-18 00:00:00",
    ]
    assert str(trigger) == "cron[month='6-8,11-12', day='3rd fri', hour='0-3']"


def test_weekdays_up_to_an_end() -> None:
    trigger = CronTrigger(day_of_week="mon-fri", hour=5, minute=30, end_date="2026-11-18", timezone="Europe/Berlin")
    assert fires(trigger, count=9) == ["Mon 2026-11-16 05:30:00", "Tue 2026-11-17 05:30:00"]
    assert repr(trigger) == (
        "<CronTrigger (day_of_week='mon-fri', hour='5', minute='30', end_date='2026-11-18 00:00:00 CET', "
        "timezone='Europe/Berlin')>"
    )


def test_the_last_sunday_and_the_last_day() -> None:
    assert fires(CronTrigger(day="last sun", timezone=UTC), count=2) == [
        "Sun 2026-11-29 00:00:00",
        "Sun 2026-12-27 00:00:00",
    ]
    assert fires(CronTrigger(day="last", hour=23, timezone=UTC), count=2) == [
        "Mon 2026-11-30 23:00:00",
        "Thu 2026-12-31 23:00:00",
    ]


def test_iso_weeks_reach_across_the_new_year() -> None:
    trigger = CronTrigger(week=53, day_of_week="mon,fri", timezone=UTC)
    assert fires(trigger) == ["Mon 2026-12-28 00:00:00", "Fri 2027-01-01 00:00:00", "Mon 2032-12-27 00:00:00"]


def test_a_crontab_counts_weekdays_from_monday_as_the_other_fields_do() -> None:
    trigger = CronTrigger.from_crontab("0 0 1-15 may-aug *", "UTC")
    assert fires(trigger, count=1) == ["Sat 2027-05-01 00:00:00"]
    assert fires(CronTrigger.from_crontab("30 4 * * 0", timezone="UTC"), count=1) == ["Mon 2026-11-16 04:30:00"]
    with pytest.raises(ValueError, match="Wrong number of fields; got 4, expected 5"):
        CronTrigger.from_crontab("* * * *")


def test_fields_below_the_last_one_given_are_at_their_least() -> None:
    trigger = CronTrigger(day=1, minute=20, timezone=UTC)
    assert [str(field) for field in trigger.fields] == ["*", "*", "1", "*", "*", "*", "20", "0"]
    assert [field.name for field in trigger.fields if not field.is_default] == ["day", "minute"]
    assert [str(field) for field in CronTrigger(month=3, timezone=UTC).fields] == [
        *("*", "3", "1", "*", "*", "0", "0", "0"),
    ]
    assert [str(field) for field in CronTrigger(timezone=UTC).fields] == ["*"] * 8


def test_cron_bounds_are_inclusive() -> None:
    trigger = CronTrigger(hour="*", start_date=NOON, end_date=NOON + HOUR)
    assert fires(trigger, NOON - 24 * HOUR, 9) == ["Sun 2026-11-15 12:00:00", "Sun 2026-11-15 13:00:00"]
    assert fires(CronTrigger(hour="*", start_date=NOON, end_date=NOON - HOUR)) == []


def test_fields_that_never_all_match_never_fire() -> None:
    assert CronTrigger(month=2, day=30, timezone=UTC).get_next_fire_time(None, NOON) is None
    assert CronTrigger(year=9998, timezone=UTC).get_next_fire_time(None, NOON) is None


def test_a_month_that_lacks_the_day_is_passed_over() -> None:
    trigger = CalendarIntervalTrigger(months=1, hour=6, start_date="2026-12-31", timezone="Europe/Berlin")
    assert fires(trigger) == ["Thu 2026-12-31 06:00:00", "Sun 2027-01-31 06:00:00", "Wed 2027-03-31 06:00:00"]
    assert repr(trigger) == (
        "CalendarIntervalTrigger(months=1, time='06:00:00', start_date='2026-12-31', timezone='Europe/Berlin')"
    )
    assert str(trigger) == repr(trigger)


def test_months_are_added_before_days() -> None:
    trigger = CalendarIntervalTrigger(months=1, days=1, start_date="2027-01-30", timezone=UTC)
    assert fires(trigger, count=4) == [
        *("Sat 2027-01-30 00:00:00", "Wed 2027-03-31 00:00:00", "Tue 2027-06-01 00:00:00", "Fri 2027-07-02 00:00:00"),
    ]


def test_a_calendar_interval_ends_with_its_last_day() -> None:
    trigger = CalendarIntervalTrigger(weeks=1, hour=23, start_date="2026-11-17", end_date="2026-11-24", timezone=UTC)
    assert fires(trigger, count=9) == ["Tue 2026-11-17 23:00:00", "Tue 2026-11-24 23:00:00"]


def test_a_calendar_interval_that_began_long_ago_answers_with_what_comes() -> None:
    trigger = CalendarIntervalTrigger(days=10, hour=3, start_date="2020-01-01", timezone=UTC)
    assert trigger.get_next_fire_time(None, NOON) == datetime(2026, 11, 25, 3, tzinfo=UTC)


def test_a_calendar_interval_without_a_start_begins_today() -> None:
    zone = ZoneInfo("Asia/Seoul")
    before = datetime.now(zone).date()
    assert before <= CalendarIntervalTrigger(days=1, timezone=zone).start_date <= datetime.now(zone).date()


def test_all_of_several_triggers() -> None:
    every_two_hours = IntervalTrigger(hours=2, start_date="2026-11-15 00:00:00", timezone=UTC)
    trigger = AndTrigger([every_two_hours, CronTrigger(day_of_week="sat,sun", hour="*/3", timezone=UTC)])
    assert fires(trigger) == ["Sun 2026-11-15 12:00:00", "Sun 2026-11-15 18:00:00", "Sat 2026-11-21 00:00:00"]
    assert str(trigger) == "and[interval[2:00:00], cron[day_of_week='sat,sun', hour='*/3']]"


def test_triggers_that_never_meet_are_given_up() -> None:
    odd = IntervalTrigger(hours=2, start_date=NOON + timedelta(microseconds=1))
    assert AndTrigger([odd, CronTrigger(hour="*", timezone=UTC)]).get_next_fire_time(None, NOON) is None


def test_any_of_several_triggers() -> None:
    monday, tuesday = (CronTrigger(day_of_week=day, hour=hour, timezone=UTC) for day, hour in (("mon", 2), ("tue", 15)))
    trigger = OrTrigger([monday, tuesday])
    assert fires(trigger) == ["Mon 2026-11-16 02:00:00", "Tue 2026-11-17 15:00:00", "Mon 2026-11-23 02:00:00"]
    assert repr(trigger) == f"<OrTrigger([{monday!r}, {tuesday!r}])>"
    assert repr(OrTrigger([monday], jitter=3)) == f"<OrTrigger([{monday!r}], jitter=3)>"


def test_a_date_among_others_is_not_forgotten() -> None:
    hourly = CronTrigger(hour="*", timezone=UTC)
    ahead, passed = DateTrigger(NOON + timedelta(minutes=90)), DateTrigger(NOON - timedelta(minutes=10))
    assert [fire[-8:] for fire in fires(OrTrigger([hourly, ahead]), count=4)] == [
        *("12:00:00", "13:00:00", "13:30:00", "14:00:00"),
    ]
    assert [fire[-8:] for fire in fires(OrTrigger([hourly, passed]), count=2)] == ["11:50:00", "12:00:00"]


@pytest.mark.parametrize(
    "made",
    [
        lambda jitter: CronTrigger(minute="*/10", timezone=UTC, jitter=jitter),
        lambda jitter: IntervalTrigger(minutes=10, start_date=NOON - HOUR, jitter=jitter),
        lambda jitter: CalendarIntervalTrigger(
            days=1, hour=12, minute=10, start_date=NOON, timezone=UTC, jitter=jitter
        ),
        lambda jitter: OrTrigger([CronTrigger(minute="*/10", timezone=UTC)], jitter),
        lambda jitter: AndTrigger([CronTrigger(minute="*/10", timezone=UTC)], jitter),
    ],
)
def test_jitter_puts_each_fire_off_within_bounds(made: Any) -> None:
    plain, own, other = made(None), made(120), made(120)
    now = NOON + timedelta(seconds=1)
    nominal = plain.get_next_fire_time(None, now)
    put_off, elsewhere = (each.get_next_fire_time(None, nominal) for each in (own, other))
    differing = 0
    for _ in range(50):
        assert put_off == own.get_next_fire_time(put_off - timedelta(microseconds=1), now)
        assert timedelta(0) <= put_off - nominal <= timedelta(seconds=120)
        differing += put_off != elsewhere
        nominal = plain.get_next_fire_time(nominal, now)
        put_off, elsewhere = own.get_next_fire_time(put_off, now), other.get_next_fire_time(elsewhere, now)
    assert differing > 40, "each trigger jitters in its own way"
    assert own == other


def test_jitter_does_not_reach_past_the_end() -> None:
    for _ in range(20):
        trigger = CronTrigger(hour="*", timezone=UTC, end_date=NOON + timedelta(seconds=2), jitter=600)
        first = trigger.get_next_fire_time(None, NOON)
        assert first is not None
        assert NOON <= first <= NOON + timedelta(seconds=2)


def test_a_jittered_trigger_shows_its_jitter() -> None:
    assert "jitter=120, timezone='UTC'" in repr(CronTrigger(hour="*", jitter=120, timezone="UTC"))
    assert "jitter=120, timezone='UTC'" in repr(IntervalTrigger(hours=1, jitter=120, timezone="UTC"))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: CronTrigger(minute=60), ValueError, "minute '60': must be 0–59"),
        (lambda: CronTrigger(minute="*/60"), ValueError, "the step must be 1–59"),
        (lambda: CronTrigger(minute="*/0"), ValueError, "the step must be 1–59"),
        (lambda: CronTrigger(hour="20-5"), ValueError, "runs backwards"),
        (lambda: CronTrigger(day_of_week="fri-mon"), ValueError, "runs backwards"),
        (lambda: CronTrigger(day_of_week="mon-fri/2"), ValueError, "without a step"),
        (lambda: CronTrigger(day_of_week=7), ValueError, "must be 0–6"),
        (lambda: CronTrigger(day="6th fri"), ValueError, "last, 2nd fri, last mon"),
        (lambda: CronTrigger(day="2nd fry"), ValueError, "must be 0–6 or a name"),
        (lambda: CronTrigger(month="janus"), ValueError, "must be 1–12 or a name"),
        (lambda: CronTrigger(week=""), ValueError, "week ''"),
        (lambda: CronTrigger(hour="1" * 2_000), ValueError, "longer than"),
        (lambda: CronTrigger(jitter=-1), ValueError, "jitter: must not be negative"),
        (lambda: CronTrigger(hour=3, gap="sometimes"), ValueError, "sometimes"),
        (lambda: CronTrigger(start_date=5), TypeError, "start_date must be a datetime, a date or a text, not int"),  # type: ignore[arg-type]
        (lambda: CronTrigger(timezone=5), TypeError, "timezone must be a tzinfo or the name of a zone, not int"),  # type: ignore[arg-type]
        (lambda: CronTrigger(timezone="Mars/Olympus"), ZoneInfoNotFoundError, "Mars/Olympus"),
        (lambda: CronTrigger(timezone="UTC+25:00"), ValueError, "no such time zone"),
        (lambda: IntervalTrigger(seconds=-1), ValueError, "interval: must be longer than nothing"),
        (lambda: IntervalTrigger(seconds="1"), TypeError, "str"),  # type: ignore[arg-type]
        (lambda: DateTrigger("tomorrow"), ValueError, "run_date: invalid date string 'tomorrow'"),
        (lambda: DateTrigger("2026-02-30"), ValueError, "day is out of range"),
        (CalendarIntervalTrigger, ValueError, "interval must be at least 1 day long"),
        (lambda: CalendarIntervalTrigger(days=-1), ValueError, "days must not be negative"),
        (lambda: CalendarIntervalTrigger(months=1.5), TypeError, "months must be a whole number, not float"),  # type: ignore[arg-type]
        (lambda: CalendarIntervalTrigger(days=1, hour=24), ValueError, "hour must be in 0..23"),
        (
            lambda: CalendarIntervalTrigger(days=1, start_date="2026-01-02", end_date="2026-01-01"),
            ValueError,
            "end_date cannot be earlier than start_date",
        ),
        (lambda: OrTrigger([]), ValueError, "at least one is needed"),
        (lambda: OrTrigger([Weird()]), TypeError, "has no schedule"),
    ],
)
def test_what_is_wrong_is_said(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


class Weird(BaseTrigger):
    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        return now


class Named(tzinfo):
    """As pytz's zones are: a tzinfo with the attribute `zone`."""

    def __init__(self, zone: str | None, offset: timedelta | None = None) -> None:
        self.zone, self.offset = zone, offset

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return self.offset

    def dst(self, moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        return self.zone


def test_zones_of_every_kind_are_understood() -> None:
    tz = import_module("dateutil.tz")
    nine = timezone(timedelta(hours=9))
    assert zones.zone_of("UTC") is UTC
    assert zones.zone_of("Europe/Berlin") is BERLIN
    assert zones.zone_of(BERLIN) is BERLIN
    assert zones.zone_of(Named("Europe/Berlin")) is BERLIN
    assert zones.zone_of(Named(None, timedelta(hours=9))) == nine
    assert zones.zone_of(tz.gettz("Europe/Berlin")) is BERLIN
    assert zones.zone_of(tz.tzutc()) == UTC
    assert zones.zone_of(tz.tzoffset("KST", 9 * 3_600)) == nine
    assert zones.zone_of("UTC+09:00") == nine
    assert zones.zone_name(nine) == "UTC+09:00"
    with pytest.raises(ValueError, match="has no name to keep it by"):
        zones.zone_of(Named(None))


def test_a_zone_is_taken_from_the_dates_when_none_is_given() -> None:
    start = datetime(2026, 11, 15, tzinfo=BERLIN)
    for trigger in (CronTrigger(hour=3, start_date=start), IntervalTrigger(hours=3, end_date=start)):
        assert trigger.timezone is BERLIN
    fixed = timezone(timedelta(hours=5, minutes=30))
    assert fires(CronTrigger(hour=3, timezone=fixed), count=1) == ["Mon 2026-11-16 03:00:00"]


def test_naive_moments_are_local_to_the_trigger() -> None:
    trigger = CronTrigger(hour=3, timezone="Asia/Seoul")
    naive = datetime(2026, 11, 15, 3)  # noqa: DTZ001 - what a caller may give
    assert trigger.get_next_fire_time(None, naive) == datetime(2026, 11, 14, 18, tzinfo=UTC)
    assert trigger.get_next_fire_time(naive, naive) == datetime(2026, 11, 15, 18, tzinfo=UTC)


@pytest.mark.parametrize("declared", ["Europe/Berlin", ":Europe/Berlin", "/usr/share/zoneinfo/Europe/Berlin"])
def test_the_local_zone_is_told_by_tz(declared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", declared)
    assert zones.local_zone() is BERLIN
    assert CronTrigger(hour=3).timezone is BERLIN
    assert DateTrigger("2026-11-15").run_date == datetime(2026, 11, 15, tzinfo=BERLIN)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine without a zone: its /etc is empty."""
    monkeypatch.delenv("TZ", raising=False)
    monkeypatch.setattr(zones, "LOCALTIME", tmp_path / "localtime")
    monkeypatch.setattr(zones, "TIMEZONE", tmp_path / "timezone")
    zones._local.cache_clear()
    yield tmp_path
    zones._local.cache_clear()


def test_a_machine_that_tells_no_zone_is_in_utc(machine: Path) -> None:
    assert zones.local_zone() is UTC


def test_the_local_zone_is_told_by_a_link(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / "localtime").symlink_to("../usr/share/zoneinfo/Europe/Berlin")
    (machine / "timezone").write_text("Asia/Seoul\n")
    assert zones.local_zone() is BERLIN
    monkeypatch.setenv("TZ", f":{machine / 'localtime'}")
    assert zones.local_zone() is BERLIN


def test_the_local_zone_is_told_by_its_name_where_there_is_a_copy(machine: Path) -> None:
    (machine / "localtime").write_bytes(b"a copy")
    (machine / "timezone").write_text("Asia/Seoul\n")
    assert str(zones.local_zone()) == "Asia/Seoul"


def test_the_local_zone_is_told_by_its_rules_where_there_is_only_a_copy(machine: Path) -> None:
    rules = next(path for root in TZPATH if (path := Path(root, "Asia/Seoul")).is_file())
    (machine / "localtime").write_bytes(rules.read_bytes())
    assert datetime(2026, 11, 15, tzinfo=zones.local_zone()).utcoffset() == timedelta(hours=9)


def test_a_local_zone_that_cannot_be_named_is_an_error_that_says_what_to_do(machine: Path) -> None:
    (machine / "localtime").write_bytes(b"rules of nowhere")
    with pytest.raises(ValueError, match="set TZ, or give a timezone"):
        CronTrigger(hour=3)


def test_every_trigger_is_over_a_schedule() -> None:
    triggers: list[ScheduleTrigger] = [
        DateTrigger(NOON),
        IntervalTrigger(minutes=7, start_date=NOON),
        CronTrigger(minute="*/7", timezone=UTC),
        CalendarIntervalTrigger(days=2, start_date=NOON, timezone=UTC),
        OrTrigger([CronTrigger(minute="*/7", timezone=UTC)]),
    ]
    for trigger in triggers:
        assert trigger.get_next_fire_time(None, NOON) == trigger.schedule.next_after(NOON - timedelta(microseconds=1))
