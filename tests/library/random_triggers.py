"""Random triggers, as the keyword arguments that APScheduler's classes and ours both take."""

from datetime import UTC, datetime, timedelta, timezone
from random import Random
from typing import Any

from waterclock.domain.cron.named import FIELDS

Options = dict[str, Any]

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
PLACES = ("1st", "2nd", "3rd", "4th", "5th", "last")
STEADY = (UTC, "UTC", timezone(timedelta(hours=9)), timezone(-timedelta(hours=3, minutes=30)), "Asia/Kolkata")
CHANGING = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/St_Johns")
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)


def moment(random: Random) -> datetime:
    """Somewhere in ten years, often on a second, often just beside one."""
    fraction = random.choice((0, 0, 1, 250_000, 999_999))
    return BEGIN + timedelta(seconds=random.randrange(10 * 365 * 86_400), microseconds=fraction)


def numbers(random: Random, low: int, high: int) -> str:
    first, last = sorted((random.randint(low, high), random.randint(low, high)))
    step = random.randint(1, high - low)
    return random.choice(
        [
            "*",
            f"*/{step}",
            f"{first}",
            f"{first:02}",
            f"{first}-{last}",
            f"{first}-{last}/{random.randint(1, last - first)}" if last > first else f"{last}",
            f"{first}/{random.randint(1, high - first)}" if first < high else f"{first}",
            f"{first}, {last}",
            f"{last},{first}-{last}",
        ]
    )


def named(random: Random, names: tuple[str, ...]) -> str:
    first, last = sorted((random.randrange(len(names)), random.randrange(len(names))))
    text = random.choice((f"{names[first]}-{names[last]}", names[first], f"{names[last]},{names[first]}"))
    return random.choice((text, text.upper(), text))


def field(random: Random, name: str) -> str | int:
    low, high = FIELDS[name].low, FIELDS[name].high
    match name:
        case "year":
            return numbers(random, 2024, 2036) if random.random() < 0.7 else random.randint(2024, 2036)
        case "month" if random.random() < 0.5:
            return named(random, MONTHS)
        case "day_of_week" if random.random() < 0.6:
            return named(random, WEEKDAYS)
        case "day" if random.random() < 0.4:
            place = f"{random.choice(PLACES)} {random.choice(WEEKDAYS)}"
            return random.choice((place, "last", f"{place},last", f"15,{place}", f"{place}, 3-5"))
    return numbers(random, low, high) if random.random() < 0.8 else random.randint(low, high)


def cron(random: Random, zone: object) -> Options:
    """It always has an end: APScheduler searches up to the year 9999 for what never comes."""
    chance = random.choice((0.15, 0.3, 0.5))
    begin = moment(random)
    options: Options = {name: field(random, name) for name in FIELDS if random.random() < chance}
    options["end_date"] = begin + timedelta(days=random.choice((3, 400, 2_500)), seconds=random.randrange(86_400))
    if random.random() < 0.4:
        options["start_date"] = begin + timedelta(seconds=random.randrange(-86_400 * 30, 86_400 * 30))
    return options | {"timezone": zone}


def crontab(random: Random) -> str:
    names = ("minute", "hour", "day", "month", "day_of_week")
    return " ".join(numbers(random, FIELDS[name].low, FIELDS[name].high).replace(" ", "") for name in names)


def interval(random: Random, zone: object) -> Options:
    chosen = random.sample(("weeks", "days", "hours", "minutes", "seconds"), random.randint(0, 3))
    options: Options = {name: random.randint(0, 90) for name in chosen}
    start: object = moment(random).replace(microsecond=0)
    if random.random() < 0.3:
        start = f"{start:%Y-%m-%d %H:%M:%S}"
    if random.random() < 0.3:
        options["end_date"] = moment(random)
    return options | {"start_date": start, "timezone": zone}


def calendar(random: Random, zone: object) -> Options:
    chosen = random.sample(("years", "months", "weeks", "days"), random.randint(1, 3))
    most = {"years": 3, "months": 30, "weeks": 60, "days": 400}
    options: Options = {name: random.randint(1, most[name]) for name in chosen}
    start = moment(random).date()
    if random.random() < 0.5:
        start = start.replace(month=random.choice((1, 3, 5, 7, 8, 10, 12)), day=random.choice((28, 29, 30, 31)))
    times = {"hour": random.randrange(24), "minute": random.randrange(60), "second": random.randrange(60)}
    if random.random() < 0.3:
        options["end_date"] = start + timedelta(days=random.randrange(2_000))
    return options | times | {"start_date": random.choice((start, start.isoformat())), "timezone": zone}
