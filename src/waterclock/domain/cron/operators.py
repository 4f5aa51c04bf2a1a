"""The day operators that Quartz and AWS share: `L`, `L-3`, `LW`, `15W` of months; `L`, `6L`, `6#3` of weeks."""

import re
from typing import Final

from waterclock.domain.cron.days import DayRule, FromEnd, LastWeekday, Nearest, NthWeekday, Numbered, Weekdays
from waterclock.domain.cron.fields import WEEKDAYS_FROM_1, Field

MOST_BEFORE_LAST: Final = 30
_FROM_END: Final = re.compile(r"L(?:-([0-9]{1,4}))?(W)?", re.ASCII)
_NEAREST: Final = re.compile(r"([0-9]{1,4})W", re.ASCII)
_WEEKDAY: Final = re.compile(r"([0-9]{1,4}|[A-Z]{3})(L|#([0-9]{1,4}))", re.ASCII)

DAY_OF_MONTH: Final = Field(name="day-of-month", low=1, high=31, wraps=True)
DAY_OF_WEEK: Final = Field(name="day-of-week", low=1, high=7, wraps=True, names=WEEKDAYS_FROM_1)


def day_of_month(expression: str, text: str) -> DayRule:
    upper = text.upper()
    if "L" not in upper and "W" not in upper:
        return Numbered(sum(1 << (value - 1) for value in set(DAY_OF_MONTH.values(expression, text))))
    if match := _FROM_END.fullmatch(upper):
        before = int(match[1] or 0)
        if before > MOST_BEFORE_LAST:
            DAY_OF_MONTH.refuse(expression, text, f"the days before the last must be 0–{MOST_BEFORE_LAST}")
        return Nearest(FromEnd(before)) if match[2] else FromEnd(before)
    match = _NEAREST.fullmatch(upper)
    if match is None:
        DAY_OF_MONTH.refuse(expression, text, "L and W stand alone: L, L-3, LW, L-3W or 15W")
    return Nearest(Numbered(1 << (DAY_OF_MONTH.number(expression, match[1]) - 1)))


def day_of_week(expression: str, text: str) -> DayRule:
    upper = text.upper()
    if upper == "L":
        return Weekdays(1 << 6)
    if "L" not in upper and "#" not in upper:
        return Weekdays(sum(1 << (value - 1) for value in set(DAY_OF_WEEK.values(expression, text))))
    match = _WEEKDAY.fullmatch(upper)
    if match is None:
        DAY_OF_WEEK.refuse(expression, text, "L and # stand alone: L, 6L or 6#3")
    weekday = DAY_OF_WEEK.number(expression, match[1]) - 1
    if match[2] == "L":
        return LastWeekday(weekday)
    if not 1 <= int(match[3]) <= 5:
        DAY_OF_WEEK.refuse(expression, text, "the number after # must be 1–5")
    return NthWeekday(weekday, int(match[3]))
