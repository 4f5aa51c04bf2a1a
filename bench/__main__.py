"""`python -m bench WORKLOAD …`; `python -m bench all` holds every contest; `python -m bench` lists the workloads.

A workload that is a contest takes `--peers`, `--rounds`, `--quick` and `--into`. One that measures us alone on a store
takes `--store` and prints one JSON line; those that can do both are a contest where `--peers` is given.
"""

import argparse
import sys
from types import ModuleType

from bench import (
    api,
    burst,
    chains,
    constants,
    cron,
    growth,
    history,
    lake,
    latency,
    library,
    processes,
    simulate,
    stored,
    submit,
    sync,
)
from bench.contest import holding

# Contests in the order in which `all` holds them.
CONTESTS = {
    "burst": burst,
    "latency": latency,
    "submit": submit,
    "stored": stored,
    "cron": cron,
    "processes": processes,
    "api": api,
    "chains": chains,
    "history": history,
}
ALONE = {
    "constants": constants,
    "growth": growth,
    "lake": lake,
    "library": library,
    "simulate": simulate,
    "sync": sync,
}
STORES = ["sqlite", "postgres", "mariadb"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=(__doc__ or "").partition("\n\n")[2])
    chosen = parser.add_subparsers(required=True, metavar="WORKLOAD")
    every = chosen.add_parser("all", help="every contest, one after the other: `make bench`")
    every.add_argument("--only", metavar="A,B", help=f"of {', '.join(CONTESTS)}")
    holding.arguments(every)
    every.set_defaults(run=hold_all)
    for name, workload in sorted({**CONTESTS, **ALONE}.items()):
        one = chosen.add_parser(name, help=(workload.__doc__ or "").splitlines()[0])
        _add_options(one, name, workload)
    given = parser.parse_args()
    return int(given.run(given) or 0)


def hold_all(given: argparse.Namespace) -> int:
    names = given.only.split(",") if given.only else list(CONTESTS)
    if unknown := [name for name in names if name not in CONTESTS]:
        raise SystemExit(f"no such contest: {', '.join(unknown)}; there are: {', '.join(CONTESTS)}")
    workloads = [CONTESTS[name] for name in names]
    contests = [each for workload in workloads for each in workload.contests(_own_defaults(workload, given))]
    return 0 if holding.hold(contests, given) else 1


def _add_options(parser: argparse.ArgumentParser, name: str, workload: ModuleType) -> None:
    alone = getattr(workload, "run", None)
    if alone:
        parser.add_argument("--store", choices=[*STORES, *getattr(workload, "STORES", [])], default="sqlite")
    workload.arguments(parser)
    if name not in CONTESTS:
        parser.set_defaults(run=alone)
        return
    holding.arguments(parser)

    def run(given: argparse.Namespace) -> int:
        if alone and not given.peers:
            alone(given)
            return 0
        return 0 if holding.hold(workload.contests(given), given) else 1

    parser.set_defaults(run=run)


def _own_defaults(workload: ModuleType, given: argparse.Namespace) -> argparse.Namespace:
    """What the workload's own options are where only those of all contests were given."""
    parser = argparse.ArgumentParser()
    workload.arguments(parser)
    return argparse.Namespace(**{**vars(parser.parse_args([])), **vars(given)})


if __name__ == "__main__":
    sys.exit(main())
