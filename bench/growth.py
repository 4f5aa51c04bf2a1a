"""How cost grows: W1 at 1×, 10×, 100× of what is due and of what is stored beside it, W4 at 1×, 10×, 100× stored.

CPU per due fire is what tells: it does not grow with what is stored, or something goes through what is stored.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.contest.contestant import BenchProblem, Figures
from bench.contest.program import figures_of
from bench.harness import ROOT
from bench.peers.venvs import interpreter
from bench.stored import Size, analysed, measured, ours

NAME = "growth"
RESULTS = ROOT / "bench" / "results"
STEPS = (1, 10, 100)
PATIENCE_SECONDS = 900
Series = Mapping[str, Sequence[tuple[int, Figures]]]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--due", type=int, default=500, help="W1: due at one instant, at 1×")
    parser.add_argument("--stored", type=int, default=10_000, help="W4, and beside W1: stored, at 1×")
    parser.add_argument("--seconds", type=int, default=30, help="of W4 at each size")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--into", type=Path, default=RESULTS / "growth.json")


def run(given: argparse.Namespace) -> None:
    load = [os.getloadavg()[0]]
    sizes = {step: given.stored * step for step in STEPS}
    work: dict[str, dict[int, Callable[[], Figures]]] = {
        "W1, due": {given.due * step: partial(burst, given.due * step, 0) for step in STEPS},
        "W1, stored beside": {size: partial(burst, 10 * given.due, size) for size in sizes.values()},
        "W4, stored": {
            size: partial(measured, ours(), Size(count=size, due=50, seconds=given.seconds)) for size in sizes.values()
        },
    }
    found: dict[str, list[tuple[int, Figures]]] = {}
    for name, each in work.items():
        for size, one in each.items():
            found.setdefault(name, []).append((size, _median(one, given.rounds)))
            print(f"{name} {size:,}: {found[name][-1][1]}", file=sys.stderr, flush=True)
    load.append(os.getloadavg()[0])
    report = {"workload": NAME, "load": [round(each, 2) for each in load], "rounds": given.rounds, "series": found}
    given.into.parent.mkdir(parents=True, exist_ok=True)
    given.into.write_text(json.dumps(report, indent=1) + "\n")
    given.into.with_suffix(".md").write_text(page(found, report["load"]))
    print(json.dumps(report), flush=True)
    _draw(given.into)


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


def _median(measure: Callable[[], Figures], rounds: int) -> Figures:
    found = [measure() for _ in range(rounds)]
    return {name: round(statistics.median(each[name] for each in found), 2) for name in found[0]}


def page(series: Series, load: object) -> str:
    lines = ["# How cost grows", "", f"`python -m bench growth`; load average before and after: {load}.", ""]
    lines += [
        "| work | how many | CPU per due fire, µs | lateness p50, ms | lateness p99, ms |",
        "|---|---|---|---|---|",
    ]
    for name, points in series.items():
        for size, seen in points:
            shown = (seen[key] for key in ("cpu_us_per_fire", "lateness_p50_ms", "lateness_p99_ms"))
            lines.append(f"| {name} | {size:,} | {' | '.join(f'{value:,.1f}' for value in shown)} |")
    return "\n".join([*lines, "", "![CPU and lateness by size](growth.svg)", ""])


def _draw(path: Path) -> None:
    try:
        command = [str(interpreter("plots")), "-m", "bench.contest.growth_plot", str(path)]
        subprocess.run(command, check=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"})
    except (BenchProblem, subprocess.CalledProcessError) as problem:
        print(f"no plot: {problem}", file=sys.stderr)
