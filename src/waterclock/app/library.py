"""The composition root of the library: the engine of one job store, inside the program that uses it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from waterclock.app.library_worker import LibraryWorker, StoreOptions, node_record
from waterclock.app.submitting import Begun, Submitting
from waterclock.domain.claim import Claimant, Claimed, Taker
from waterclock.domain.library import RULES, ToRun
from waterclock.domain.moment import Moment
from waterclock.engine.heartbeat import Heartbeat
from waterclock.engine.loop import Loop
from waterclock.engine.membership import StoreMembership
from waterclock.engine.node import Node
from waterclock.engine.pruner import FIRST_SECONDS, Pruner
from waterclock.engine.rescuer import Rescuer
from waterclock.engine.ticker import Ticker
from waterclock.engine.work import StoreWork, Work
from waterclock.executors.base import BaseExecutor
from waterclock.faces.library.keeping import Keeper
from waterclock.faces.library.telling import Telling
from waterclock.stores.base import Database, Topic
from waterclock.stores.ops.nodes import TOLERATED_SKEW_US

LONG_REST_SECONDS: Final = 3600.0
MARGIN_SECONDS: Final = 5.0
GLANCE_SECONDS: Final = 0.001
GLANCES: Final = 25  # without any progress: the calls are long, and nobody waits for them


class LibraryTaking:
    """The scheduler's own hand: what it takes for the workers has its node, so that no claim of theirs is mistaken."""

    def __init__(
        self, work: Work, node: str, host: str, workers: Mapping[str, LibraryWorker], options: StoreOptions
    ) -> None:
        self._work = work
        self._node = node
        self._host = host
        self._workers = workers
        self._ttl_seconds = options.lease_seconds
        self.at_rest: Callable[[], AbstractAsyncContextManager[None]] = nullcontext  # nobody else takes by this hand

    def takers(self) -> Mapping[str, Taker]:
        return {
            worker.queue: Taker(node=self._node, host=self._host, room=room, ttl_seconds=self._ttl_seconds)
            for worker in tuple(self._workers.values())
            if (room := worker.room()) > 0
        }

    async def ready(self, room: int) -> None:
        workers = tuple(self._workers.values())
        ended, idle = sum(worker.ended() for worker in workers), 0
        while sum(worker.room() for worker in workers) < room and idle < GLANCES:
            await asyncio.sleep(GLANCE_SECONDS)
            now = sum(worker.ended() for worker in workers)
            ended, idle = now, idle + 1 if now == ended else 0

    def prepare(self, claimed: Sequence[Claimed]) -> None:
        workers = {worker.queue: worker for worker in self._workers.values()}
        for each in claimed:
            if worker := workers.get(each.spec.queue):
                worker.prepare(each)

    def begin(self, claimed: Sequence[Claimed], asked_at: float) -> bool:
        worker = next((each for each in tuple(self._workers.values()) if each.queue == claimed[0].spec.queue), None)
        if worker is None:
            return False
        with worker.turn:
            return worker.begin(claimed, asked_at)

    async def taken(self, claimed: Sequence[Claimed], asked_at: float) -> None:
        left = list(claimed)
        for worker in tuple(self._workers.values()):
            mine = [each for each in left if each.spec.queue == worker.queue]
            left = [each for each in left if each.spec.queue != worker.queue]
            if mine:
                await worker.launch(mine, asked_at)
        if left:  # their executor was removed meanwhile
            await self._work.unbundle([each.lone for each in left if each.lone])
            await self._work.release(self._node, [each.attempt.id for each in left])

    async def give_back(self) -> None:
        async with self.at_rest():
            workers = tuple(self._workers.values())
            claimant = Claimant(node=self._node, host=self._host, queues=tuple(worker.queue for worker in workers))
            await self._work.give_back(claimant, frozenset().union(*(worker.known() for worker in workers)))


class PausableTicker:
    """The engine's ticker, unless it is told to rest."""

    name = "ticker"

    def __init__(self, ticker: Ticker, *, paused: bool) -> None:
        self._ticker = ticker
        self.paused = paused
        self.wake: Callable[[], None] = lambda: None

    @property
    def in_backlog(self) -> bool:
        return self._ticker.in_backlog and not self.paused

    def doubt(self) -> None:
        self._ticker.doubt()
        self.wake()

    async def tick(self) -> float:
        if not self.paused:
            return await self._ticker.tick()
        await self._ticker.settle()
        return LONG_REST_SECONDS


class StoreEngine:
    """Fires the jobs of one store, and runs them on each of the program's executors. Lives in the engine's loop."""

    def __init__(self, database: Database, keeper: Keeper, telling: Telling, options: StoreOptions) -> None:
        self._database = database
        self._keeper = keeper
        self._telling = telling
        self._options = options
        self._host = str(uuid.uuid4())  # its calls die with the process: no other may adopt them
        self._workers: dict[str, LibraryWorker] = {}
        self._node_id = node_id = str(uuid.uuid4())
        self._node = Node(StoreMembership(database), node_id)
        rules = {options.namespace: RULES}
        taking = LibraryTaking(StoreWork(database), node_id, self._host, self._workers, options)
        ticker = Ticker(
            database,
            rules,
            ticker=options.namespace,
            fired=telling.fired,
            taking=taking if options.shared else None,
        )
        self._ticker = PausableTicker(ticker, paused=False)
        self._ticking: Loop = self._node.add(self._ticker, Topic.TRIGGERS)
        self._ticker.wake = self._ticking.wake
        self._beating: Heartbeat | None = None
        self._submitting: Submitting | None = None
        if options.shared:
            self._submitting = Submitting(database, options.namespace, taking, self._ticker, telling)
            taking.at_rest = self._submitting.at_rest
            every = options.lease_seconds / 3
            record = node_record(node_id, self._host, "scheduler", slots=0)
            self._beating = Heartbeat(StoreMembership(database), record, every_seconds=every)
            self._node.add(self._beating)
            rescuer = Rescuer(
                database,
                margin_seconds=min(MARGIN_SECONDS, every),
                every_seconds=every,
                rules=rules,
                namespace=options.namespace,
            )
            self._node.add(rescuer)
            pruner = Pruner(database, keep_days=options.keep_days, yields_to_server=True)
            self._node.add(pruner, after_seconds=FIRST_SECONDS)

    async def open(self, *, paused: bool) -> None:
        """Serve the store: what is due is fired from now on, and what was missed is decided."""
        self._ticker.paused = paused
        if self._beating:
            await self._beating.tick()
        await self._node.start()

    async def close(self, *, wait: bool) -> None:
        """Nothing fires any more; then each executor's calls end, or go back where they have not begun.

        What nobody shares nobody else would run: of that nothing goes back.
        """
        await self._ticking.stop()
        try:
            if self._submitting:
                await self._submitting.close()
            leaving = (self.leave(alias, wait=wait or not self._options.shared) for alias in list(self._workers))
            await asyncio.gather(*leaving)
            await self._node.stop()
        finally:
            await self._database.close()

    def pause(self, paused: bool) -> None:
        """From any thread. A round that is under way is not stopped; who ends a pause wakes the engine, too."""
        self._ticker.paused = paused

    def wake(self) -> None:
        self._ticking.wake()

    def worker(self, queue: str) -> LibraryWorker | None:
        """From any thread: where what is asked for there would begin at once."""
        workers = [worker for worker in tuple(self._workers.values()) if worker.queue == queue and worker.room() > 0]
        return workers[0] if workers and not self._ticker.paused else None

    async def submit(self, calls: Sequence[ToRun], run_at: Moment, *, held: bool) -> Begun | None:
        """None, and nothing was done, where they are to be scheduled like others.

        They are due by this host's clock: where that is not the store's, the store decides when it is time.
        """
        submitting = self._submitting_in_time()
        return await submitting.submit(calls, run_at, held=held) if submitting else None

    def submit_here(self, calls: Sequence[ToRun], run_at: Moment) -> Begun | None:
        """As `submit`, for another thread than the loop's, and in it; None also where it is to ask the loop."""
        submitting = self._submitting_in_time()
        return submitting.submit_here(calls, run_at) if submitting else None

    def _submitting_in_time(self) -> Submitting | None:
        is_in_time = self._beating is not None and abs(self._beating.skew_us) <= TOLERATED_SKEW_US
        return self._submitting if is_in_time else None

    def gone(self, names: Sequence[str]) -> None:
        self._telling.gone(names)

    def is_calling(self) -> bool:
        """Whether it is a job of this store that asks."""
        return any(worker.is_calling() for worker in tuple(self._workers.values()))

    async def serve(self, alias: str, executor: BaseExecutor) -> None:
        """From now on run what waits for an executor of this name."""
        worker = LibraryWorker(
            self._database,
            self._keeper,
            self._telling,
            self._options,
            host=str(uuid.uuid4()),  # its own: what the other workers run is not for this one to adopt
            scheduler=self._node_id,
            alias=alias,
            executor=executor,
            urgent=lambda: self._ticker.in_backlog,
        )
        self._workers[alias] = worker
        await worker.open()

    async def leave(self, alias: str, *, wait: bool) -> None:
        if worker := self._workers.pop(alias, None):
            await worker.close(wait=wait)
