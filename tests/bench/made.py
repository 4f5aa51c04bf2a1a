"""Contests and standings to test with."""

from collections.abc import Callable, Sequence

from bench.contest.contestant import LIMIT, PEER, US, Contest, Contestant, Figure, Figures
from bench.contest.results import Result
from bench.contest.standing import Standing

RATE = Figure(key="rate", title="fires a second", unit="/s", more_is_better=True, goal=1_000)
SPAN = Figure(key="span", title="lateness p99", unit="ms", more_is_better=False, goal=250)


def standing(name: str, role: str, *rates: float | None, key: str = "rate", problem: str = "") -> Standing:
    rounds: list[Figures | None] = [None if rate is None else {key: rate} for rate in rates]
    return Standing(name=name, role=role, rounds=rounds, problem=problem)


def contestant(name: str, measure: Callable[[], Figures], role: str = PEER) -> Contestant:
    return Contestant(name=name, role=role, measure=measure)


def contest(*contestants: Contestant, name: str = "W0-made") -> Contest:
    return Contest(name=name, title="W0: made up", figures=[RATE, SPAN], contestants=contestants)


def result(standings: Sequence[Standing] = (), name: str = "W0-made", quick: bool = False) -> Result:
    found = standings or (
        standing("waterclock", US, 1_200, 1_100, 1_300),
        standing("slow", PEER, 100, 110, 120),
        standing("fast", PEER, 600, 550, 325),
        standing("broken", PEER, None, None, None, problem="not done within 150 s"),
        standing("bare", LIMIT, 2_400, 2_200, 2_600),
    )
    return Result(
        name=name,
        title="W0: made up",
        figures=[RATE, SPAN],
        standings=found,
        rounds=3,
        ran_at="2026-11-17T04:00:00+00:00",
        load=(0.5, 1.25),
        machine={"cores": 2, "versions": {"asyncpg": "1"}},
        quick=quick,
    )
