"""The months of 1969 to 2200 as tables, so that a search never asks a calendar.

Days are counted from 1970-01-01 (day 0); months from January 1969 (month 0), so that local times west of Greenwich
just before the epoch have a month too. A month's *cell* tells its name, length and first weekday apart: 12 × 28 kinds.
"""

from datetime import date
from itertools import pairwise
from typing import Final

FIRST_YEAR: Final = 1969
LAST_YEAR: Final = 2200
MONTHS: Final = (LAST_YEAR - FIRST_YEAR + 1) * 12
SHAPES: Final = 28
EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()


def weekday_of(day: int) -> int:
    """Sunday is 0; day 0 was a Thursday."""
    return (day + 4) % 7


def _start(month: int) -> int:
    return date(FIRST_YEAR + month // 12, month % 12 + 1, 1).toordinal() - EPOCH_ORDINAL


MONTH_STARTS: Final = tuple(_start(month) for month in range(MONTHS + 1))
LENGTHS: Final = tuple(end - start for start, end in pairwise(MONTH_STARTS))
CELLS: Final = tuple(
    month % 12 * SHAPES + weekday_of(MONTH_STARTS[month]) * 4 + LENGTHS[month] - 28 for month in range(MONTHS)
)
FIRST_DAY: Final = MONTH_STARTS[0]
END_DAY: Final = MONTH_STARTS[MONTHS]
