"""The tables of docs/scale.md: from the measured constants, the model and the last simulation; nothing by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bench.scale.constants import MEASURED, Constants, Cost
from bench.scale.mix import RUNS_A_DAY
from bench.scale.model import (
    LAPTOP,
    SERVER,
    Load,
    Machine,
    fires_per_second,
    need,
    shards,
    slots_for,
    tick_seconds,
    utilisation,
)
from waterclock.engine.ticker import BATCH

SIMULATED: Final = MEASURED.with_name("simulation.json")
STEPS: Final = tuple(
    Load(name=name, schedules=schedules, runs_a_day=RUNS_A_DAY * schedules)
    for name, schedules in (
        ("a laptop", 100),
        ("a team", 1e4),
        ("a company", 1e5),
        ("a large company", 1e6),
        ("a cloud's region", 1e7),
        ("a cloud", 1e8),
    )
)
COSTS: Final = {
    "fire": "fire a due schedule",
    "claim": "claim a run",
    "begin": "record that it began",
    "renew": "renew its lease",
    "end": "record its end",
    "prune": "delete it with its rows (where nothing is dropped)",
    "beat": "a heartbeat of a node",
    "start_call": "StartJobRun over HTTP",
    "read_call": "GetJobRun over HTTP",
}


def tables(constants: Constants, measured: Mapping[str, Any], simulated: Mapping[str, Any]) -> dict[str, str]:
    """By the name that the page has for each."""
    return {
        "costs": _costs(constants, measured),
        "sizes": _sizes(constants),
        "steps": _steps(constants),
        "needs": _needs(constants),
        "simulation": _simulation(simulated),
        "faults": _faults(simulated),
        "real": _real(simulated),
    }


def of_files(constants: Path = MEASURED, simulation: Path = SIMULATED) -> dict[str, str]:
    measured = json.loads(constants.read_text())
    return tables(Constants.of_json(measured["constants"]), measured, json.loads(simulation.read_text()))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float) -> str:
    """Three digits that count; large ones with M and B, and what is next to nothing as that."""
    if 0 < value < 0.001:
        return "< 0.001"
    for size, letter in ((1e9, " B"), (1e6, " M")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _costs(constants: Constants, measured: Mapping[str, Any]) -> str:
    rows = []
    for name, words in COSTS.items():
        cost: Cost = getattr(constants, name)
        fixed = f"{number(cost.python_us)} + {number(cost.database_us)}" if cost.python_us else "–"
        each = f"{number(cost.python_us_each)} + {number(cost.database_us_each)}" if cost.python_us_each else "–"
        rows.append([words, fixed, each, number(cost.wal_bytes_each) if cost.wal_bytes_each else "–"])
    head = ["what", "each transaction, µs of CPU: Python + database", "each row, µs: Python + database", "WAL, bytes"]
    load = " and ".join(f"{each:g}" for each in measured["load"])
    return f"{table(head, rows)}\n\n{measured['cores']} cores, load average {load} before and after."


def _sizes(constants: Constants) -> str:
    run_wal = sum(getattr(constants, name).wal_bytes_each for name in ("fire", "claim", "begin", "end"))
    rate = fires_per_second(constants, LAPTOP)
    rows = [
        ["a schedule: trigger, action, job, version, indexes", f"{number(constants.schedule_bytes)} bytes"],
        ["a run: run, attempt, ledger row, moves, indexes", f"{number(constants.run_bytes)} bytes"],
        ["WAL of a run from its fire to its end", f"{number(run_wal)} bytes"],
        ["CPU of a run from its fire to its end, Python + database", _cpu_of_run(constants)],
        ["a trivial Python program around it", f"{number(constants.program_us)} µs"],
        ["a small commit, p50 / p99", f"{constants.commit_ms:.3g} / {constants.commit_p99_ms:.3g} ms"],
        ["fires a second by one scheduler in a backlog", number(rate)],
        ["a transaction that fires 50", f"{1_000 * tick_seconds(constants, 50):.3g} ms"],
        [
            "connections: an engine process, an API process",
            f"{number(constants.connections_of_engine)}, {number(constants.connections_of_api)}",
        ],
    ]
    return table(["what", "measured"], rows)


def _cpu_of_run(constants: Constants) -> str:
    costs = [getattr(constants, name) for name in ("fire", "claim", "begin", "end")]
    python, database = (sum(getattr(cost, f"{who}_us_each") for cost in costs) for who in ("python", "database"))
    return f"{number(python)} + {number(database)} µs in batches of {BATCH // 2} and more"


def _steps(constants: Constants) -> str:
    rows = []
    for load in STEPS:
        for machine in (LAPTOP, SERVER) if load.schedules <= 1e6 else (SERVER,):
            rows.append(
                [
                    load.name,
                    number(load.schedules),
                    number(load.runs_a_day),
                    machine.name,
                    *_breaks(load, constants, machine),
                ]
            )
    head = ["", "schedules", "runs a day", "one shard is", "fullest", "then", "shards"]
    return table(head, rows)


def _breaks(load: Load, constants: Constants, machine: Machine) -> list[str]:
    found = utilisation(load, constants, machine)
    first, second = sorted(found, key=lambda name: -found[name])[:2]
    shown = (f"{name}: {_percent(found[name])}" for name in (first, second))
    return [*shown, str(shards(load, constants, machine))]


def _percent(share: float) -> str:
    return f"{100 * share:,.0f} %" if share >= 0.01 else "< 1 %"


def _needs(constants: Constants) -> str:
    rows = []
    for load in STEPS:
        found = need(load, constants)
        cores = (found.ticker_cores, found.database_cores, found.worker_cores, found.api_cores, found.program_cores)
        rates = (load.rate, load.worst_instant)
        rest = (found.wal_mb, 1_000 * found.disk_tb, slots_for(load))
        rows.append([load.name, *map(number, (*rates, *cores, *rest))])
    head = ["", "runs/s", "due at midnight", "cores: schedulers", "database", "workers", "API", "trivial programs"]
    return table([*head, "WAL, MB/s", "disk, GB", "slots"], rows)


def _simulation(simulated: Mapping[str, Any]) -> str:
    seen, formulas = simulated["healthy"], simulated["formulas"]
    words = {
        "database_percent": "the database's CPU, %",
        "tickers_percent": "the schedulers' time, %",
        "midnight_fired_seconds": "until the last of midnight is fired, s",
        "midnight_begun_seconds": "until the last of midnight has begun, s",
    }
    rows = [[words[key], f"{formulas[key]:g}", f"{seen[key]:g}"] for key in words]
    late = f"{seen['fire_p50_ms']:g} / {seen['fire_p99_ms']:g} / {seen['fire_most_ms']:g}"
    rows.append(["lateness of a fire, p50 / p99 / most, ms", "–", late])
    whole = simulated["whole"]
    told = (
        f"{number(whole['schedules'])} schedules on {simulated['shards']} shards, {simulated['hours']:g} hours: "
        f"{whole['due']:,.0f} instants due, {whole['fired']:,.0f} fired, {whole['skipped']:,.0f} skipped by the "
        f"misfire policy; {simulated['took_seconds']:g} s of real time, load average {simulated['load_average']:g}."
    )
    return f"{told}\n\n{table(['a shard', 'formulas', 'simulation'], rows)}"


def _faults(simulated: Mapping[str, Any]) -> str:
    names = {"0": "down for 10 minutes after 01:01", "1": "one of its schedulers lost in the burst, for 10 minutes"}
    rows = []
    for shard, seen in simulated["faulty"].items():
        late = f"{seen['fire_p99_ms'] / 1_000:,.3g} / {seen['fire_most_ms'] / 1_000:,.3g}"
        counts = [f"{seen[key]:,.0f}" for key in ("due", "fired", "skipped")]
        rows.append([names[str(shard)], *counts, late, f"{seen['midnight_fired_seconds']:g}"])
    return table(["fault of a shard", "due", "fired", "skipped", "late p99 / most, s", "midnight fired, s"], rows)


def _real(simulated: Mapping[str, Any]) -> str:
    rows = []
    for due, both in simulated["real"].items():
        real, virtual = both["real"], both["simulated"]
        cells = [
            f"{number(real[key])} / {number(virtual[key])}"
            for key in ("late_p50_ms", "late_p99_ms", "database_percent")
        ]
        rows.append([due, *cells, f"{both['load_average']:g}"])
    return table(
        ["due each second", "late p50, ms: real / virtual", "p99", "database, % of a core", "load average"], rows
    )
