"""A fixed interval of real time, whatever the clocks on the wall do."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule.base import Count, InMicroseconds
from waterclock.domain.schedule.moment import END, EPOCH, span_us, to_us


@dataclass(frozen=True, slots=True, kw_only=True)
class Every(InMicroseconds):
    """Fires at the anchor and every interval after it; never before the anchor."""

    interval: timedelta
    anchor: datetime = EPOCH
    _step: int = field(init=False, compare=False, repr=False)
    _anchor: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.interval <= timedelta(0):
            raise InvalidInput("must be longer than nothing", field="interval", value=self.interval)
        object.__setattr__(self, "_step", span_us(self.interval))
        object.__setattr__(self, "_anchor", to_us(self.anchor))

    def next_after_us(self, us: int) -> int | None:
        fire = self._anchor + max((us - self._anchor) // self._step + 1, 0) * self._step
        return fire if fire < END else None

    def last_at_or_before_us(self, us: int) -> int | None:
        us = min(us, END - 1)
        return us - (us - self._anchor) % self._step if us >= self._anchor else None

    def count_us(self, after: int, upto: int) -> Count:
        return Count(max(self._upto(upto) - self._upto(after), 0))

    def _upto(self, us: int) -> int:
        return max((min(us, END - 1) - self._anchor) // self._step + 1, 0)
