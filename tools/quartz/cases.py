"""Prints the questions for Quartz: expression, zone and moment, tab-separated, the same every time (fixed seed)."""

import random
from datetime import UTC, datetime

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo")
MORE_ZONES = ("Africa/Cairo", "Asia/Kolkata", "Asia/Tokyo", "Asia/Kathmandu", "America/St_Johns", "Europe/London")
MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split()
# The hours around which clocks change, and dates that ask for care.
EDGES = (
    ("Europe/Berlin", "2026-03-28T22:00", "2026-10-24T22:00", "2011-03-26T12:00", "2035-10-27T20:00"),
    ("America/New_York", "2026-03-08T03:00", "2026-11-01T03:00", "2007-03-10T20:00", "2030-11-02T20:00"),
    ("Australia/Lord_Howe", "2026-04-04T12:00", "2026-10-03T12:00", "2020-04-04T10:00", "2031-10-04T10:00"),
    ("Pacific/Apia", "2011-12-29T06:00", "2011-12-30T08:00", "2012-03-31T10:00", "2020-09-26T10:00"),
    ("America/Sao_Paulo", "2017-10-14T20:00", "2018-02-17T20:00", "2018-11-03T20:00", "2019-02-16T20:00"),
    ("Africa/Cairo", "2014-05-15T10:00", "2014-06-26T10:00", "2023-04-27T12:00", "2023-10-26T12:00"),
    ("Europe/London", "2026-03-28T22:00", "2026-10-24T22:00", "1996-03-30T20:00", "2033-10-29T20:00"),
    ("America/St_Johns", "2006-04-01T20:00", "2006-10-28T20:00", "2026-03-07T20:00", "2026-10-31T20:00"),
)


def number_list(rng: random.Random, low: int, high: int, names: list[str] | None = None) -> str:
    def value() -> str:
        number = rng.randint(low, high)
        return names[number - low] if names and rng.random() < 0.3 else str(number)

    def item() -> str:
        match rng.randrange(6):
            case 0 | 1:
                return value()
            case 2:
                first, last = sorted((rng.randint(low, high), rng.randint(low, high)))
                return f"{first}-{last}"
            case 3:
                return f"{rng.randint(low, high)}-{rng.randint(low, high)}"
            case 4:
                return f"{rng.randint(low, high)}-{rng.randint(low, high)}/{rng.randint(1, max(1, (high - low) // 2))}"
            case _:
                return f"{rng.randint(low, high)}/{rng.randint(1, high)}"

    return ",".join(item() for _ in range(rng.choice((1, 1, 1, 2, 3))))


def time_field(rng: random.Random, high: int) -> str:
    match rng.randrange(6):
        case 0 | 1:
            return str(rng.randint(0, high))
        case 2:
            return "*"
        case 3:
            return f"{rng.choice(('*', '0', ''))}/{rng.randint(1, high)}"
        case _:
            return number_list(rng, 0, high)


def day_of_month(rng: random.Random) -> str:
    return rng.choice(
        (
            "*",
            "L",
            "LW",
            f"L-{rng.randint(1, 30)}",
            f"L-{rng.randint(1, 8)}W",
            f"{rng.randint(1, 28)}W",
            "1W",
            "31",
            "29",
            "30",
            "28",
            f"*/{rng.randint(2, 15)}",
            f"{rng.randint(1, 31)}",
            number_list(rng, 1, 31),
        )
    )


def day_of_week(rng: random.Random) -> str:
    day = rng.randint(1, 7)
    return rng.choice(
        (
            f"{day}",
            f"{day}L",
            f"{WEEKDAYS[day - 1]}L",
            f"{day}#{rng.randint(1, 5)}",
            f"{WEEKDAYS[day - 1]}#{rng.randint(1, 5)}",
            "MON-FRI",
            "FRI-MON",
            "2-6",
            "L",
            "SAT,SUN",
            number_list(rng, 1, 7, WEEKDAYS),
            f"*/{rng.randint(1, 7)}",
        )
    )


def expression(rng: random.Random, year: int) -> str:
    seconds = "0" if rng.random() < 0.5 else time_field(rng, 59)
    month = "*" if rng.random() < 0.6 else rng.choice(("2", "FEB", "12", number_list(rng, 1, 12, MONTHS)))
    if rng.random() < 0.5:
        days = (day_of_month(rng), month, "?")
    else:
        days = ("?", month, day_of_week(rng))
    fields = [seconds, time_field(rng, 59), time_field(rng, 23), *days]
    if rng.random() < 0.25:
        last = year + rng.randint(0, 6)
        fields.append(rng.choice(("*", str(last), f"{year}-{last}", f"{year}/4", f"{year},{last}", f"{last}/3")))
    return " ".join(fields)


def edge_expression(rng: random.Random) -> str:
    hour = rng.choice(("*", "0", "1", "2", "3", "0-3", "*/2", "1/2", "23,0,1,2"))
    second, minute = rng.choice(("0", "0", "30", "0/20")), rng.choice(("0", "30", "15", "*/15", "*", "5,45"))
    return f"{second} {minute} {hour} {rng.choice(('* * ?', '? * *', '? * SUN', '? * SAT,SUN', 'L * ?'))}"


REFUSED = (
    "61 * * * * ?",
    "* 60 * * * ?",
    "* * 24 * * ?",
    "* * * 32 * ?",
    "* * * * 13 ?",
    "* * * ? * 8",
    "* * * ? * 0",
    "* * * * * *",
    "0 0 0 ? * ?",
    "0 0 0 1 * MON",
    "0 0 0 L,15 * ?",
    "0 0 0 ? * 6L,2",
    "0 0 0 ? * 6#6",
    "0 0 0 ? * 6#",
    "0 0 0 ? * MON#0",
    "0 0 0 32W * ?",
    "0 0 0 L-31 * ?",
    "0 0 0 ? FOO MON",
    "0 0 0 ? * FOO",
    "0 0 0",
    "a b c d e f",
    "0/60 * * * * ?",
    "* 0/60 * * * ?",
    "* * 0/24 * * ?",
    "* * * 1/32 * ?",
    "* * * * 1/13 ?",
    "0 0 0 ? * 1#1,2#2",
)


def moment(rng: random.Random, zone: str) -> int:
    last = 2085 if zone == "UTC" else 2034
    day = int(datetime(rng.randint(1990, last), rng.choice((1, 2, 2, 3, 6, 10, 12)), 1, tzinfo=UTC).timestamp())
    return day + rng.randint(0, 31 * 86_400)


def main() -> None:
    rng = random.Random(20261115)
    lines = []
    for number in range(3_600):
        zone = "UTC" if number % 3 == 0 else rng.choice(ZONES + MORE_ZONES)
        at = moment(rng, zone)
        lines.append((expression(rng, datetime.fromtimestamp(at, UTC).year), zone, at))
    for zone, *edges in EDGES:
        for edge in edges:
            at = int(datetime.fromisoformat(edge + "+00:00").timestamp())
            for _ in range(30):
                lines.append((edge_expression(rng), zone, at + rng.randint(0, 6) * 1_800))
    lines += [(text, "UTC", 1_763_200_000) for text in REFUSED]
    for line in lines:
        print(*line, sep="\t")


if __name__ == "__main__":
    main()
