"""Stop, finish and rescue at the same moment: one of them decides, and what is stored is what happened."""

import asyncio
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, TypeVar

import httpx

from tests.chaos.cluster import Cluster, cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.one_host import define_job
from tests.stores.world import World as Desk
from waterclock.domain.moment import Moment
from waterclock.domain.run import ENDED, Attempt, RunState
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.reading import transitions_after

T = TypeVar("T")

RACES: Final = 1_000
AT_ONCE: Final = 20
RESCUES: Final = 2
WITHIN_SECONDS: Final = 0.06  # about what all of them together take
FAR_US: Final = 1_000_000_000  # past every lease
FINISHING: Final = 30  # programs that are stopped about when they end
LOST: Final = 20  # and whose worker is silent meanwhile, until their leases are over
BODY: Final = "import random\ntime.sleep(random.uniform(*{range}))"


@scenario(20, "stop, finish and rescue raced 1,000 times", stores=("postgres", "mariadb", "sqlite"))
def run(world: World) -> Result:
    with cluster(world, schedulers=1, workers=1) as made:
        api = made.api
        define_job(made, api, "short", BODY.format(range=(0.0, 0.5)))
        define_job(made, api, "long", BODY.format(range=(2.0, 5.0)))
        finished = _stopped_as_they_finish(api)
        lost = _stopped_as_they_are_lost(made, api)
        made.quiet()
        _check_processes(made, [*finished, *lost])
        result = made.result(made.history(perhaps=_asked(made), failed={}))
        states = Counter(made.stored().values())
    raced, seconds = asyncio.run(_race(world))
    notes = {
        "real processes": ", ".join(f"{count} {state}" for state, count in sorted(states.items())),
        "raced in the store": ", ".join(f"{count} {state}" for state, count in sorted(raced.items())),
        "seconds for those": f"{seconds:.1f}",
    }
    return replace(result, runs=result.runs + raced.total(), notes={**result.notes, **notes})


# In the store


async def _race(world: World) -> tuple[Counter[str], float]:
    """Each of a few connections does one thing to the same attempts, all at once."""
    began = time.monotonic()
    opened = [database_from_url(world.url) for _ in range(4)]
    for database in opened:
        await database.open()
    worker, caller, other, rescuer = map(Desk, opened)
    rescuer.database.offset_us = FAR_US
    states: dict[int, str] = {}
    try:
        await worker.job("raced", max_concurrent=0)
        for _ in range(RACES // AT_ONCE):
            states |= await _batch(worker, (caller, other), rescuer)
        terminal = await _terminal_moves(worker.database)
    finally:
        for database in opened:
            await database.close()
    wrong = {key: terminal.get(key) for key, state in states.items() if terminal.get(key) != [state]}
    assert not wrong, f"decided more than once, or otherwise than it stands there: {wrong}"
    return Counter(states.values()), time.monotonic() - began


async def _batch(worker: Desk, callers: Sequence[Desk], rescuer: Desk) -> dict[int, str]:
    await worker.start("raced", AT_ONCE)
    attempts = [each.attempt for each in await worker.claim()]
    assert len(attempts) == AT_ONCE, f"{len(attempts)} were claimed"
    await worker.begin(*attempts[::2])
    ended, rescued, _ = await asyncio.gather(
        asyncio.gather(*(_soon(worker.end(each)) for each in attempts)),
        asyncio.gather(*(_soon(rescuer.rescue(margin=0)) for _ in range(RESCUES))),
        asyncio.gather(*(_soon(callers[number % 2].stop(each.wire_id)) for number, each in enumerate(attempts))),
    )
    told = Counter(attempt_id for ids in (*ended, *rescued) for attempt_id in ids)
    assert told == Counter({each.id: 1 for each in attempts}), f"not decided by exactly one: {told}"
    saved: frozenset[int] = frozenset().union(*rescued)
    return {each.id: await _state(worker, each, rescued=each.id in saved) for each in attempts}


async def _soon(work: Awaitable[T]) -> T:
    """Within a few milliseconds: sometimes one is first, sometimes another, often nobody knows."""
    await asyncio.sleep(random.uniform(0, WITHIN_SECONDS))
    return await work


async def _state(worker: Desk, attempt: Attempt, *, rescued: bool) -> str:
    """What was told to whoever decided is what stands there."""
    found = (await worker.attempt(attempt.wire_id)).state
    allowed = (RunState.FAILED, RunState.STOPPED) if rescued else (RunState.SUCCEEDED,)
    assert found in allowed, f"{attempt.wire_id} is {found}, and was {'rescued' if rescued else 'ended'}"
    return found


async def _terminal_moves(database: Database) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for each in await database.read(transitions_after, org_id=1, seq=0, limit=1_000_000):
        for attempt_id, _, to, _ in each.moves:
            if to in ENDED:
                found.setdefault(attempt_id, []).append(to)
    return found


# With programs


def _stopped_as_they_finish(api: httpx.Client) -> list[str]:
    def one(_: int) -> str:
        (run_id,) = _started(api, "short", 1)
        _stop(api, run_id, random.uniform(0, 0.5))
        return run_id

    with ThreadPoolExecutor(max_workers=6) as pool:
        return list(pool.map(one, range(FINISHING)))


def _stopped_as_they_are_lost(made: Cluster, api: httpx.Client) -> list[str]:
    """Worker and supervisor say nothing until about the moment at which their runs are decided for them."""
    runs = _started(api, "long", LOST)
    worker = made.workers[0]
    _until_begun(made, runs)
    silent = [worker.pid, *worker.supervisors()]
    for pid in silent:
        os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(max_workers=LOST) as pool:
        stops = [pool.submit(_stop, api, run_id, random.uniform(2.5, 4.5)) for run_id in runs[::2]]
        time.sleep(random.uniform(3.3, 4.0))
        for pid in silent:
            os.kill(pid, signal.SIGCONT)
        for each in stops:
            each.result()
    return runs


def _started(api: httpx.Client, job: str, count: int) -> list[str]:
    return [api.post("/runs", json={"job": job}).raise_for_status().json()["id"] for _ in range(count)]


def _until_begun(made: Cluster, runs: Sequence[str]) -> None:
    deadline = time.monotonic() + 20
    while not set(runs) <= {mark.run for mark in made.marks()}:
        assert time.monotonic() < deadline, "not all began"
        time.sleep(0.02)


def _stop(api: httpx.Client, run_id: str, after_seconds: float) -> None:
    time.sleep(after_seconds)
    answer = api.post(f"/runs/{run_id}/stop")
    assert answer.status_code in (200, 202), f"{answer.status_code} {answer.text}"


def _check_processes(made: Cluster, runs: Sequence[str]) -> None:
    """Nothing writes a mark after its end was stored; what succeeded came to its end (the checker holds it to that)."""
    ended = {row["wire_id"]: row for row in made.ask("SELECT wire_id, state, ended_at FROM attempts")}
    assert set(runs) <= set(ended), "a run is not in the store"
    for mark in made.marks():
        row = ended[mark.run]
        assert mark.at <= row["ended_at"], f"{mark} wrote {mark.event} after it was {row['state']}"
    moves = asyncio.run(_moves_of(made.url))
    twice = {attempt: found for attempt, found in moves.items() if len(found) != 1}
    assert not twice, f"decided more than once: {twice}"
    assert len(moves) == len(ended), "one was never decided"


async def _moves_of(url: str) -> dict[int, list[str]]:
    database = database_from_url(url)
    await database.open()
    try:
        return await _terminal_moves(database)
    finally:
        await database.close()


def _asked(made: Cluster) -> dict[str, list[Moment]]:
    """The moments of the calls; what was stopped before it began is not lost."""
    found: dict[str, list[Moment]] = {}
    for row in made.ask("SELECT job_name, run_at FROM runs"):
        found.setdefault(row["job_name"], []).append(row["run_at"])
    return found
