"""Several workers on one store, in a time that the test itself makes: who takes what, and when."""

import heapq
from collections.abc import AsyncIterator, Collection, Sequence
from typing import Any, cast

import pytest

from tests.engine.by_hand import PLACE
from waterclock import clock
from waterclock.domain.claim import Claimant, Claimed
from waterclock.domain.job import JobSpec
from waterclock.engine.dispatcher import POLL_SECONDS, Dispatcher
from waterclock.engine.turns import Turns
from waterclock.engine.work import StoreWork
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import jobs, nodes, starting

ALIVE_SECONDS = 3_600.0


class Hands:
    """What a worker holds: all that was handed to it, for ever."""

    def __init__(self, busy: int) -> None:
        self.busy = busy
        self.taken: list[int] = []

    def count(self, *, callables: bool) -> int:
        return self.busy + len(self.taken)

    def memory_mb(self) -> int:
        return 0

    def known(self) -> Collection[int]:
        return self.taken

    async def launch(self, claimed: Sequence[Claimed], asked_at: float) -> None:
        self.taken += [each.attempt.id for each in claimed]


class Cluster:
    """Each worker ticks when its rest is over; what happens when is the same each time."""

    def __init__(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self.database = database
        self.hands: dict[str, Hands] = {}
        self._dispatchers: dict[str, Dispatcher] = {}
        self._now = 1_000.0
        monkeypatch.setattr(clock, "monotonic", lambda: self._now)

    async def join(self, name: str, slots: int, busy: int = 0, **record: Any) -> None:
        hands = self.hands[name] = Hands(busy)
        self._dispatchers[name] = Dispatcher(
            StoreWork(self.database),
            cast(Any, hands),
            Claimant(node=name, host=name),
            queues=("default",),
            slots=slots,
            callables=False,
            ttl_seconds=60,
            turns=Turns(alive_seconds=ALIVE_SECONDS),
        )
        told = {"id": name, "host": name, "name": name, "duties": ("worker",), "slots": slots, "version": "1", "pid": 1}
        node = nodes.Node(**{**told, "queues": ("default",), **record})
        for _ in range(2):  # the first beat says that it is there, the next how it is
            await self.database.write(nodes.beat, node=node, wall_us=0, pulse=nodes.Pulse(running=busy))

    async def ask(self, count: int) -> None:
        request = starting.RunRequest(job_name="job")
        await self.database.write(starting.start_runs, **PLACE, requested_by="ann", requests=[request] * count)

    async def run(self, seconds: float = 1.0) -> float:
        """All of them are woken at once; when the last one took something, in seconds from then."""
        began = last = self._now
        turns = [(self._now, name) for name in self._dispatchers]
        while turns and turns[0][0] <= began + seconds:
            self._now, name = heapq.heappop(turns)
            had = len(self.hands[name].taken)
            rest = await self._dispatchers[name].tick()
            last = self._now if len(self.hands[name].taken) > had else last
            heapq.heappush(turns, (self._now + rest, name))
        return last - began

    def taken(self) -> list[int]:
        return [len(hands.taken) for hands in self.hands.values()]


@pytest.fixture
async def database(sqlite_url: str) -> AsyncIterator[Database]:
    database = database_from_url(sqlite_url)
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
async def cluster(database: Database, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    spec = JobSpec(kind="shell", max_concurrent=0)
    await database.write(jobs.create_job, **PLACE, name="job", owner="ann", spec=spec, definition={}, tags={})
    return Cluster(database, monkeypatch)


@pytest.mark.parametrize(("slots", "count"), [(10, 30), (10, 12), (64, 30)])
async def test_runs_spread_over_equal_workers(cluster: Cluster, slots: int, count: int) -> None:
    for name in ("a", "b", "c"):
        await cluster.join(name, slots)
    await cluster.run()
    await cluster.ask(count)
    await cluster.run()
    taken = cluster.taken()
    assert sum(taken) == count
    assert max(taken) <= 2 * min(taken)


async def test_a_single_run_goes_to_the_idle_worker(cluster: Cluster) -> None:
    await cluster.join("a busy one", 10, busy=9)
    await cluster.join("an idle one", 10)
    await cluster.run()
    await cluster.ask(1)
    await cluster.run()
    assert cluster.taken() == [0, 1]


async def test_a_worker_alone_waits_for_nobody(cluster: Cluster) -> None:
    await cluster.join("a", 10, busy=5)
    await cluster.run()
    await cluster.ask(5)
    assert await cluster.run() == 0
    assert cluster.taken() == [5]


async def test_what_was_left_to_others_that_do_not_come_is_taken_within_half_a_second(cluster: Cluster) -> None:
    await cluster.join("a", 20)
    await cluster.run()
    gone = nodes.Node(id="gone", host="gone", name="gone", duties=("worker",), slots=60, version="1", pid=1)
    await cluster.database.write(nodes.beat, node=gone, wall_us=0)
    await cluster.run(2 * POLL_SECONDS)  # it hears of the one that is gone
    await cluster.ask(12)
    assert 0 < await cluster.run() < 0.5
    assert cluster.taken() == [12]


async def test_where_there_is_enough_for_all_nobody_waits(cluster: Cluster) -> None:
    for name in ("a", "b"):
        await cluster.join(name, 10)
    await cluster.run()
    await cluster.ask(50)
    assert await cluster.run() == 0
    assert cluster.taken() == [10, 10]
