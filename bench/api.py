"""W7: Glue calls a second over 8 kept connections, signed and durable; the API alone, so that runs stay queued."""

import argparse
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import psutil

from bench.contest.contestant import LIMIT, PEER, US, Contest, Contestant, Figure, Figures
from bench.glue import calls
from bench.glue.servers import Kept, moto, ours, stub
from bench.harness import spread

NAME = "api"
ACTIONS = ("StartJobRun", "GetJobRun", "CreateJob")
GOAL, SHARE_GOAL = 2_500, 60  # of StartJobRun a second; of GetJobRun in percent of what the stub does
SECONDS, QUICK = 5.0, 1.0
STORES = ("postgres", "sqlite")
PROCESSES = 1  # as it comes: with 8 connections on two cores two do no more, for half as much CPU again
DATABASES = ("postgres", "mariadbd")

Server = Callable[[], AbstractContextManager[tuple[calls.Address, Kept]]]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stores", default=",".join(STORES), help="ours, the first for the goal; default: %(default)s")
    parser.add_argument(
        "--processes", type=int, default=PROCESSES, help="of ours and of the stub; default: %(default)s"
    )
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, help=f"of each contestant in each round; default: {SECONDS:g}")


def contests(given: argparse.Namespace) -> Sequence[Contest]:
    seconds = given.seconds or (QUICK if given.quick else SECONDS)
    stores = given.stores.split(",")
    works = [
        Work(action=action, connections=given.connections, processes=given.processes, seconds=seconds)
        for action in ACTIONS
    ]
    return [contest(work, stores) for work in works]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One action, called for so long over so many connections; the server has so many processes."""

    action: str
    connections: int
    processes: int
    seconds: float

    def measure(self, server: Server) -> Figures:
        """One round, after a fifth as long that does not count."""
        with server() as (address, kept):
            texts = calls.bodies(self.action, calls.prepare(address))
            ask = partial(calls.call, address, self.action, texts, connections=self.connections)
            warmed = ask(seconds=self.seconds / 5)
            before = _cpu_seconds()
            seen = ask(seconds=self.seconds, first=len(warmed.spans))
            used = [now - then for now, then in zip(_cpu_seconds(), before, strict=True)]
            started = len(warmed.spans) + len(seen.spans) if self.action == "StartJobRun" else 0
            kept.check(calls.RUNS + started)
        return _seen(seen, *used)

    def measure_beside_stub(self, server: Server) -> Figures:
        """Ours and, right after it, the stub: the goal is a share of it."""
        mine, bare = self.measure(server), self.measure(partial(stub, self.processes))
        return {**mine, "stub_percent": 100 * mine["calls_per_second"] / bare["calls_per_second"]}


def contest(work: Work, stores: Sequence[str]) -> Contest:
    several = f"{work.processes} API processes" if work.processes > 1 else "1 API process"
    measured = work.measure_beside_stub if work.action == "GetJobRun" else work.measure
    entrants: list[tuple[str, str, Callable[[Server], Figures], Server]] = [
        *((f"waterclock, {kind}", US, measured, partial(ours, kind, work.processes)) for kind in stores),
        ("moto_server (in memory, not durable)", PEER, work.measure, moto),
        ("bare Starlette + orjson stub", LIMIT, work.measure, partial(stub, work.processes)),
    ]
    return Contest(
        name=f"W7-api-{work.action}",
        title=f"W7: {work.action}, {work.connections} connections, {several}",
        figures=figures(work.action),
        contestants=[
            Contestant(name=name, role=role, measure=partial(measure, server))
            for name, role, measure, server in entrants
        ],
    )


def figures(action: str) -> list[Figure]:
    goal = GOAL if action == "StartJobRun" else None
    share = Figure(key="stub_percent", title="of the stub right after", unit="%", more_is_better=True, goal=SHARE_GOAL)
    return [
        Figure(key="calls_per_second", title="calls a second", unit="/s", more_is_better=True, goal=goal),
        *([share] if action == "GetJobRun" else []),
        Figure(key="p50_ms", title="p50", unit="ms", more_is_better=False),
        Figure(key="p99_ms", title="p99", unit="ms", more_is_better=False),
        Figure(key="server_us", title="CPU of the server a call", unit="µs", more_is_better=False),
        Figure(key="database_us", title="CPU of the database a call", unit="µs", more_is_better=False),
    ]


def _seen(made: calls.Calls, server_cpu: float, database_cpu: float) -> Figures:
    count, spans = len(made.spans), spread(made.spans)
    return {
        "calls_per_second": count / made.seconds,
        "p50_ms": 1e3 * spans["p50"],
        "p99_ms": 1e3 * spans["p99"],
        "server_us": 1e6 * server_cpu / count,
        **({"database_us": 1e6 * database_cpu / count} if database_cpu else {}),
    }


def _cpu_seconds() -> tuple[float, float]:
    """Of the server's processes and of the database's: all that we have started and that run."""
    server = database = 0.0
    for process in psutil.Process().children(recursive=True):
        used = process.cpu_times()
        if process.name() in DATABASES:
            database += used.user + used.system
        else:
            server += used.user + used.system
    return server, database
