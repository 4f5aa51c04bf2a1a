"""The values of a contest: who takes part, what is measured of them, and what the goal is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Figures = Mapping[str, float]  # by figure's key, of one round

US = "us"
PEER = "peer"
LIMIT = "limit"


class BenchProblem(Exception):
    """A contestant could not be measured; its words are what the table shows for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What is measured."""

    key: str  # "fires_per_second"
    title: str  # "fires a second"
    unit: str  # "/s", "ms", "µs", "%", "MB"
    more_is_better: bool
    goal: float | None = None  # the issue's, for us
    share: float | None = None  # likewise: how much of what the limit reaches in the same rounds, 0.9 for nine tenths


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """Somebody who does the work: one call of `measure` is one round, and leaves nothing behind."""

    name: str  # "waterclock", "quartz, batch 100", "bare asyncpg"
    role: str  # "us", "peer" or "limit"
    measure: Callable[[], Figures]  # raises BenchProblem with words when it cannot
    at_most: int | None = None  # rounds, where one takes minutes


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The same work for all contestants; the first of those who are "us" is the one that goals are for."""

    name: str  # file name of its results: "W1-burst-5000"
    title: str
    figures: Sequence[Figure]  # the first is the one that ratios and the plot's order are about
    contestants: Sequence[Contestant]
    often: int = 1  # rounds for each that was asked for: where one takes seconds, and the goal is finer than the noise
