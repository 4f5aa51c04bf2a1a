"""How a contestant stands after the rounds: its figures round by round, their medians and ranges, its ratio to us."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.contest.contestant import LIMIT, PEER, US, Figure, Figures


@dataclass(slots=True, kw_only=True)
class Standing:
    """What was seen of one contestant; `problem` says why it has no figures from some round on."""

    name: str
    role: str
    rounds: list[Figures | None] = field(default_factory=list)
    problem: str = ""

    def values(self, figure: Figure) -> list[float]:
        return [value for seen in self.rounds if (value := _value(seen, figure)) is not None]

    def median(self, figure: Figure) -> float | None:
        values = self.values(figure)
        return statistics.median(values) if values else None

    def extent(self, figure: Figure) -> tuple[float, float] | None:
        """The least and the most of the rounds."""
        values = self.values(figure)
        return (min(values), max(values)) if values else None


def ratio(ours: Standing, other: Standing, figure: Figure) -> float | None:
    """How many times better we are than the other: the median of the rounds' own ratios, over 1 where we are ahead.

    The machine is not the same from one round to the next, so that medians of different rounds do not compare.
    """
    pairs = [(_value(one, figure), _value(two, figure)) for one, two in zip(ours.rounds, other.rounds, strict=False)]
    found = [_better(one, two, figure) for one, two in pairs if one is not None and two is not None]
    return statistics.median(found) if found else None


def _value(seen: Figures | None, figure: Figure) -> float | None:
    return None if seen is None else seen.get(figure.key)


def _better(ours: float, theirs: float, figure: Figure) -> float:
    more, less = (ours, theirs) if figure.more_is_better else (theirs, ours)
    return more / less if less else float("inf")


def holds(standings: Sequence[Standing], figure: Figure) -> bool | None:
    """Whether our median reaches the goal, and the rounds' ratios the share of the limit; None without a goal."""
    ours, limit = champion(standings), best(standings, figure, LIMIT)
    found = []
    if figure.goal is not None:
        found.append(_reaches(ours.median(figure), figure.goal, figure.more_is_better))
    if figure.share is not None:
        found.append(_reaches(ratio(ours, limit, figure) if limit else None, figure.share, more_is_better=True))
    return all(found) if found else None


def _reaches(value: float | None, goal: float, more_is_better: bool) -> bool:
    if value is None:
        return False
    return value >= goal if more_is_better else value <= goal


def champion(standings: Sequence[Standing]) -> Standing:
    """The one that goals are for: the first of ours."""
    return next(each for each in standings if each.role == US)


def best(standings: Sequence[Standing], figure: Figure, role: str = PEER) -> Standing | None:
    """Who of a role has the best median."""
    ranked = [(median, each) for each in standings if each.role == role and (median := each.median(figure)) is not None]
    if not ranked:
        return None
    chosen = max if figure.more_is_better else min
    return chosen(ranked, key=lambda pair: pair[0])[1]
