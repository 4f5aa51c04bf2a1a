"""`next_fires.py LIBRARY ORDER`: microseconds per next fire of one library, of each expression of an order.

The order is a file: a line of moments (epoch seconds, by spaces), then lines "expression TAB zone". Each library is
asked as it is quickest: parsed once, set to each moment; what is told is the CPU time of the best of several passes,
which is what the code costs whatever else the machine does.
"""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import thread_time
from typing import Any
from zoneinfo import ZoneInfo

PASSES = 9

Ask = Callable[[Any], object]
Asked = tuple[Ask, list[Any]]  # what is timed, and with what it is called


def waterclock(text: str, zone: str, moments: list[datetime]) -> Asked:
    from waterclock.domain.schedule import parse_schedule

    return parse_schedule(text, timezone=zone).next_after, moments


def engine(text: str, zone: str, moments: list[datetime]) -> Asked:
    """As our engine asks: in microseconds."""
    from waterclock.domain.schedule import parse_schedule, to_us

    return parse_schedule(text, timezone=zone).next_after_us, [to_us(moment) for moment in moments]


def croniter(text: str, zone: str, moments: list[datetime]) -> Asked:
    from croniter import croniter

    local = in_zone(zone, moments)
    one = croniter(text, local[0])
    return lambda moment: one.get_next(datetime, start_time=moment), local


def cronsim(text: str, zone: str, moments: list[datetime]) -> Asked:
    from cronsim import CronSim  # type: ignore[import-not-found,unused-ignore]  # in its own venv

    local = in_zone(zone, moments)
    one = CronSim(text, local[0])
    if one.fixup_tz:  # it counts in local time then, and lays the zone on what it has found
        local = [moment.replace(tzinfo=None) for moment in local]

    def ask(moment: datetime) -> object:
        one.dt = moment
        return next(one)

    return ask, local


def apscheduler(text: str, zone: str, moments: list[datetime]) -> Asked:
    from apscheduler.triggers.cron import CronTrigger

    fields = dict(field.split("=") for field in text.split(";"))
    trigger = CronTrigger(timezone=ZoneInfo(zone), **fields)
    return lambda moment: trigger.get_next_fire_time(None, moment), in_zone(zone, moments)


def in_zone(zone: str, moments: list[datetime]) -> list[datetime]:
    info = UTC if zone == "UTC" else ZoneInfo(zone)
    return [moment.astimezone(info) for moment in moments]


def best_us(ask: Ask, moments: list[Any]) -> float:
    def once() -> float:
        begun = thread_time()
        for moment in moments:
            ask(moment)
        return (thread_time() - begun) / len(moments) * 1e6

    return min(once() for _ in range(PASSES))


LIBRARIES = {each.__name__: each for each in (waterclock, engine, croniter, cronsim, apscheduler)}


def main() -> None:
    library, order = LIBRARIES[sys.argv[1]], Path(sys.argv[2])
    first, *lines = order.read_text().splitlines()
    moments = [datetime.fromtimestamp(int(second), UTC) for second in first.split()]
    expressions = [line.partition("\t") for line in lines]
    asked = [library(text, zone, moments) for text, _, zone in expressions]
    print(json.dumps({str(place): best_us(*each) for place, each in enumerate(asked)}))


if __name__ == "__main__":
    main()
