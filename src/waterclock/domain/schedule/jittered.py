"""Jitter without memory: each fire is put off by a share of the span that its own instant decides.

A fire is never put off past the next one nor past the end, so jittered fires keep their order and their number.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule.base import Count, InMicroseconds, Schedule
from waterclock.domain.schedule.moment import span_us, to_us

MILLISECOND = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Jittered(InMicroseconds):
    """Puts each fire off by less than `most`, in whole milliseconds: a pure function of the seed and the instant."""

    schedule: Schedule
    most: timedelta
    seed: str = ""
    end: datetime | None = None
    _most: int = field(init=False, compare=False, repr=False)
    _end: int | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.most < timedelta(0):
            raise InvalidInput("must not be negative", field="jitter", value=self.most)
        object.__setattr__(self, "_most", span_us(self.most))
        object.__setattr__(self, "_end", None if self.end is None else to_us(self.end))

    def next_after_us(self, us: int) -> int | None:
        nominal = self.schedule.last_at_or_before_us(us)
        if nominal is not None and (put_off := self._put_off(nominal)) > us:
            return put_off
        nominal = self.schedule.next_after_us(us)
        return None if nominal is None else self._put_off(nominal)

    def last_at_or_before_us(self, us: int) -> int | None:
        nominal = self.schedule.last_at_or_before_us(us)
        if nominal is not None and self._put_off(nominal) > us:
            nominal = self.schedule.last_at_or_before_us(nominal - 1)
        return None if nominal is None else self._put_off(nominal)

    def count_us(self, after: int, upto: int) -> Count:
        if after >= upto:
            return Count(0)
        nominal = self.schedule.count_us(after, upto)
        return Count(nominal.value + self._pending(after) - self._pending(upto), nominal.exact)

    def _pending(self, us: int) -> int:
        """1 when the last nominal fire is already due but put off beyond this moment."""
        nominal = self.schedule.last_at_or_before_us(us)
        return 1 if nominal is not None and self._put_off(nominal) > us else 0

    def _put_off(self, nominal: int) -> int:
        following = self.schedule.next_after_us(nominal)
        span = self._most if following is None else min(self._most, following - nominal)
        if self._end is not None:
            span = max(min(span, self._end - nominal), 0)
        digest = blake2b(f"{self.seed}:{nominal}".encode(), digest_size=8).digest()
        share = int.from_bytes(digest, "big") * span >> 64
        return nominal + share // MILLISECOND * MILLISECOND
