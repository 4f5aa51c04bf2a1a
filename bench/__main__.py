"""`python -m bench WORKLOAD [--store sqlite|postgres|mariadb] …`; `python -m bench` lists the workloads."""

import argparse
import sys

from bench import api, burst, chains, constants, growth, lake, latency, library, processes, simulate, sync

WORKLOADS = {
    "api": api,
    "burst": burst,
    "chains": chains,
    "constants": constants,
    "growth": growth,
    "lake": lake,
    "latency": latency,
    "library": library,
    "processes": processes,
    "simulate": simulate,
    "sync": sync,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Prints one JSON line per workload.")
    chosen = parser.add_subparsers(required=True, metavar="WORKLOAD")
    for name, workload in WORKLOADS.items():
        one = chosen.add_parser(name, help=(workload.__doc__ or "").splitlines()[0])
        one.add_argument(
            "--store", choices=["sqlite", "postgres", "mariadb", *getattr(workload, "STORES", [])], default="sqlite"
        )
        workload.arguments(one)
        one.set_defaults(run=workload.run)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    sys.exit(main())
