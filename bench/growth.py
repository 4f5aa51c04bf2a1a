"""How cost grows: W1 at 1×, 10×, 100× of what is due and of what is stored beside it, W4 at 1×, 10×, 100× stored.

CPU per due fire is what tells: it does not grow with what is stored, or something goes through what is stored. W4 is
measured twice: as PostgreSQL comes, where a million schedules are ten times its memory, and where it has room for all.
This machine's hours differ by a third, so the windows of W4 are one: all sizes side by side, on servers of their own.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.contest.contestant import BenchProblem, Figures
from bench.contest.program import figures_of
from bench.contest.rounds import aloud, rotated
from bench.contest.wording import number
from bench.harness import ROOT
from bench.peers.venvs import interpreter
from bench.stored import Site, Size, analysed, ours, side_by_side

NAME = "growth"
RESULTS = ROOT / "bench" / "results"
STEPS = (1, 10, 100)
DUE_EACH_SECOND = 50  # of W4
PATIENCE_SECONDS = 900
ROOMY = ("shared_buffers=3GB",)  # a million schedules with their indexes are 2 GB
STORED = {"W4, stored": (), "W4, stored, all in the database's memory": ROOMY}
SHOWN = {
    "cpu_us_per_fire": "CPU per due fire, µs",
    "lateness_p50_ms": "lateness p50, ms",
    "lateness_p99_ms": "lateness p99, ms",
}
Points = Sequence[tuple[int, Sequence[Figures]]]  # of each size what each round found
Series = Mapping[str, Points]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--due", type=int, default=500, help="W1: due at one instant, at 1×")
    parser.add_argument("--stored", type=int, default=10_000, help="W4, and beside W1: stored, at 1×")
    parser.add_argument("--seconds", type=int, default=60, help="of W4's window")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--into", type=Path, default=RESULTS / "growth.json")


def run(given: argparse.Namespace) -> None:
    _must_make_sense(given)
    load = [os.getloadavg()[0]]
    beside = [given.stored * step for step in STEPS]
    sizes = [Size(count=count, due=DUE_EACH_SECOND, seconds=given.seconds) for count in beside]
    found: Series = {
        "W1, due": bursts({given.due * step: (given.due * step, 0) for step in STEPS}, given.rounds),
        "W1, stored beside": bursts({count: (10 * given.due, count) for count in beside}, given.rounds),
        **windows(sizes, given.rounds),
    }
    load.append(os.getloadavg()[0])
    report = {"workload": NAME, "load": [round(each, 2) for each in load], "rounds": given.rounds, "series": found}
    given.into.parent.mkdir(parents=True, exist_ok=True)
    given.into.write_text(json.dumps(report, indent=1) + "\n")
    given.into.with_suffix(".md").write_text(page(found, given.rounds, report["load"]))
    print(json.dumps(report), flush=True)
    _draw(given.into)


def _must_make_sense(given: argparse.Namespace) -> None:
    """Before half an hour goes by."""
    for name in ("rounds", "due", "seconds"):
        if vars(given)[name] < 1:
            raise SystemExit(f"--{name} {vars(given)[name]}: there must be one at least")
    least = DUE_EACH_SECOND * given.seconds
    if given.stored < least or given.stored % DUE_EACH_SECOND:
        raise SystemExit(
            f"--stored {given.stored}: {DUE_EACH_SECOND} are due in each of {given.seconds} seconds, so give "
            f"a multiple of {DUE_EACH_SECOND}, at least {least}"
        )


def bursts(work: Mapping[int, tuple[int, int]], rounds: int) -> Points:
    """W1 for each size with what is due and what is beside it, in turns."""
    seen: dict[int, list[Figures]] = {size: [] for size in work}
    for turn in range(rounds):
        for size, (due, beside) in rotated(list(work.items()), turn):
            seen[size].append(_said(f"W1, {due:,} due, {beside:,} beside", burst(due, beside)))
    return list(seen.items())


def burst(due: int, beside: int) -> Figures:
    """One round of W1 through the library on a server of its own."""
    sys.path.insert(0, str(ROOT))
    from tests.services.postgres import PostgresServer

    program = [sys.executable, "-m", "bench.ours.growing_burst"]
    with PostgresServer() as server, server.fresh_database() as url:
        options = [f"--url={url}", f"--due={due}", f"--beside={beside}", f"--postmaster={server.pid}"]
        at = figures_of([*program, "fill", *options], PATIENCE_SECONDS)["at"]
        analysed(url)
        return figures_of([*program, "run", *options, f"--at={at:.0f}"], PATIENCE_SECONDS)


def windows(sizes: Sequence[Size], rounds: int) -> Series:
    """W4 of all sizes side by side, on stores that nobody has used: in one that rested there would be a backlog."""
    places = [(name, size) for name in STORED for size in sizes]
    seen: dict[str, dict[int, list[Figures]]] = {name: {size.count: [] for size in sizes} for name in STORED}
    for turn in range(rounds):
        order = rotated(places, turn)
        aloud(f"W4, round {turn + 1} of {rounds}: filling {len(order)} stores takes some minutes ...")
        found = side_by_side(ours(), [Site(size=size, settings=STORED[name]) for name, size in order])
        for (name, size), figures in zip(order, found, strict=True):
            seen[name][size.count].append(_said(f"{name}: {size.count:,}", figures))
    return {name: list(each.items()) for name, each in seen.items()}


def _said(what: str, figures: Figures) -> Figures:
    aloud(f"{what}: {figures}")
    return figures


def page(series: Series, rounds: int, load: object) -> str:
    """A row a size: medians of the rounds, and in brackets from the least to the most of them."""
    lines = [
        "# How cost grows",
        "",
        f"`python -m bench growth --rounds {rounds}`; load average before and after: {load}.",
        "",
        f"| work | how many | {' | '.join(SHOWN.values())} |",
        f"|---|---|{'---|' * len(SHOWN)}",
    ]
    for name, points in series.items():
        for size, seen in points:
            cells = (_spread([each[key] for each in seen]) for key in SHOWN)
            lines.append(f"| {name} | {size:,} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "![CPU and lateness by size](growth.svg)", ""])


def _spread(values: Sequence[float]) -> str:
    least, middle, most = (number(each) for each in (min(values), statistics.median(values), max(values)))
    return middle if least == most else f"{middle} ({least}–{most})"


def _draw(path: Path) -> None:
    try:
        command = [str(interpreter("plots")), "-m", "bench.contest.growth_plot", str(path)]
        subprocess.run(command, check=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"})
    except (BenchProblem, subprocess.CalledProcessError) as problem:
        print(f"no plot: {problem}", file=sys.stderr)
