"""Triggers in a store and back: pickled, as JSON, copied; and found again by name."""

import copy
import json
import pickle
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.library import random_triggers
from tests.library.random_triggers import CHANGING, STEADY, Options
from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule import Jittered, parse_schedule
from waterclock.domain.schedule import from_json as schedule_from_json
from waterclock.domain.schedule import to_json as schedule_to_json
from waterclock.triggers.base import BaseTrigger, ScheduleTrigger
from waterclock.triggers.calendarinterval import CalendarIntervalTrigger
from waterclock.triggers.codec import from_json, to_json
from waterclock.triggers.combining import AndTrigger, OrTrigger
from waterclock.triggers.cron import CronTrigger
from waterclock.triggers.date import DateTrigger
from waterclock.triggers.interval import IntervalTrigger
from waterclock.triggers.registry import create_trigger, trigger_class

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def some_triggers() -> list[ScheduleTrigger]:
    random, found = Random(43), list[ScheduleTrigger]()
    for zone in (*STEADY, *CHANGING):
        jitter = random.choice((None, 0, 30, 2.5))
        crons = [CronTrigger(**random_triggers.cron(random, zone), jitter=jitter, fold="twice") for _ in range(2)]
        found += [
            DateTrigger(random_triggers.moment(random).replace(tzinfo=None), zone),
            IntervalTrigger(**random_triggers.interval(random, zone), jitter=jitter),
            CalendarIntervalTrigger(**random_triggers.calendar(random, zone), jitter=jitter, gap="skip"),
            *crons,
            OrTrigger(crons, jitter),
            AndTrigger([crons[0], OrTrigger(crons)]),
        ]
    return found


def assert_same(kept: BaseTrigger, trigger: ScheduleTrigger) -> None:
    assert kept == trigger
    assert hash(kept) == hash(trigger)
    assert (str(kept), repr(kept)) == (str(trigger), repr(trigger))
    assert isinstance(kept, ScheduleTrigger)
    assert kept.schedule == trigger.schedule, "the seed of its jitter included"
    assert kept.get_next_fire_time(None, NOON) == trigger.get_next_fire_time(None, NOON)


def test_a_trigger_survives_its_pickle_and_copies() -> None:
    for trigger in some_triggers():
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert_same(pickle.loads(pickle.dumps(trigger, protocol)), trigger)  # noqa: S301 - our own
        assert_same(copy.copy(trigger), trigger)
        assert_same(copy.deepcopy(trigger), trigger)


def test_a_pickle_holds_what_was_declared_and_no_tables() -> None:
    trigger = CronTrigger(day="2nd fri", hour=3, timezone="Europe/Berlin")
    trigger.get_next_fire_time(None, NOON)
    assert len(pickle.dumps(trigger)) < 600


def test_a_trigger_survives_its_json() -> None:
    for trigger in some_triggers():
        assert_same(from_json(json.loads(json.dumps(to_json(trigger)))), trigger)


def test_the_schedule_of_a_trigger_survives_its_json() -> None:
    for trigger in some_triggers():
        assert schedule_from_json(json.loads(json.dumps(schedule_to_json(trigger.schedule)))) == trigger.schedule


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"trigger": "sundial"},
        {"trigger": "date"},
        {"trigger": "date", "run_date": "soon]"},
        {"trigger": "cron", "fields": {"hour": "25"}},
        to_json(CronTrigger(hour=3, timezone=UTC)) | {"timezone": "Mars/Olympus"},
        to_json(CronTrigger(hour=3, timezone=UTC)) | {"fields": {"hour": "25"}},
        to_json(CronTrigger(hour=3, timezone=UTC)) | {"more": 1},
        to_json(IntervalTrigger(hours=3, timezone=UTC)) | {"interval": 0},
    ],
)
def test_json_that_is_no_trigger_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        from_json(data)


def test_json_that_is_nested_without_end_is_refused() -> None:
    data = to_json(CronTrigger(hour=3, timezone=UTC))
    for _ in range(100):
        data = {"trigger": "or", "triggers": [data], "jitter": None, "seed": ""}
    with pytest.raises(InvalidInput, match="nested too deep"):
        from_json(data)


def test_triggers_are_equal_when_the_same_was_declared() -> None:
    def made(**more: Any) -> CronTrigger:
        options: Options = {"hour": 3, "timezone": "UTC"}
        return CronTrigger(**options | more)

    assert made() == made(hour=" 03 ")
    assert made(jitter=5) == made(jitter=5)
    for other in (made(hour=4), made(jitter=5), made(timezone="Asia/Seoul"), made(minute=0), made(end_date=NOON)):
        assert made() != other
    assert made() != made().schedule
    assert OrTrigger([made()]) == OrTrigger([made()])
    assert OrTrigger([made()]) != AndTrigger([made()])
    assert DateTrigger(NOON) != DateTrigger(NOON.astimezone(ZoneInfo("Asia/Seoul")))


class Quartz(ScheduleTrigger):
    """A trigger of somebody else's, which says no more than it must."""

    def __init__(self, expression: str) -> None:
        self.expression, self.schedule, self.timezone = expression, parse_schedule(expression), UTC


def test_a_trigger_of_somebody_else_is_kept_and_compared_too() -> None:
    trigger = Quartz("0 0 12 LW * ?")
    for made in (trigger, OrTrigger([trigger])):
        assert_same(pickle.loads(pickle.dumps(made)), made)  # noqa: S301 - our own
    assert copy.copy(trigger).expression == trigger.expression
    assert trigger != Quartz("0 0 13 LW * ?")
    assert len(pickle.dumps(trigger)) < 600


def test_the_seed_can_be_seen_in_the_schedule() -> None:
    first, second = (CronTrigger(hour=3, timezone=UTC, jitter=9).schedule for _ in range(2))
    assert isinstance(first, Jittered)
    assert isinstance(second, Jittered)
    assert first.seed != second.seed


@pytest.mark.parametrize(
    ("alias", "made"),
    [
        ("date", DateTrigger),
        ("interval", IntervalTrigger),
        ("cron", CronTrigger),
        ("calendarinterval", CalendarIntervalTrigger),
        ("and", AndTrigger),
        ("or", OrTrigger),
    ],
)
def test_each_trigger_has_its_name(alias: str, made: type[BaseTrigger]) -> None:
    assert trigger_class(alias) is made


def test_a_trigger_is_made_from_its_name_and_options() -> None:
    seoul = ZoneInfo("Asia/Seoul")
    hourly = create_trigger("cron", {"hour": "*"}, timezone=seoul)
    assert hourly == CronTrigger(hour="*", timezone=seoul)
    assert create_trigger("cron", {"hour": "*", "timezone": "UTC"}, seoul) == CronTrigger(hour="*", timezone="UTC")
    assert create_trigger(None, {"run_date": NOON}) == DateTrigger(NOON)
    assert create_trigger("or", {"triggers": [hourly]}, seoul) == OrTrigger([hourly])
    assert create_trigger(hourly, {}) is hourly
    with pytest.raises(TypeError, match="Expected a trigger instance or string, got int instead"):
        create_trigger(5, {})  # type: ignore[arg-type]
    with pytest.raises(LookupError, match='No trigger by the name "sundial" was found'):
        create_trigger("sundial", {})
    with pytest.raises(TypeError, match="minuet"):
        create_trigger("cron", {"minuet": 5})


THIRD_PARTY = """
from datetime import timedelta

class Soon:
    def get_next_fire_time(self, previous_fire_time, now):
        return now + timedelta(seconds=1)

no_class = 5
"""


@pytest.mark.parametrize("group", ["waterclock.triggers", "apscheduler.triggers"])
def test_other_packages_register_their_triggers(group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "soon_triggers.py").write_text(THIRD_PARTY)
    info = tmp_path / "soon_triggers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: soon-triggers\nVersion: 1.0\n")
    names = "soon = soon_triggers:Soon\nwrong = soon_triggers:no_class\ncron = soon_triggers:Soon\n"
    (info / "entry_points.txt").write_text(f"[{group}]\n{names}")
    monkeypatch.syspath_prepend(tmp_path)
    soon = create_trigger("soon", {}, UTC)
    assert soon.get_next_fire_time(None, NOON) == NOON + timedelta(seconds=1)
    assert create_trigger(soon, {}) is soon
    assert trigger_class("cron") is CronTrigger, "nobody takes the name of one of ours"
    with pytest.raises(TypeError, match='The trigger "wrong" is registered as 5'):
        trigger_class("wrong")
    with pytest.raises(InvalidInput, match="cannot be kept as JSON"):
        to_json(soon)
    monkeypatch.delitem(sys.modules, "soon_triggers")
