"""A single moment."""

from dataclasses import dataclass, field
from datetime import datetime

from waterclock.domain.schedule.base import Count, InMicroseconds
from waterclock.domain.schedule.moment import to_us


@dataclass(frozen=True, slots=True, kw_only=True)
class Once(InMicroseconds):
    """Fires at one moment and never again."""

    at: datetime
    _at: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_at", to_us(self.at))

    def next_after_us(self, us: int) -> int | None:
        return self._at if us < self._at else None

    def last_at_or_before_us(self, us: int) -> int | None:
        return self._at if us >= self._at else None

    def count_us(self, after: int, upto: int) -> Count:
        return Count(1 if after < self._at <= upto else 0)
