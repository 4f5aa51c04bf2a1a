"""Holds contests; results and plots come into a folder after each, so that nothing is lost to the next."""

import argparse
import dataclasses
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.contest import machine, results, tables
from bench.contest.contestant import PEER, BenchProblem, Contest
from bench.contest.rounds import aloud, compete
from bench.contest.standing import champion, holds
from bench.harness import ROOT
from bench.peers.venvs import interpreter

RESULTS = ROOT / "bench/results"
ALL, NONE = "all", "none"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--peers", metavar="A,B|all|none", help="beside us and the limit; by how their names begin")
    parser.add_argument("--rounds", type=int, default=None, help="default: 3, with --quick 1")
    parser.add_argument("--quick", action="store_true", help="small counts and one round, for trying")
    parser.add_argument("--no-plots", action="store_true", help="tables alone: without matplotlib")
    parser.add_argument("--into", type=Path, default=RESULTS, metavar="FOLDER", help="default: bench/results")


def hold(contests: Sequence[Contest], given: argparse.Namespace) -> bool:
    """Whether we had figures in all of them; goals that are missed are told, and no failure."""
    if given.rounds is not None and given.rounds < 1:
        raise SystemExit(f"--rounds {given.rounds}: there must be one at least")
    _must_know(contests, given.peers or ALL)
    finished = []
    for contest in contests:
        finished.append(_held(with_peers(contest, given.peers or ALL), given))
    return all(finished)


def _must_know(contests: Sequence[Contest], chosen: str) -> None:
    """Before hours go by without the peer that was meant; one that takes part in some of them will do."""
    peers = sorted({each.name for contest in contests for each in contest.contestants if each.role == PEER})
    for name in () if chosen in (ALL, NONE) else chosen.split(","):
        if not any(each.lower().startswith(name.lower()) for each in peers):
            raise SystemExit(f"no peer's name begins with {name!r}; there are: {'; '.join(peers)}")


def with_peers(contest: Contest, chosen: str) -> Contest:
    """The same with the peers that were asked for; we and the limits always take part."""
    wanted = () if chosen == NONE else tuple(chosen.lower().split(","))
    keep = [
        each
        for each in contest.contestants
        if each.role != PEER or chosen == ALL or each.name.lower().startswith(wanted)
    ]
    return dataclasses.replace(contest, contestants=keep)


def _held(contest: Contest, given: argparse.Namespace) -> bool:
    rounds = contest.often * (given.rounds or (1 if given.quick else 3))
    aloud(f"{contest.name}: {contest.title}; {len(contest.contestants)} contestants, {rounds} rounds")
    described, before = machine.described(), machine.load()
    ran_at = datetime.now(UTC).isoformat(timespec="seconds")
    standings = compete(contest, rounds)
    load = (before, machine.load())
    result = results.result_of(
        contest, standings, rounds=rounds, ran_at=ran_at, load=load, machine=described, quick=given.quick
    )
    path = results.write(result, given.into)
    tables.write_tables(results.read_all(given.into), given.into)
    if not given.no_plots:
        _plot(path)
    _tell(result)
    return not champion(standings).problem


def _plot(path: Path) -> None:
    """By an interpreter that has matplotlib, which is no dependency of ours; without it there are tables alone."""
    try:
        command = [str(interpreter("plots")), "-m", "bench.contest.plots", str(path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            aloud(f"no plot: {done.stderr.strip().splitlines()[-1:]}")
    except (BenchProblem, subprocess.TimeoutExpired) as problem:
        aloud(f"no plot: {problem}")


def _tell(result: results.Result) -> None:
    print(tables.page(result), flush=True)
    for figure in result.figures:
        if (reached := holds(result.standings, figure)) is not None:
            print(f"goal, {figure.title}: {'holds' if reached else 'missed'}", file=sys.stderr, flush=True)
