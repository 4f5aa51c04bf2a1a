"""25: the cluster in one process on a clock of its own: pauses, crashes and lost answers at every call to the store."""

import secrets
from typing import Final

from tests.chaos.scenario import Result, World, scenario
from tests.chaos.simulation.explore import explore
from tests.chaos.simulation.mutants import SOON_FOUND
from tests.chaos.simulation.play import in_memory
from tests.chaos.simulation.served import served
from waterclock.chaos.checker import History, check

SEEDS: Final = 1_000_000
SECONDS: Final = {"sqlite": 30.0, "postgres": 15.0}
ROUNDS: Final = 10_000
MUTANT_ROUNDS: Final = 40


@scenario(25, "simulated cluster: pauses, crashes, lost answers", stores=("sqlite", "postgres"), short=True)
def run(world: World) -> Result:
    number = secrets.randbelow(SEEDS)
    opened = in_memory if world.store == "sqlite" else served(world.url)
    explored = explore(ROUNDS, number=number, opened=opened, seconds=SECONDS[world.store] * world.seconds_scale)
    notes = {"seed": str(number), "stories": str(explored.stories)}
    if world.store == "sqlite":
        notes["broken engines found"] = f"{_found(number)} of {len(SOON_FOUND)}"
    nothing = check(History(marks=(), read_at=0))  # what is wrong has been raised
    return Result(fires=explored.fires, runs=explored.runs, findings=nothing, notes=notes)


def _found(number: int) -> int:
    """Of the engines that are broken on purpose; one that is not found shows that the stories prove too little."""
    for mutant in SOON_FOUND:
        with mutant():
            try:
                explore(MUTANT_ROUNDS, number=number, shorten=False)
            except AssertionError:
                continue
        raise AssertionError(f"an engine that {mutant.__name__.replace('_', ' ')} was not found (seed {number})")
    return len(SOON_FOUND)
