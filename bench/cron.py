"""What one next fire costs, in µs: ours beside croniter's, over typical and hard expressions. Prints one JSON line.

`python bench/cron.py`; each figure is the best of several rounds over moments spread through years, which is what the
code costs when the machine is otherwise quiet.
"""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import perf_counter
from zoneinfo import ZoneInfo

from croniter import croniter

from waterclock.domain.schedule import parse_schedule

ROUNDS, MOMENTS = 9, 400
# Name, expression, zone, and the crontab form that croniter reads, where there is one.
TYPICAL = (
    ("every 5 minutes", "*/5 * * * *", "UTC", "*/5 * * * *"),
    ("hourly, Berlin", "0 * * * *", "Europe/Berlin", "0 * * * *"),
    ("weekdays 04:30, Berlin", "30 4 * * MON-FRI", "Europe/Berlin", "30 4 * * MON-FRI"),
    ("Quartz every 2 s", "0/2 * * * * ?", "UTC", None),
    ("AWS daily, New York", "cron(0 12 * * ? *)", "America/New_York", "0 12 * * *"),
    ("1st of month", "0 0 1 * *", "UTC", "0 0 1 * *"),
)
HARD = (
    ("29 February", "0 0 29 2 *", "Europe/Berlin", "0 0 29 2 *"),
    ("last day", "0 0 12 L * ?", "UTC", "0 12 L * *"),
    ("third Friday", "0 0 12 ? * 6#3", "America/New_York", "0 12 * * FRI#3"),
    ("last weekday", "0 0 12 LW * ?", "UTC", None),
    ("fifth Friday of February", "0 0 12 ? 2 6#5", "America/New_York", "0 12 * 2 FRI#5"),
    ("Friday or the 13th", "0 0 13 * 5", "UTC", "0 0 13 * 5"),
)


def moments() -> list[datetime]:
    rng = random.Random(1)
    start = datetime(2024, 1, 1, tzinfo=UTC)
    return [start + timedelta(seconds=rng.randint(0, 4 * 366 * 86_400)) for _ in range(MOMENTS)]


def best_us(next_fire: Callable[[datetime], object], sample: list[datetime]) -> float:
    def once() -> float:
        begun = perf_counter()
        for moment in sample:
            next_fire(moment)
        return (perf_counter() - begun) / len(sample) * 1e6

    return round(min(once() for _ in range(ROUNDS)), 2)


def costs(expression: str, zone: str, crontab: str | None) -> dict[str, float | None]:
    ours, info = parse_schedule(expression, timezone=zone), ZoneInfo(zone)
    sample = moments()
    figures: dict[str, float | None] = {"waterclock": best_us(ours.next_after, sample), "croniter": None}
    if crontab is not None:
        # One instance, set to each moment: croniter at its quickest, without parsing anew.
        theirs = croniter(crontab, sample[0].astimezone(info))
        local = [moment.astimezone(info) for moment in sample[:50]]
        figures["croniter"] = best_us(lambda moment: theirs.get_next(datetime, start_time=moment), local)
    return figures


def main() -> None:
    report = {
        kind: {name: costs(expression, zone, crontab) for name, expression, zone, crontab in rows}
        for kind, rows in (("typical", TYPICAL), ("hard", HARD))
    }
    print(json.dumps({"bench": "cron", "unit": "µs per next fire", **report}, ensure_ascii=False))


if __name__ == "__main__":
    main()
