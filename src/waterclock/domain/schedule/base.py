"""What a schedule is: a frozen value that remembers nothing and answers three questions about its fires.

The next one after a moment, the last one at or before it, and how many lie between two moments.
"""

from datetime import datetime
from enum import Enum
from typing import NamedTuple, Protocol

from waterclock.domain.schedule.moment import from_us, to_us


class Gap(Enum):
    """A local time that the clocks skip: run at the moment they jump, or not at all."""

    RUN_AT_JUMP = "run_at_jump"
    SKIP = "skip"


class Fold(Enum):
    """A local time that comes twice: run the first time only, or both times."""

    ONCE = "once"
    TWICE = "twice"


class Count(NamedTuple):
    """How many fires; `exact` is false where counting them all would have cost too much."""

    value: int
    exact: bool = True


class Schedule(Protocol):
    """Aware UTC datetimes in and out; None when there is none. The `_us` twins speak epoch microseconds."""

    def next_after(self, moment: datetime) -> datetime | None: ...
    def last_at_or_before(self, moment: datetime) -> datetime | None: ...
    def next_after_us(self, us: int) -> int | None: ...
    def last_at_or_before_us(self, us: int) -> int | None: ...
    def count_us(self, after: int, upto: int) -> Count:
        """The fires in (after, upto]."""
        ...


class InMicroseconds:
    """The datetime face of a schedule that computes in microseconds."""

    __slots__ = ()

    def next_after(self, moment: datetime) -> datetime | None:
        us = self.next_after_us(to_us(moment))
        return None if us is None else from_us(us)

    def last_at_or_before(self, moment: datetime) -> datetime | None:
        us = self.last_at_or_before_us(to_us(moment))
        return None if us is None else from_us(us)

    def next_after_us(self, us: int) -> int | None:
        raise NotImplementedError

    def last_at_or_before_us(self, us: int) -> int | None:
        raise NotImplementedError
