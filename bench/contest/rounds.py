"""Everybody once per round, in turns; the order rotates, so that nobody always has the quiet minute."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from bench.contest.contestant import BenchProblem, Contest, Contestant, Figures
from bench.contest.standing import Standing
from bench.contest.wording import number

Said = Callable[[str], None]
T = TypeVar("T")


def aloud(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def compete(contest: Contest, rounds: int, say: Said = aloud) -> list[Standing]:
    """All rounds of a contest. Who fails is out from then on, with its words; the others go on."""
    standings = {each.name: Standing(name=each.name, role=each.role) for each in contest.contestants}
    for turn in range(rounds):
        for contestant in rotated(contest.contestants, turn):
            standing = standings[contestant.name]
            if standing.problem or turn >= (contestant.at_most or rounds):
                standing.rounds.append(None)
                continue
            began = time.monotonic()
            standing.rounds.append(_measured(contestant, standing))
            seconds = time.monotonic() - began
            where = f"{contest.name}, round {turn + 1} of {rounds}"
            say(f"{where}: {contestant.name}: {_seen(contest, standing)} [{seconds:.0f} s]")
    return list(standings.values())


def rotated(items: Sequence[T], turn: int) -> list[T]:
    """The same order, begun by another each time."""
    first = turn % len(items) if items else 0
    return [*items[first:], *items[:first]]


def _measured(contestant: Contestant, standing: Standing) -> Figures | None:
    try:
        return contestant.measure()
    except BenchProblem as problem:
        standing.problem = str(problem)
    except (Exception, SystemExit) as problem:  # whatever one of them raises, the others go on
        standing.problem = f"{type(problem).__name__}: {problem}"
    return None


def _seen(contest: Contest, standing: Standing) -> str:
    figures = standing.rounds[-1]
    if figures is None:
        return standing.problem.splitlines()[0]
    shown = (f"{each.title} {number(figures[each.key])} {each.unit}" for each in contest.figures if each.key in figures)
    return ", ".join(shown)
