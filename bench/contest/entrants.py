"""Contestants that are programs: each round in a process of its own, on a store that nobody has used before."""

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence

from bench.contest.contestant import LIMIT, PEER, US, Contestant, Figures
from bench.contest.program import TIMEOUT_SECONDS, figures_of
from bench.harness import data_dir, store
from bench.peers.redis import redis
from bench.peers.venvs import interpreter

Command = Callable[[], Sequence[str]]  # asked for when its turn comes: what it needs is installed then

MEMORY = "memory"
REDIS = "redis"
POSTGRES = "postgres"


def ours(name: str, module: str, *order: str, on: str = POSTGRES) -> Contestant:
    return entrant(name, US, lambda: [sys.executable, "-m", module], *order, on=on)


def limit(name: str, module: str, *order: str, on: str = POSTGRES) -> Contestant:
    return entrant(name, LIMIT, lambda: [sys.executable, "-m", module], *order, on=on)


def peer(name: str, package: str, *order: str, on: str = POSTGRES) -> Contestant:
    """`bench/peers/PACKAGE.py`, run by the interpreter of its own venv."""
    return entrant(name, PEER, lambda: [str(interpreter(package)), "-m", f"bench.peers.{package}"], *order, on=on)


def entrant(
    name: str, role: str, command: Command, *order: str, on: str, timeout_seconds: float = TIMEOUT_SECONDS
) -> Contestant:
    """`order` is the workload and its arguments; the URL of the store comes behind, but for what needs none."""

    def measure() -> Figures:
        wanted = [*command(), *order]
        with fresh_store(on) as url:
            return figures_of([*wanted, *(["--url", url] if url else [])], timeout_seconds)

    return Contestant(name=name, role=role, measure=measure)


def seldom(contestants: Sequence[Contestant]) -> list[Contestant]:
    """The first of them once, for a round of its takes minutes; the others as often as everybody."""
    first, *others = contestants
    return [dataclasses.replace(first, at_most=1), *others]


@contextlib.contextmanager
def fresh_store(kind: str) -> Iterator[str]:
    """The URL of an empty store, real and with a server of its own; "" for the memory of a process."""
    if kind == MEMORY:
        yield ""
        return
    with data_dir() as folder, redis() if kind == REDIS else store(kind, folder) as url:
        yield url
