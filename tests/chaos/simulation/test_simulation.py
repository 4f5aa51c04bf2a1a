"""A few stories in every test run; `make chaos` and `python -m tests.chaos.simulation` play them by the thousand."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

import pytest

from tests.chaos.simulation import mutants
from tests.chaos.simulation.actions import (
    Action,
    Boot,
    Crash,
    CutOff,
    Pass,
    Pause,
    Resume,
    Round,
    StartRun,
    StopRun,
    Story,
    Tick,
)
from tests.chaos.simulation.explore import explore
from tests.chaos.simulation.faces import Plan
from tests.chaos.simulation.nodes import MARGIN_SECONDS, TTL_SECONDS
from tests.chaos.simulation.party import Fault, What, When
from tests.chaos.simulation.play import play
from tests.chaos.simulation.served import served

SCHEDULER, WORKER = 0, 1
LOST: Final = Pass(TTL_SECONDS + MARGIN_SECONDS + 0.1)  # long enough for a lease to be over
EVERY_SECOND: Final = (Plan(jobs=("quick",), every_seconds=1),)


def told(*actions: Action, plans: tuple[Plan, ...] = ()) -> Story:
    return Story(schedulers=1, workers=1, plans=plans, actions=actions)


def at(number: int, what: What, when: When) -> tuple[Fault | None, ...]:
    """A fault at one of the calls of a round, counted from 0."""
    return (*[None] * number, Fault(what, when))


# What Hypothesis made of its first finds, and what makes an engine that is broken on purpose show itself.
STORIES: Final[dict[str, Story]] = {
    "a stop reaches a program whose start was never answered": told(
        StartRun(0, "endless"), Tick(0, "dispatcher", at(1, What.FAIL, When.AFTER))
    ),
    "a worker paused before it hands a program over does not start it after its lease": told(
        StartRun(0, "long"), Tick(0, "dispatcher", at(1, What.PAUSE, When.BEFORE)), LOST, Round(0), Resume(WORKER)
    ),
    "what was prepared and may run, because its start was never answered, is not failed": told(
        *(StartRun(0, "prepared"), Tick(0, "dispatcher", at(1, What.FAIL, When.AFTER))),
        *(Pass(2.6), Tick(0, "recorder"), Pass(0.1), Round(0)),
    ),
}
KILLERS: Final[dict[Callable[[], AbstractContextManager[None]], Story]] = {
    mutants.fires_and_advances_apart: told(
        *(Pass(1.0), Tick(0, "ticker", at(1, What.CRASH, When.BEFORE)), Boot(SCHEDULER), Pass(1.0), Round(0)),
        plans=EVERY_SECOND,
    ),
    mutants.rescues_at_once: told(
        *(StartRun(0, "endless"), Round(0), Pass(0.3), Crash(WORKER), Pass(TTL_SECONDS - 0.2), Tick(0, "rescuer")),
    ),
    mutants.ends_what_has_ended: told(
        *(StartRun(0, "quick"), Tick(0, "dispatcher"), Pass(0.3), Pause(WORKER), LOST, Tick(0, "rescuer")),
        *(Resume(WORKER), Tick(0, "recorder")),
    ),
    mutants.forgets_calls: told(StartRun(0, "quick", at(0, What.FAIL, When.AFTER)), StartRun(0, "quick")),
    mutants.counts_leases_from_the_answer: told(
        *(StartRun(0, "long"), Tick(0, "dispatcher", at(0, What.PAUSE, When.AFTER)), LOST, Tick(0, "rescuer")),
        *(Resume(WORKER), Pass(0.3)),
    ),
    mutants.renews_without_an_answer: told(StartRun(0, "endless"), Round(0), CutOff(WORKER), Round(0, more=8)),
    mutants.says_stopped_too_early: told(StartRun(0, "long"), Round(0), Pass(0.5), StopRun(0)),
}


def test_the_guarantee_holds_in_every_story() -> None:
    explored = explore(4)
    assert explored.runs > 100, "something happened in them"


def test_the_guarantee_holds_on_postgresql_too(postgres_url: str) -> None:
    story = told(*(Pass(1.0), Round(0), StartRun(0, "queued"), Crash(WORKER), LOST, Round(0)), plans=EVERY_SECOND)
    assert play(story, served(postgres_url)).faults == []


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_what_was_found_once_stays_mended(story: Story) -> None:
    assert play(story).faults == []


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda mutant: mutant.__name__)
def test_an_engine_that_is_broken_on_purpose_is_found(mutant: Callable[[], AbstractContextManager[None]]) -> None:
    assert play(KILLERS[mutant]).faults == []
    with mutant():
        assert play(KILLERS[mutant]).faults
