"""W4: 100,000 (or 1,000,000) stored recurring schedules, 50 due at each whole second: lateness, CPU, memory.

Each contestant has a database server of its own for its round, filled in bulk by a process that ends before the
measured one starts, then vacuumed and analysed. CPU is that of the scheduler's process tree and of all processes of
the database, in the window alone, from /proc.
"""

import argparse
import asyncio
import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import asyncpg

from bench.contest.contestant import LIMIT, PEER, US, BenchProblem, Contest, Contestant, Figure, Figures
from bench.contest.program import figures_of
from bench.harness import ROOT
from bench.peers import quartz
from bench.peers.venvs import interpreter

NAME = "stored"
COUNT, SECONDS = 100_000, 60
QUICK_COUNT, QUICK_SECONDS = 5_000, 10
PATIENCE_SECONDS = 1_800  # for a fill, or for a run beyond its own time
FIGURES = (
    Figure(key="lateness_p50_ms", title="lateness p50", unit="ms", more_is_better=False, goal=6),
    Figure(key="lateness_p99_ms", title="lateness p99", unit="ms", more_is_better=False, goal=25),
    Figure(key="scheduler_cpu_percent", title="CPU of the scheduler", unit="%", more_is_better=False),
    Figure(key="database_cpu_percent", title="CPU of the database", unit="%", more_is_better=False),
    Figure(key="together_cpu_percent", title="CPU together", unit="%", more_is_better=False, goal=5),
    Figure(key="memory_mb", title="memory of the scheduler", unit="MB", more_is_better=False),
    Figure(key="not_begun", title="not begun 15 s after the window", unit="", more_is_better=False),
)
MANY = 1_000_000
P99_OF_MANY_MS = 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """How a contestant is started, and how long its filling takes for each schedule."""

    command: Sequence[str]
    durable: bool = True
    fill_us: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    count: int
    due: int
    seconds: int


def ours() -> Program:
    return Program(command=[sys.executable, "-m", "bench.ours.stored"], fill_us=130)


def bare() -> Program:
    return Program(command=[sys.executable, "-m", "bench.limits.stored"], fill_us=15)


def of_peer(name: str, size: Size, *, durable: bool = True) -> Figures:
    """Its venv is made when its turn comes: where that fails, it is its own row that says so."""
    command = [str(interpreter(name)), "-m", f"bench.peers.stored_{name}"]
    return measured(Program(command=command, durable=durable, fill_us=120), size)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, help=f"stored schedules: {COUNT:,}; 1,000,000 take minutes to fill")
    parser.add_argument("--due", type=int, default=50, help="at each whole second")
    parser.add_argument("--seconds", type=int, help=f"how long is measured: {SECONDS}")


def contests(given: argparse.Namespace) -> Sequence[Contest]:
    count, seconds = (QUICK_COUNT, QUICK_SECONDS) if getattr(given, "quick", False) else (COUNT, SECONDS)
    size = Size(count=given.count or count, due=given.due, seconds=given.seconds or seconds)
    in_memory = partial(of_peer, "apscheduler", size, durable=False)
    contestants = [
        Contestant(name="waterclock", role=US, measure=partial(measured, ours(), size)),
        Contestant(name="bare asyncpg", role=LIMIT, measure=partial(measured, bare(), size)),
        Contestant(name="APScheduler 3, PostgreSQL", role=PEER, measure=partial(of_peer, "apscheduler", size)),
        Contestant(name="APScheduler 3, memory", role=PEER, measure=in_memory),
        Contestant(name="Procrastinate, scheduled_at", role=PEER, measure=partial(of_peer, "procrastinate", size)),
        *quartz.contestants("W4", count=size.count, due=size.due, seconds=size.seconds),
    ]
    figures = [_goal_of_many(each) if size.count >= MANY else each for each in FIGURES]
    title = f"{size.count:,} stored schedules, {size.due} due at each second, {size.seconds} s"
    return [Contest(name=f"W4-stored-{size.count}", title=title, figures=figures, contestants=contestants)]


def _goal_of_many(figure: Figure) -> Figure:
    """The issue asks less of the 99th percentile with a million stored, and nothing of the median."""
    match figure.key:
        case "lateness_p99_ms":
            goal: float | None = P99_OF_MANY_MS
        case "lateness_p50_ms":
            goal = None
        case _:
            return figure
    return Figure(key=figure.key, title=figure.title, unit=figure.unit, more_is_better=False, goal=goal)


def measured(program: Program, size: Size) -> Figures:
    """One round: a server of its own, filled, then run."""
    if not program.durable:
        allowance = size.count * program.fill_us / 1e6
        return told(program, "run", size, base=int(time.time() + allowance) + 5)
    with filled(program, size, base=int(time.time() + _fill_seconds(program, size))) as store:
        return run(program, size, store)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A server with settings of its own, and what is stored on it."""

    size: Size
    settings: Sequence[str] = ()


def side_by_side(program: Program, sites: Sequence[Site]) -> list[Figures]:
    """All of them in one window, their instants spread over the second: what the machine does then, it does to all."""
    base = int(time.time() + sum(_fill_seconds(program, site.size) for site in sites))
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(len(sites)) as pool:
        stores = [
            stack.enter_context(filled(program, site.size, base=base + number / len(sites), settings=site.settings))
            for number, site in enumerate(sites)
        ]
        return list(pool.map(partial(run, program), [site.size for site in sites], stores))


def _fill_seconds(program: Program, size: Size) -> float:
    return 10 + size.count * program.fill_us / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    url: str
    postmaster: int
    base: float


@contextlib.contextmanager
def filled(program: Program, size: Size, *, base: float, settings: Sequence[str] = ()) -> Iterator[Filled]:
    sys.path.insert(0, str(ROOT))
    from tests.services.postgres import PostgresServer

    with PostgresServer(options=settings) as server, server.fresh_database() as url:
        assert server.pid is not None
        told(program, "fill", size, base=base, url=url)
        analysed(url)
        yield Filled(url=url, postmaster=server.pid, base=base)


def run(program: Program, size: Size, store: Filled) -> Figures:
    return told(program, "run", size, base=store.base, url=store.url, postmaster=store.postmaster)


def analysed(url: str) -> None:
    """What autovacuum would do at some time or other is done now: it is the same for all."""
    asyncio.run(_analyse(url))


async def _analyse(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("VACUUM ANALYZE", timeout=PATIENCE_SECONDS)
        await connection.execute("CHECKPOINT", timeout=PATIENCE_SECONDS)
    finally:
        await connection.close()


def told(program: Program, step: str, size: Size, *, base: float, url: str = "", postmaster: int = 0) -> Figures:
    """The line of figures that a program prints."""
    values = {"count": size.count, "due": size.due, "seconds": size.seconds, "base": base, "postmaster": postmaster}
    options = [part for name, value in values.items() for part in (f"--{name}", str(value))]
    try:
        return figures_of([*program.command, step, "--url", url, *options], PATIENCE_SECONDS + size.seconds)
    except BenchProblem as problem:
        raise BenchProblem(f"{step}: {problem}") from None
