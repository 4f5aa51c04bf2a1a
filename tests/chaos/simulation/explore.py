"""Looks for a story that breaks the guarantee; what Hypothesis finds it makes as short as it can."""

import math
import time
from dataclasses import dataclass
from typing import Final

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.chaos.simulation.actions import STORIES, Story
from tests.chaos.simulation.play import Opened, Played, in_memory, play

STORIES_A_ROUND: Final = 10  # after these Hypothesis begins to vary what it had, which finds less


@dataclass(slots=True)
class Explored:
    """How much was tried."""

    stories: int = 0
    fires: int = 0
    runs: int = 0

    def add(self, played: Played) -> None:
        self.stories += 1
        self.fires += played.fires
        self.runs += played.runs


def explore(
    rounds: int, *, number: int = 0, opened: Opened = in_memory, seconds: float = math.inf, shorten: bool = True
) -> Explored:
    """So many rounds, or as many as there is time for; `number` chooses the first, and the same number the same ones.

    AssertionError with the faults, and with the story that leads to them, at the first that is found.
    """
    explored, until = Explored(), time.monotonic() + seconds
    for each in range(number, number + rounds):
        try:
            _round(each, explored, opened, shorten=shorten)
        except AssertionError as fault:
            fault.add_note(f"Found in round {each}: python -m tests.chaos.simulation --seed {each}")
            raise
        if time.monotonic() > until:
            break
    return explored


def _round(number: int, explored: Explored, opened: Opened, *, shorten: bool) -> None:
    def holds(story: Story) -> None:
        played = play(story, opened)
        explored.add(played)
        assert not played.faults, "\n".join([*played.faults, *map(repr, (*story.plans, *story.actions))])

    settings(
        max_examples=STORIES_A_ROUND,
        database=None,
        deadline=None,
        phases=[Phase.generate, *([Phase.shrink] if shorten else [])],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )(seed(number)(given(story=STORIES)(holds)))()
