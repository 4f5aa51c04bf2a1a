"""Fault windows: the spans in which something was down, and what is due outside them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from waterclock.chaos.checker import History
from waterclock.domain.moment import Moment


@dataclass(slots=True)
class Windows:
    spans: list[tuple[Moment, Moment]] = field(default_factory=list)

    def add(self, first: Moment, last: Moment) -> None:
        self.spans.append((first, last))

    def holds(self, at: Moment) -> bool:
        return any(first <= at <= last for first, last in self.spans)

    def covered_us(self) -> int:
        """How long something was down, spans that overlap counted once."""
        total, reached = 0, 0
        for first, last in sorted(self.spans):
            total += max(0, last - max(first, reached))
            reached = max(reached, last)
        return total

    def late_outside(self, history: History) -> list[int]:
        """How late the first attempts of what was due outside were."""
        return [mark.late_us for mark in history.starts if mark.attempt == 0 and not self.holds(mark.fire_at)]


def longest(figures: Iterable[int]) -> int:
    return max(figures, default=0)
