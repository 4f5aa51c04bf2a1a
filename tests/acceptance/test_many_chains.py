"""Many chains of 3 levels × 3 steps due at one instant: every step once, in order, never too many at once."""

import asyncio
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from tests.acceptance.operating import WARM, Operator
from tests.acceptance.server import running, until
from tests.stores.raw import rows
from waterclock.domain.chain import ChainSpec, Step
from waterclock.domain.moment import seconds, to_datetime
from waterclock.stores.base import Tx
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.chains import create_chain

# 80 are fifteen times what there are slots for, at each level; 500 add no other case, and take half a minute.
FEW, MANY = 80, pytest.param(500, marks=pytest.mark.chaos)
LEVELS, STEPS = 3, 3
SLOTS = 16
BACK = timedelta(
    minutes=1
)  # they are defined as of then: their one instant lies ahead of each, however long that takes

# One line when it ends; a line is written whole, whoever else writes.
PROGRAM = """
import os, sys, time
began = time.monotonic()
time.sleep(0.03)
file = os.open({path!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
os.write(file, " ".join([*sys.argv[1:], repr(began), repr(time.monotonic())]).encode() + b"\\n")
"""


@dataclass(frozen=True, slots=True)
class Ran:
    chain: str
    level: int
    step: int
    began: float
    ended: float


@pytest.mark.parametrize("chains", [FEW, MANY])
def test_chains_due_at_once_run_every_step_once_and_in_order(tmp_path: Path, chains: int) -> None:
    programs = chains * LEVELS * STEPS
    evidence = tmp_path / "evidence"
    folder = tmp_path / "jobs" / "many"
    folder.mkdir(parents=True)
    (folder / "step.py").write_text(PROGRAM.format(path=str(evidence)))
    with running(tmp_path, worker_slots=SLOTS, **Operator.settings(tmp_path)) as server:
        url = f"sqlite:///{server.data}/waterclock.db"
        asyncio.run(_define(url, chains))
        until(lambda: evidence.exists() and evidence.read_bytes().count(b"\n") >= programs, "not all ran", seconds=120)
        until(lambda: asyncio.run(_states(url)) == {"COMPLETED": chains}, "not all were completed")
        asyncio.run(_check_ledger(url, chains))
    _check([_ran(line) for line in evidence.read_text().splitlines()], chains)


def _check(ran: list[Ran], expected: int) -> None:
    times = Counter((each.chain, each.level, each.step) for each in ran)
    assert len(times) == expected * LEVELS * STEPS
    assert set(times.values()) == {1}
    chains = defaultdict[str, list[Ran]](list)
    for each in ran:
        chains[each.chain].append(each)
    assert len(chains) == expected
    for name, mine in chains.items():
        mine.sort(key=lambda each: each.level)
        levels = [list(group) for _, group in groupby(mine, key=lambda each: each.level)]
        for before, after in pairwise(levels):
            last, first = max(each.ended for each in before), min(each.began for each in after)
            assert last <= first, f"{name}: level {after[0].level} began before {before[0].level} had ended"
    assert 1 < _most_at_once(ran) <= SLOTS


def _most_at_once(ran: list[Ran]) -> int:
    """From the moments at which one more or one less was there."""
    moments = sorted([(each.began, 1) for each in ran] + [(each.ended, -1) for each in ran])
    most = now = 0
    for _, change in moments:
        now += change
        most = max(most, now)
    return most


def _ran(line: str) -> Ran:
    chain, level, step, began, ended = line.split()
    return Ran(chain, int(level), int(step), float(began), float(ended))


async def _define(url: str, chains: int) -> None:
    database = database_from_url(url)
    database.offset_us = -seconds(BACK.total_seconds())
    await database.open()
    await database.write(_create, chains=chains)
    await database.close()


async def _create(tx: Tx, *, chains: int) -> None:
    """All in one transaction: none of them can be due before the others are there."""
    due = to_datetime(await tx.now()) + BACK
    timestr = due.strftime("%-S %-M %-H %-d %-m ? %Y")
    for number in range(chains):
        steps = tuple(
            Step(command=f"many/step.py;{number};{level};{step}", step_lvl=level, ottime=5, env=WARM)
            for level in range(LEVELS)
            for step in range(STEPS)
        )
        spec = ChainSpec(timestr=timestr, steps=steps)
        await create_chain(tx, org_id=1, owner="admin", spec=spec, probe_seconds=60)


async def _states(url: str) -> dict[str, int]:
    found = await rows(url, "SELECT state, COUNT(*) AS n FROM flow_runs GROUP BY state")
    return {row["state"]: row["n"] for row in found}


async def _check_ledger(url: str, chains: int) -> None:
    fires = await rows(
        url, "SELECT outcome, COUNT(*) AS n, COUNT(DISTINCT fire_at) AS instants FROM fires GROUP BY outcome"
    )
    assert [(row["outcome"], row["n"], row["instants"]) for row in fires] == [("FIRED", chains, 1)]
    (attempts,) = await rows(url, "SELECT COUNT(*) AS n, COUNT(DISTINCT run_id) AS runs FROM attempts")
    assert (attempts["n"], attempts["runs"]) == (chains * LEVELS * STEPS,) * 2
    (messages,) = await rows(url, "SELECT COUNT(*) AS n FROM messages")
    assert messages["n"] == 0
