"""The oracle: when a trigger of a scenario is due, by plain arithmetic. It shares nothing with our schedules."""

from dataclasses import dataclass
from typing import Final

from waterclock.domain.moment import SECOND, Moment

MINUTE_SECONDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A call to the cluster: what it changes holds from some moment between the two."""

    sent_at: Moment
    answered_at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A trigger that was made and, in time, stopped; `every_seconds` 0 is due once, at `offset_us`."""

    every_seconds: int
    made: Asked
    offset_us: int = 0
    stopped: Asked | None = None

    def due(self, read_at: Moment) -> list[Moment]:
        """What must have run, or be accounted for: the trigger was active then, whoever asks."""
        last = self.stopped.sent_at if self.stopped else read_at
        return [at for at in self._instants(self.made.answered_at, last) if self.made.answered_at < at <= last]

    def perhaps(self, read_at: Moment) -> list[Moment]:
        """What may have run or not: due while the trigger was being made or stopped."""
        last = self.stopped.answered_at if self.stopped else read_at
        known = set(self.due(read_at))
        return [at for at in self._instants(self.made.sent_at, last) if at not in known]

    def _instants(self, first: Moment, last: Moment) -> list[Moment]:
        if not self.every_seconds:
            return [self.offset_us] if first <= self.offset_us <= last else []
        step = self.every_seconds * SECOND
        begin = first + (self.offset_us - first) % step  # the grid begins with each minute, which the step divides
        return list(range(begin, last + 1, step))


def expression(every_seconds: int, offset_seconds: int) -> str:
    """Quartz for the grid: every so many seconds of each minute, from the offset on."""
    assert 0 < every_seconds <= MINUTE_SECONDS, "a minute at most"
    assert MINUTE_SECONDS % every_seconds == 0, f"{every_seconds} does not divide a minute"
    assert 0 <= offset_seconds < every_seconds, "the offset is a part of the step"
    return f"{offset_seconds}/{every_seconds} * * * * ?"
