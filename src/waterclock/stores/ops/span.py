"""From the first to the last time of some rows: what a statement is told, beside their numbers, to find them by.

Fires, runs and attempts may be in partitions by their time: a statement that knows the times looks into one of them,
where it would otherwise look into all.
"""

from collections.abc import Iterable
from typing import Final

from waterclock.domain.moment import Moment

LAST: Final = 2**62  # later than all
ALL: Final = {"first_at": -LAST, "last_at": LAST}


def span_of(moments: Iterable[Moment | None]) -> dict[str, Moment]:
    """The same; all times, where one is not known."""
    known = tuple(moments)
    return ALL if not known or None in known else span(at for at in known if at is not None)


def span(moments: Iterable[Moment]) -> dict[str, Moment]:
    """`first_at` and `last_at` for these; there must be some."""
    known = tuple(moments)
    return {"first_at": min(known), "last_at": max(known)}
