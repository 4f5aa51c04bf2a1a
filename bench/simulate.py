"""100 M schedules and 1 B runs a day over sharded stores on a virtual clock, with faults, beside the model's formulas.

`--real` runs a small shard on this machine, too, and the same one on the virtual clock.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from bench.harness import ROOT, data_dir
from bench.scale.cluster import MIDNIGHT_US, Seen, Story, simulate, together
from bench.scale.constants import Constants, measured
from bench.scale.model import SERVER, Load, fires_per_second, need, seconds_to_begin_all, shards
from bench.scale.real_shard import real, simulated
from bench.scale.shard import Outage, SchedulerLost
from waterclock.domain.moment import SECOND

NAME = "simulate"
RESULT = ROOT / "bench" / "results" / "simulation.json"
MINUTE = 60 * SECOND


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schedules", type=float, default=1e8)
    parser.add_argument("--runs-a-day", type=float, default=1e9)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--shards", type=int, help="else as many as the model asks for")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", action="store_true", help="also a small shard on this machine")
    parser.add_argument("--into", type=Path, default=RESULT)


def run(given: argparse.Namespace) -> None:
    constants = measured()
    load = Load(name="simulated", schedules=given.schedules, runs_a_day=given.runs_a_day)
    story = story_of(load, constants, given.shards or shards(load, constants, SERVER), given.hours, given.seed)
    seen, took = simulate(story, given.processes)
    report = {"workload": NAME, "took_seconds": round(took, 1), "load_average": round(os.getloadavg()[0], 2)}
    report |= told(story, seen)
    report["real"] = _real(constants) if given.real else _real_before(given.into)
    given.into.parent.mkdir(parents=True, exist_ok=True)
    given.into.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report), flush=True)


def _real_before(path: Path) -> Any:
    """What the last run on this machine has found, where there was one: it takes minutes."""
    return json.loads(path.read_text()).get("real", {}) if path.exists() else {}


def story_of(load: Load, constants: Constants, count: int, hours: float, seed: int) -> Story:
    """Shard 0 is down for ten minutes after one o'clock; shard 1 loses a scheduler in the burst at midnight."""
    down = Outage(begin_us=MIDNIGHT_US + 61 * MINUTE, end_us=MIDNIGHT_US + 71 * MINUTE)
    lost = SchedulerLost(at_us=MIDNIGHT_US + 2 * SECOND, back_us=MIDNIGHT_US + 10 * MINUTE)
    return Story(
        load=load,
        shards=count,
        machine=SERVER,
        constants=constants,
        seconds=round(hours * 3_600),
        seed=seed,
        faults={0: [down], 1: [lost]} if count > 2 else {},
    )


def told(story: Story, seen: list[Seen]) -> dict[str, Any]:
    """The shards without a fault, by the simulation and by the formulas; then those that had one."""
    healthy = together([each for number, each in enumerate(seen) if number not in story.faults])
    part = story.load.part(story.shards)
    asked = need(part, story.constants)
    return {
        "shards": story.shards,
        "hours": story.seconds / 3_600,
        "whole": _figures(together(seen)),
        "healthy": _figures(healthy),
        "formulas": {
            "database_percent": round(100 * asked.database_cores / story.machine.database_cores, 2),
            "tickers_percent": round(100 * asked.ticker_cores / story.machine.schedulers, 2),
            "midnight_fired_seconds": round(part.worst_instant / fires_per_second(story.constants, story.machine), 1),
            "midnight_begun_seconds": round(seconds_to_begin_all(part, story.slots), 1),
        },
        "faulty": {number: _figures(seen[number]) for number in story.faults},
    }


def _figures(seen: Seen) -> dict[str, float]:
    return {
        "schedules": seen.schedules,
        "due": seen.due,
        "fired": seen.fired,
        "skipped": seen.skipped,
        "ended": seen.ended,
        "database_percent": round(100 * seen.database, 2),
        "tickers_percent": round(100 * seen.tickers, 2),
        "fire_p50_ms": round(1_000 * seen.fire_late.quantile(0.5), 1),
        "fire_p99_ms": round(1_000 * seen.fire_late.quantile(0.99), 1),
        "fire_most_ms": round(1_000 * seen.fire_late.most, 1),
        "midnight_fired_seconds": round(seen.seconds_to_fire_all, 1),
        "begin_p50_seconds": round(seen.begin_late.quantile(0.5), 2),
        "midnight_begun_seconds": round(seen.begin_late.most, 1),
    }


def _real(constants: Constants) -> dict[str, Any]:
    sys.path.insert(0, str(ROOT))
    from tests.services.postgres import PostgresServer

    found = {}
    for due in (50, 500):
        with PostgresServer() as server, server.fresh_database() as url, data_dir() as folder:
            found[str(due)] = {
                "real": real(url, server.pid, folder, due),
                "simulated": simulated(constants, due),
                "load_average": round(os.getloadavg()[0], 2),
            }
    return found
