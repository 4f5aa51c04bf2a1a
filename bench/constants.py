"""What one fire, run, call and program cost on this machine: the constants of docs/scale.md, in a few small runs."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from bench.harness import ROOT, data_dir
from bench.scale.constants import MEASURED
from bench.scale.process_costs import call_costs, program_costs
from bench.scale.store_costs import store_costs

NAME = "constants"
STATISTICS = "shared_preload_libraries=pg_stat_statements"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=6_000, help="schedules that are fired, claimed, ended and pruned")
    parser.add_argument("--into", type=Path, default=MEASURED)


def run(given: argparse.Namespace) -> None:
    load = [os.getloadavg()[0]]
    constants = _measured(given.count)
    load.append(os.getloadavg()[0])
    found = {"cores": os.cpu_count(), "load": [round(each, 2) for each in load], "count": given.count}
    given.into.parent.mkdir(parents=True, exist_ok=True)
    given.into.write_text(json.dumps({**found, "constants": rounded(constants)}, indent=1) + "\n")
    print(json.dumps({"workload": NAME, **found, **rounded(constants)}), flush=True)


def _measured(count: int) -> dict[str, Any]:
    sys.path.insert(0, str(ROOT))
    from tests.services.postgres import PostgresServer

    with PostgresServer(options=[STATISTICS]) as server:
        with server.fresh_database() as url:
            found = store_costs(url, server.pid, count)
        with server.fresh_database() as url, data_dir() as folder:
            found |= call_costs(url, server.pid, folder)
        with server.fresh_database() as url, data_dir() as folder:
            return found | program_costs(url, folder)


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return round(value, 2)
