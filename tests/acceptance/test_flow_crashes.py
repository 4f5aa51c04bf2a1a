"""Chains of conditions while the engine is killed -9 every two seconds: every edge is taken, and none twice.

On a busy machine an engine may need longer than that to start: one that has brought no run to its end yet is let live.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest

from tests.acceptance.server import Server, until
from tests.stores.flowing import AT_ONCE, Flowing
from tests.stores.raw import rows
from waterclock.stores.opening import database_from_url

CHAINS = 500  # of each sort
STEPS = ("one", "two", "three", "four", "five")
EVERY_SECONDS = 2.0
LIVE = "('WAITING', 'STARTING', 'RUNNING', 'STOPPING')"


@pytest.mark.chaos
def test_a_thousand_chains_take_every_edge_once_while_the_engine_is_killed(durable_url: str, tmp_path: Path) -> None:
    """Half of them are runs of one workflow, half are triggers outside one. A run whose worker was killed is tried
    again (MaxRetries), and moves its chain once: by its last attempt."""
    server = Server(tmp_path, durable_url, callables="bench.noop:noop", lease_seconds=3, heartbeat_seconds=0.7)
    try:
        server.start()
        url = durable_url or f"sqlite:///{server.data}/waterclock.db"
        with _killing(server, url) as kills:
            asyncio.run(_start(url))
            until(lambda: asyncio.run(_is_over(url)), "the chains have not ended", seconds=150)
        assert kills, "nothing was killed"
        asyncio.run(_check(url))
    finally:
        server.stop()
        server.kill_everything()


@contextmanager
def _killing(server: Server, url: str) -> Iterator[list[float]]:
    kills: list[float] = []
    enough = threading.Event()

    def kill() -> None:
        succeeded = 0
        while not enough.wait(EVERY_SECONDS):
            now = asyncio.run(_succeeded(url))
            if now == succeeded:
                continue
            with suppress(ValueError):  # it is just being started again
                server.kill("engine")
                kills.append(time.monotonic())
                succeeded = now

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield kills
    finally:
        enough.set()
        thread.join()


async def _start(url: str) -> None:
    database = database_from_url(url)
    await database.open()
    world = Flowing(database)
    await world.flow()
    noop = {"kind": "callable", "script": "bench.noop:noop", "queue": "callables", "retries": 1_000}
    for step in STEPS:
        for name in (f"in-{step}", f"out-{step}"):
            await world.job(name, **noop)
    await world.begins(f"in-{STEPS[0]}", name="in-start")
    await world.begins(f"out-{STEPS[0]}", name="out-start", flow=None)
    for before, after in pairwise(STEPS):
        await world.then(f"in-{after}", f"in-{after}", on={f"in-{before}": "SUCCEEDED"})
        await world.then(f"out-{after}", f"out-{after}", on={f"out-{before}": "SUCCEEDED"}, flow=None)
    for _ in range(CHAINS):
        await world.start_flow()
        await world.start_trigger("out-start", AT_ONCE)
    await database.close()


async def _succeeded(url: str) -> int:
    """How many attempts have done so thus far."""
    (found,) = await rows(url, "SELECT COUNT(*) AS n FROM attempts WHERE state = 'SUCCEEDED'")
    return int(found["n"])


async def _is_over(url: str) -> bool:
    await asyncio.sleep(0.3)
    (left,) = await rows(
        url,
        f"SELECT (SELECT COUNT(*) FROM runs WHERE state IN {LIVE})"
        " + (SELECT COUNT(*) FROM flow_runs WHERE state = 'RUNNING') AS live",
    )
    return int(left["live"]) == 0


async def _check(url: str) -> None:
    ended = await rows(url, "SELECT job_name, state, COUNT(*) AS n FROM runs GROUP BY job_name, state")
    assert {(row["job_name"], row["state"]): row["n"] for row in ended} == {
        (f"{sort}-{step}", "SUCCEEDED"): CHAINS for sort in ("in", "out") for step in STEPS
    }
    flows = await rows(url, "SELECT state, COUNT(*) AS n FROM flow_runs GROUP BY state")
    assert [(row["state"], row["n"]) for row in flows] == [("COMPLETED", CHAINS)]
    nodes = await rows(url, "SELECT flow_run_id, COUNT(DISTINCT run_id) AS n FROM flow_nodes GROUP BY flow_run_id")
    assert Counter(row["n"] for row in nodes) == {len(STEPS): CHAINS}
    fires = await rows(url, "SELECT trigger_name, outcome, COUNT(*) AS n FROM fires GROUP BY trigger_name, outcome")
    names = ("out-start", *(f"out-{step}" for step in STEPS[1:]))
    assert {(row["trigger_name"], row["outcome"]): row["n"] for row in fires} == {
        (name, "FIRED"): CHAINS for name in names
    }
    doubled = await rows(
        url,
        "SELECT run_id FROM attempts WHERE state = 'SUCCEEDED' GROUP BY run_id HAVING COUNT(*) <> 1",
    )
    assert not doubled
