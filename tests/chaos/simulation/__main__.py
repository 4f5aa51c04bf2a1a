"""`python -m tests.chaos.simulation`: stories, for as long as it is told; the seed that it prints brings them back."""

import argparse
import secrets
import sys
from collections.abc import Sequence
from typing import Final

from tests.chaos.simulation.explore import explore
from tests.chaos.simulation.play import in_memory
from tests.chaos.simulation.served import served

SEEDS: Final = 1_000_000
ENOUGH: Final = 1_000_000  # rounds: the time is up before


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="of the first round; alone, this round is the only one")
    parser.add_argument("--seconds", type=float, help="how long, 60 unless a seed is given")
    parser.add_argument(
        "--store", help="the URL of a database to be emptied again and again, instead of SQLite in memory"
    )
    asked = parser.parse_args(arguments)
    number = secrets.randbelow(SEEDS) if asked.seed is None else asked.seed
    only_one = asked.seed is not None and asked.seconds is None
    print(f"seed {number}", flush=True)
    opened = served(asked.store) if asked.store else in_memory
    explored = explore(1 if only_one else ENOUGH, number=number, opened=opened, seconds=asked.seconds or 60.0)
    print(f"{explored.stories} stories with {explored.fires} fires and {explored.runs} runs: nothing was wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
