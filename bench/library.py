"""A burst of due jobs through the library's scheduler, and through APScheduler 3's, in turns; one JSON line.

`python -m bench library [--jobs 10000] [--rounds 5] [--store memory|sqlite|postgres|mariadb]`. Each side runs in a
process of its own: BackgroundScheduler, thread pool of 10, N date jobs of one second ago, from `resume` until the last
of them has run. On a database APScheduler needs SQLAlchemy and a driver, which are no dependencies of ours:
`pip install sqlalchemy 'psycopg[binary]' pymysql`.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from bench.harness import ROOT, data_dir, report, store

STORES = ["memory"]
DRIVERS = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "mariadb": "mysql+pymysql"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(store="memory")
    parser.add_argument("--jobs", type=int, default=None, help="10,000 in memory, 1,000 in a database")
    parser.add_argument("--rounds", type=int, default=5)


def run(given: argparse.Namespace) -> None:
    jobs = given.jobs or (10_000 if given.store == "memory" else 1_000)
    rounds = [one_round(given.store, jobs) for _ in range(given.rounds)]
    ours, theirs = [each[0] for each in rounds], [each[1] for each in rounds]
    strict = burst("apscheduler", jobs, "", default_grace=True) if given.store == "memory" else None
    report(
        "library",
        store=given.store,
        jobs=jobs,
        rounds=given.rounds,
        fires_per_second=figures(ours, "fires_per_second"),
        apscheduler_fires_per_second=figures(theirs, "fires_per_second"),
        ratio=ratio(ours, theirs, "fires_per_second"),
        adds_per_second=figures(ours, "adds_per_second"),
        apscheduler_adds_per_second=figures(theirs, "adds_per_second"),
        adds_ratio=ratio(ours, theirs, "adds_per_second"),
        missed=sum(each["missed"] for each in ours),
        apscheduler_missed=sum(each["missed"] for each in theirs),
        apscheduler_missed_at_its_default_grace=strict and strict["missed"],
    )


def one_round(kind: str, jobs: int) -> tuple[dict[str, float], dict[str, float]]:
    """Each side on a store of its own, so that neither finds what the other left."""
    if kind == "memory":
        return burst("waterclock", jobs, ""), burst("apscheduler", jobs, "")
    with data_dir() as folder, store(kind, folder) as url:
        ours = burst("waterclock", jobs, url)
    with data_dir() as folder, store(kind, folder) as url:
        scheme, _, rest = url.partition("://")
        return ours, burst("apscheduler", jobs, f"{DRIVERS.get(scheme, scheme)}://{rest}")


def burst(package: str, jobs: int, url: str, *, default_grace: bool = False) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__).with_name("library_burst.py")), package, str(jobs), url]
    done = subprocess.run(
        [*command, "default" if default_grace else "generous"],
        capture_output=True,
        check=False,
        text=True,
        env={"PYTHONPATH": f"{ROOT}/src:{ROOT}/bench", "PATH": "/usr/bin:/bin"},
    )
    if done.returncode:
        raise SystemExit(f"{package} failed:\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def figures(rounds: list[dict[str, float]], name: str) -> list[int]:
    return sorted(round(each[name]) for each in rounds)


def ratio(ours: list[dict[str, float]], theirs: list[dict[str, float]], name: str) -> float:
    """The median of the rounds' own ratios: the machine is not the same from one round to the next."""
    return round(statistics.median(a[name] / b[name] for a, b in zip(ours, theirs, strict=True)), 2)
