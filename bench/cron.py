"""W5: what one next fire costs, of typical and of hard expressions; asked from moments spread through four years."""

import argparse
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bench.contest.contestant import PEER, US, Contest, Contestant, Figure, Figures
from bench.contest.program import figures_of
from bench.peers import quartz
from bench.peers.expressions import HARD, TYPICAL, Expression
from bench.peers.venvs import interpreter

NAME = "cron"
MOMENTS, QUICK = 400, 50
SPAN_SECONDS = 4 * 366 * 86_400
TYPICAL_GOAL, HARD_GOAL = 3.0, 8.0
PROGRAM = "bench.peers.next_fires"

Command = Callable[[Path], list[str]]  # what asks for the next fires of an order


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--moments", type=int, help=f"default: {MOMENTS}")


def contests(given: argparse.Namespace) -> Sequence[Contest]:
    moments = moments_of(given.moments or (QUICK if given.quick else MOMENTS))
    return [
        contest("typical", TYPICAL, moments, TYPICAL_GOAL),
        contest("hard", HARD, moments, HARD_GOAL),
    ]


def contest(kind: str, expressions: Sequence[Expression], moments: Sequence[int], goal: float) -> Contest:
    """The figure is the mean over what every library can say; then one for each expression."""
    mean = Figure(key="mean_us", title="a next fire, mean", unit="µs", more_is_better=False, goal=goal)
    each = [Figure(key=one.key, title=one.name, unit="µs", more_is_better=False) for one in expressions]
    entrants: list[tuple[str, str, str, Command]] = [
        ("waterclock", US, "waterclock", partial(_ours, "waterclock")),
        ("waterclock, in microseconds as the engine asks", US, "waterclock", partial(_ours, "engine")),
        ("quartz (Java, warm)", PEER, "quartz", _quartz),
        *((peer, PEER, peer, partial(_peer, peer)) for peer in ("croniter", "cronsim", "apscheduler")),
    ]
    return Contest(
        name=f"W5-cron-{kind}",
        title=f"W5: next fire of {kind} expressions, warm",
        figures=[mean, *each],
        contestants=[
            Contestant(name=name, role=role, measure=partial(measure, command, library, expressions, moments))
            for name, role, library, command in entrants
        ],
    )


def moments_of(count: int) -> list[int]:
    """The same in every run, in epoch seconds."""
    rng, start = random.Random(1), int(datetime(2024, 1, 1, tzinfo=UTC).timestamp())
    return [start + rng.randint(0, SPAN_SECONDS) for _ in range(count)]


def measure(command: Command, library: str, expressions: Sequence[Expression], moments: Sequence[int]) -> Figures:
    said = [one for one in expressions if one.text(library) is not None]
    with tempfile.TemporaryDirectory(prefix="waterclock-bench-") as folder:
        order = Path(folder) / "order"
        order.write_text(order_text(library, said, moments))
        found = figures_of(command(order))
    return summed_up(said, [found[str(place)] for place in range(len(said))])


def order_text(library: str, expressions: Sequence[Expression], moments: Sequence[int]) -> str:
    lines = [" ".join(map(str, moments)), *(f"{one.text(library)}\t{one.zone}" for one in expressions)]
    return "".join(f"{line}\n" for line in lines)


def summed_up(expressions: Sequence[Expression], costs: Sequence[float]) -> Figures:
    """By expression, and the mean of those that every library can say, so that means compare."""
    each = {one.key: cost for one, cost in zip(expressions, costs, strict=True)}
    return {"mean_us": statistics.mean(each[one.key] for one in expressions if one.shared), **each}


def _ours(face: str, order: Path) -> list[str]:
    return [sys.executable, "-m", PROGRAM, face, str(order)]


def _peer(library: str, order: Path) -> list[str]:
    return [str(interpreter("cron")), "-m", PROGRAM, library, str(order)]


def _quartz(order: Path) -> list[str]:
    return quartz.command("W5", {"order": str(order)})
