"""What one get_next_fire_time costs, in µs: our triggers beside APScheduler 3's. Prints one JSON line.

`python bench/triggers.py`; each figure is the best of several rounds, ours and theirs in turns, over moments spread
through years: asked with no previous fire, which is what a search costs from anywhere.
"""

import json
import random
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Any
from zoneinfo import ZoneInfo

from apscheduler.triggers import calendarinterval as their_calendar
from apscheduler.triggers import combining as their_combining
from apscheduler.triggers import cron as their_cron
from apscheduler.triggers import interval as their_interval

from waterclock.triggers import calendarinterval, combining, cron, interval

ROUNDS, MOMENTS = 9, 200
BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2024, 1, 1, tzinfo=UTC)
CRONS: dict[str, dict[str, Any]] = {
    "cron every 5 minutes": {"minute": "*/5", "timezone": UTC},
    "cron hourly, Berlin": {"hour": "*", "timezone": BERLIN},
    "cron weekdays 04:30, Berlin": {"day_of_week": "mon-fri", "hour": 4, "minute": 30, "timezone": BERLIN},
    "cron 3rd fri, Berlin": {"day": "3rd fri", "hour": 12, "timezone": BERLIN},
    "cron ISO week 53": {"week": 53, "timezone": UTC},
    "cron 29 February": {"month": 2, "day": 29, "timezone": UTC},
}


def pairs() -> dict[str, tuple[Any, Any]]:
    found: dict[str, tuple[Any, Any]] = {
        name: (cron.CronTrigger(**made), their_cron.CronTrigger(**made)) for name, made in CRONS.items()
    }
    every: dict[str, Any] = {"minutes": 7, "start_date": START, "timezone": BERLIN}
    found["interval, Berlin"] = (interval.IntervalTrigger(**every), their_interval.IntervalTrigger(**every))
    monthly: dict[str, Any] = {"months": 1, "hour": 3, "start_date": START.date(), "timezone": BERLIN}
    calendars = (calendarinterval.CalendarIntervalTrigger, their_calendar.CalendarIntervalTrigger)
    # It is asked for the one after each moment: without a previous fire theirs answers with the start, unsearched.
    found["calendarinterval, Berlin"] = (calendars[0](**monthly), calendars[1](**monthly))
    own, other = zip(found["cron hourly, Berlin"], found["cron weekdays 04:30, Berlin"], strict=True)
    found["or of two, Berlin"] = (combining.OrTrigger(list(own)), their_combining.OrTrigger(list(other)))
    return found


def moments() -> list[datetime]:
    rng = random.Random(1)
    return [START + timedelta(seconds=rng.randint(0, 4 * 366 * 86_400)) for _ in range(MOMENTS)]


def once(trigger: Any, sample: list[datetime], *, after: bool) -> float:
    begun = perf_counter()
    for moment in sample:
        trigger.get_next_fire_time(moment if after else None, moment)
    return (perf_counter() - begun) / len(sample) * 1e6


def costs(ours: Any, theirs: Any, *, after: bool) -> dict[str, float]:
    zone = getattr(ours, "timezone", UTC)
    sample = [moment.astimezone(zone) for moment in moments()]
    rounds = [(once(ours, sample, after=after), once(theirs, sample[:50], after=after)) for _ in range(ROUNDS)]
    own, other = (min(each) for each in zip(*rounds, strict=True))
    return {"waterclock": round(own, 2), "apscheduler": round(other, 2), "ratio": round(other / own, 1)}


def main() -> None:
    report = {name: costs(*pair, after=name.startswith("calendar")) for name, pair in pairs().items()}
    print(json.dumps({"bench": "triggers", "unit": "µs per get_next_fire_time", **report}, ensure_ascii=False))


if __name__ == "__main__":
    main()
