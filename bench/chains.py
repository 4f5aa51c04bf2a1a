"""W8: 200 chains of 3 × 3 no-op steps due at one instant, until all have ended; beside bare runs of their program."""

import argparse
import asyncio
import dataclasses
import sys
from collections.abc import Sequence
from functools import partial

from bench.contest.contestant import PEER, US, Contest, Contestant, Figure, Figures
from bench.contest.entrants import MEMORY, REDIS, entrant, limit
from bench.harness import data_dir, store, waterclock
from bench.ours.chains import ChainWork, Shape
from bench.peers import trivial
from bench.peers.venvs import interpreter

NAME = "chains"
STORES = ("sqlite", "postgres")
COUNT, QUICK = 200, 10


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, help=f"of chains; default: {COUNT}")
    parser.add_argument("--env", default="python", help="what runs the program: `python` is warm; /usr/bin/python3")
    parser.add_argument("--stores", default=",".join(STORES), help="ours, the first for the goal; default: %(default)s")
    parser.add_argument("--lead-seconds", type=float, default=3.0, help="for creating the chains before they are due")


def contests(given: argparse.Namespace) -> Sequence[Contest]:
    count = given.count or (QUICK if given.quick else COUNT)
    shape = Shape(count=count, env=given.env)
    measures = {kind: partial(measure, kind, shape, given.lead_seconds) for kind in given.stores.split(",")}
    return [
        Contest(
            name="W8-chains",
            title=f"W8: {count} chains of {shape.levels} × {shape.steps} no-op steps due at one instant",
            figures=figures(),
            contestants=[
                *(Contestant(name=f"waterclock, {kind}", role=US, measure=one) for kind, one in measures.items()),
                *others(shape),
            ],
        )
    ]


def figures() -> list[Figure]:
    return [
        Figure(key="chains_per_second", title="chains a second", unit="/s", more_is_better=True),
        Figure(key="steps_per_second", title="steps a second", unit="/s", more_is_better=True),
        Figure(key="bare_per_second", title="the steps as bare runs", unit="/s", more_is_better=True),
        Figure(key="overhead_ms", title="overhead a step", unit="ms", more_is_better=False),
    ]


def others(shape: Shape) -> list[Contestant]:
    """A pool and a fork server run the steps alone, in any order; Celery's canvas minds the levels, as we do."""
    alone, pools = ("--count", str(shape.all_steps)), [sys.executable, "-m", "bench.peers.pools"]
    order = ("chains", "--count", str(shape.count))
    celery = entrant("celery + redis, chains of groups", PEER, _celery, *order, on=REDIS)
    pool = entrant("subprocess, 4 threads, steps alone", PEER, lambda: pools, "threads", *alone, on=MEMORY)
    forks = limit("bare fork server, steps alone", "bench.limits.scripts", "scripts", *alone, on=MEMORY)
    return [celery, *(dataclasses.replace(one, measure=partial(_as_chains, one, shape)) for one in (pool, forks))]


def measure(kind: str, shape: Shape, lead_seconds: float) -> Figures:
    """One round: the chains, then as many bare runs as they have steps, on the same engine."""
    with data_dir() as folder, store(kind, folder) as url:
        script = folder / "jobs" / "noop" / "step.py"
        script.parent.mkdir(parents=True)
        script.write_text(trivial.TEXT)
        settings = {"chains_jobfolder": folder / "jobs", "interpreters": f"{shape.env}={shape.env}"}
        with waterclock("engine", folder, url, **settings):
            work = ChainWork(shape=shape, url=url, script=script, lead_seconds=lead_seconds)
            return summed_up(shape, *asyncio.run(work.seconds()))


def summed_up(shape: Shape, chains: float, bare: float) -> Figures:
    """From the seconds that the chains took, and those of the bare runs."""
    return {
        "chains_per_second": shape.count / chains,
        "steps_per_second": shape.all_steps / chains,
        "bare_per_second": shape.all_steps / bare,
        "overhead_ms": 1e3 * (chains - bare) / shape.all_steps,
    }


def _as_chains(alone: Contestant, shape: Shape) -> Figures:
    rate = alone.measure()["runs_per_second"]
    return {"chains_per_second": rate / shape.each, "steps_per_second": rate}


def _celery() -> list[str]:
    return [str(interpreter("celery")), "-m", "bench.peers.celery_scripts"]
