"""Reading cron expressions: crontab (5 fields), Quartz (6–7, seconds first), AWS `cron(...)` (6, year last)."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from waterclock.domain.cron.calendar import ALL_YEARS, CronDays, year_bit
from waterclock.domain.cron.days import Both, DayRule, Either, Numbered, Weekdays
from waterclock.domain.cron.fields import MAX_LENGTH, MONTH_NAMES, WEEKDAYS_FROM_0, Field, shorten
from waterclock.domain.cron.months import FIRST_DAY
from waterclock.domain.cron.operators import day_of_month, day_of_week
from waterclock.domain.cron.search import Wall
from waterclock.domain.cron.times import Times
from waterclock.domain.errors import BadSchedule

NICKNAMES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}

CRONTAB: Final = (
    Field(name="minute", low=0, high=59, wraps=False),
    Field(name="hour", low=0, high=23, wraps=False),
    Field(name="day-of-month", low=1, high=31, wraps=False),
    Field(name="month", low=1, high=12, wraps=False, names=MONTH_NAMES),
    Field(name="day-of-week", low=0, high=7, wraps=False, names=WEEKDAYS_FROM_0, open_end=6, sunday_may_end=True),
)
SECOND: Final = Field(name="second", low=0, high=59, wraps=True)
MINUTE: Final = Field(name="minute", low=0, high=59, wraps=True)
HOUR: Final = Field(name="hour", low=0, high=23, wraps=True)
MONTH: Final = Field(name="month", low=1, high=12, wraps=True, names=MONTH_NAMES)
QUARTZ_YEAR: Final = Field(name="year", low=1970, high=2099, wraps=False)
AWS_YEAR: Final = Field(name="year", low=1970, high=2199, wraps=False)


@lru_cache(maxsize=4096)
def parse_cron(expression: str) -> Wall:
    """The local times an expression means; the dialect is told by its form. Refuses what can never fire."""
    if len(expression) > MAX_LENGTH:
        raise BadSchedule(shorten(expression), f"is longer than {MAX_LENGTH} characters")
    text = expression.strip()
    if text[:5].lower() == "cron(" and text.endswith(")"):
        return _fires(expression, _aws(expression, text[5:-1].split()))
    fields = NICKNAMES.get(text.lower(), text).split()
    match len(fields):
        case 5:
            return _fires(expression, _crontab(expression, fields))
        case 6 | 7:
            return _fires(expression, _quartz(expression, fields))
        case count if text.startswith("@"):
            raise BadSchedule(shorten(expression), f"unknown name; known are {', '.join(NICKNAMES)}")
        case count:
            raise BadSchedule(shorten(expression), f"has {count} field(s): crontab has 5, Quartz 6 or 7")


def _crontab(expression: str, texts: list[str]) -> Wall:
    minutes, hours, days, months, weekdays = (
        field.values(expression, text) for field, text in zip(CRONTAB, texts, strict=True)
    )
    rules: tuple[DayRule, ...] = (
        Numbered(_mask(day - 1 for day in days)),
        Weekdays(_mask(weekday % 7 for weekday in weekdays)),
    )
    # Vixie cron's rule: a field that begins with a star (also */2, and timestr's /2) does not count as restricted.
    unrestricted = texts[2].startswith(("*", "/")) or texts[4].startswith(("*", "/"))
    return Wall(
        days=CronDays(rule=(Both if unrestricted else Either)(rules), months=_mask(month - 1 for month in months)),
        times=Times(seconds=1, minutes=_mask(minutes), hours=_mask(hours)),
    )


def _quartz(expression: str, texts: list[str]) -> Wall:
    second, minute, hour, day, month, weekday, *year = texts
    return Wall(
        days=CronDays(
            rule=_days(expression, day, weekday),
            months=_mask(value - 1 for value in MONTH.values(expression, month)),
            years=_years(expression, QUARTZ_YEAR, year[0]) if year else ALL_YEARS,
        ),
        times=Times(
            seconds=_mask(SECOND.values(expression, second)),
            minutes=_mask(MINUTE.values(expression, minute)),
            hours=_mask(HOUR.values(expression, hour)),
        ),
    )


def _aws(expression: str, texts: list[str]) -> Wall:
    if len(texts) != 6:
        raise BadSchedule(
            shorten(expression), f"has {len(texts)} field(s): cron() has 6: minute hour day month weekday year"
        )
    minute, hour, day, month, weekday, year = texts
    return Wall(
        days=CronDays(
            rule=_days(expression, day, weekday),
            months=_mask(value - 1 for value in MONTH.values(expression, month)),
            years=_years(expression, AWS_YEAR, year),
        ),
        times=Times(
            seconds=1,
            minutes=_mask(MINUTE.values(expression, minute)),
            hours=_mask(HOUR.values(expression, hour)),
        ),
    )


def _days(expression: str, day: str, weekday: str) -> DayRule:
    if (day == "?") == (weekday == "?"):
        reason = "exactly one of day-of-month and day-of-week must be '?'"
        raise BadSchedule(shorten(expression), reason, part="day-of-week", value=shorten(weekday))
    return day_of_week(expression, weekday) if day == "?" else day_of_month(expression, day)


def _years(expression: str, field: Field, text: str) -> int:
    if text == "*":
        return ALL_YEARS
    return sum(year_bit(year) for year in set(field.values(expression, text)))


def _mask(values: Iterable[int]) -> int:
    return sum(1 << value for value in set(values))


def _fires(expression: str, wall: Wall) -> Wall:
    if wall.days.next(FIRST_DAY) is None:
        raise BadSchedule(shorten(expression), "never fires: no such day ever comes")
    return wall
