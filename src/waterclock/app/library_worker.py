"""The engine's worker over one executor of the program: claims from the executor's queue, runs, records."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import threading
import uuid
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import waterclock
from waterclock import clock
from waterclock.domain.claim import Claimant, Claimed, Taker
from waterclock.domain.errors import CannotRun, Unavailable
from waterclock.domain.job import CALLABLE
from waterclock.domain.library import RULES, queue_of
from waterclock.engine.attempt import Attempts
from waterclock.engine.dispatcher import Dispatcher
from waterclock.engine.heartbeat import Heartbeat
from waterclock.engine.membership import StoreMembership
from waterclock.engine.node import Node
from waterclock.engine.stopper import Stopper
from waterclock.engine.work import StoreWork
from waterclock.executors.base import BaseExecutor
from waterclock.faces.library.keeping import Keeper
from waterclock.faces.library.pacing import PATIENCE_SECONDS, Pace
from waterclock.faces.library.programs import CallPreparation, CallProgram
from waterclock.faces.library.references import Unloadable
from waterclock.faces.library.runner import ExecutorRunner
from waterclock.faces.library.telling import Telling
from waterclock.stores.base import Database, Topic
from waterclock.stores.ops.library import quarantine
from waterclock.stores.ops.nodes import Node as NodeRecord

log: Final = logging.getLogger("waterclock.scheduler")

MOST_UNWRITTEN: Final = 15_000  # ends: what is fired at one instant goes before them
AGAIN_SECONDS: Final = 0.5
TURN_SECONDS: Final = 1.0  # a turn takes microseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """How a job store is served. `shared`: other processes may hold runs of it, so that there are leases to watch."""

    namespace: str
    shared: bool
    lease_seconds: float = 30.0
    keep_days: float = 30.0


def node_record(node_id: str, host: str, duty: str, *, slots: int, queues: tuple[str, ...] = ()) -> NodeRecord:
    return NodeRecord(
        id=node_id,
        host=host,
        name=socket.gethostname(),
        duties=(f"library:{duty}",),
        slots=slots,
        queues=queues,
        version=waterclock.__version__,
        pid=os.getpid(),
    )


class LibraryWorker:
    def __init__(
        self,
        database: Database,
        keeper: Keeper,
        telling: Telling,
        options: StoreOptions,
        *,
        host: str,
        scheduler: str,
        alias: str,
        executor: BaseExecutor,
        urgent: Callable[[], bool],
    ) -> None:
        self._database = database
        self._telling = telling
        self._options = options
        self._under_way: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self._is_closing = False
        self._taken: deque[tuple[Sequence[Claimed], float]] = deque()  # by other threads, not known to `_attempts` yet
        self.turn = threading.RLock()  # who holds it alone takes and begins: none of these overtakes another
        node_id = self._node_id = str(uuid.uuid4())
        self._node = Node(StoreMembership(database), node_id)
        self._runner = ExecutorRunner(executor, telling, self._give_back_what_waits, self._take_in)
        work = StoreWork(database, {options.namespace: RULES}, alone=True)
        self.queue = queue_of(options.namespace, alias)
        claimant = Claimant(node=node_id, host=host, queues=(self.queue,))
        pace = Pace(executor.max_workers, alone=not options.shared)
        self._preparation = CallPreparation(keeper, self._unloadable)
        self._attempts = Attempts(
            work,
            claimant,
            self._preparation,
            {CALLABLE: self._runner, "": self._runner},
            ttl_seconds=options.lease_seconds,
            freed=self._freed,
            urgent=urgent,
        )
        self._dispatcher = Dispatcher(
            work,
            self._attempts,
            claimant,
            queues=claimant.queues,
            slots=pace.slots,
            callables=True,
            ttl_seconds=options.lease_seconds,
            occupied=self._occupied,
        )
        self._pace = pace
        self.name = self._dispatcher.name
        self._node.add_worker(self._attempts, [self._dispatcher if options.shared else self])
        self._host = host
        self._any_thread = executor.any_thread
        self._beating: Heartbeat | None = None
        if options.shared:
            record = node_record(node_id, host, alias, slots=executor.max_workers, queues=claimant.queues)
            every = options.lease_seconds / 3
            self._beating = Heartbeat(
                StoreMembership(database), record, every_seconds=every, renew=self._attempts.renew
            )
            self._node.add(self._beating)
            for node in (node_id, scheduler):  # what it has claimed, and what was taken for it as it was fired
                self._node.add(Stopper(work, self._attempts, node), Topic.STOPS)

    async def open(self) -> None:
        if self._beating:
            await self._beating.tick()
        await self._node.start()

    async def close(self, *, wait: bool) -> None:
        """Calls that run are waited for in any case: an end that nobody records would be a run that is lost.

        `wait`: those that this process has taken and not begun are run, too, and all others where nobody else would;
        without it they go back to the store.
        """
        with self._in_turn():  # what another thread has begun is known from here on, and nothing more comes
            self._is_closing = True
            self._runner.take_in()
        await self._node.stop_claiming()
        if not wait:
            await self._attempts.give_back(self._runner.unbegun())
        elif not self._options.shared:
            await self._drain()
        await self._runner.idle()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._node.stop()

    # Implements `Duty` where the store is this process's own: then claims never wait, and threads take in between

    async def tick(self) -> float:
        with self._in_turn():
            return await self._dispatcher.tick()

    @contextlib.contextmanager
    def _in_turn(self) -> Iterator[None]:
        """In the loop. Not for ever: a signal may come in the middle of a thread's turn, its handler wait for it."""
        is_held = self.turn.acquire(timeout=TURN_SECONDS)
        try:
            yield
        finally:
            if is_held:
                self.turn.release()

    def taker(self) -> Taker:
        """For who holds the turn: of as much as its own thread may begin."""
        room = self.room() if self._any_thread else 0
        return Taker(node=self._node_id, host=self._host, room=room, ttl_seconds=self._options.lease_seconds)

    def begin(self, claimed: Sequence[Claimed], asked_at: float) -> bool:
        """For who holds the turn, in whatever thread: what it has taken. The loop hears of it when it looks.

        False, and nothing was done, where that is for the loop to do.
        """
        if self._is_closing or not self._any_thread or clock.monotonic() >= asked_at + self._options.lease_seconds:
            return False
        calls = [self._preparation.at_once(each) for each in claimed]
        if not all(calls):
            return False
        if calls:
            self._taken.append((claimed, asked_at))
            self._runner.begin(cast(Sequence[CallProgram], calls))
        return True

    def _take_in(self) -> None:
        while self._taken:
            self._attempts.started(*self._taken.popleft())

    def room(self) -> int:
        self._dispatcher.slots = self._pace.measured(self._runner.ended)
        return 0 if self._is_closing else self._dispatcher.slots - self._occupied()

    def _occupied(self) -> int:
        """What the executor has; and once too many ends wait to be written, those, too."""
        running = self._runner.count()
        unwritten = self._attempts.total() - running
        return running + max(0, unwritten - MOST_UNWRITTEN)

    def ended(self) -> int:
        """How many calls have ended since the beginning."""
        return self._runner.ended

    def known(self) -> frozenset[int]:
        """In the loop."""
        self._runner.take_in()
        return self._attempts.known()

    def prepare(self, claimed: Claimed) -> None:
        """What may be given to it soon: the call, unless something of the user's would run to make it."""
        with contextlib.suppress(CannotRun):  # its run will say so
            claimed.program = self._preparation.at_once(claimed)

    async def launch(self, claimed: Sequence[Claimed], asked_at: float) -> None:
        """What was taken for it as it was fired."""
        await self._attempts.launch(claimed, asked_at)

    def is_calling(self) -> bool:
        return self._runner.is_calling()

    def _freed(self) -> None:
        self._dispatcher.slots = self._pace.measured(self._runner.ended)
        self._ended.set()
        if self._dispatcher.is_short:  # else whatever is to be claimed rings
            self._node.room()

    def _give_back_what_waits(self) -> None:
        """What this process has taken and does not get to, while others may have nothing to do."""
        if self._is_closing or not self._options.shared:
            return
        if waiting := self._runner.unbegun(clock.monotonic() - PATIENCE_SECONDS):
            self._dispatcher.slots = self._pace.gave_back()
            self._later(self._give_back(waiting))

    async def _give_back(self, attempt_ids: Sequence[int]) -> None:
        """Until the store has heard it: who forgot them would let them be lost."""
        is_heard = False
        while not is_heard:
            try:
                await self._attempts.give_back(attempt_ids)
                is_heard = True
            except Unavailable:
                if self._is_closing:
                    raise
                await asyncio.sleep(AGAIN_SECONDS)

    async def _drain(self) -> None:
        """Run all that is left, also what the end of another run makes room for."""
        await self.tick()
        while self._attempts.total():
            self._ended.clear()
            await self._ended.wait()
            await self.tick()

    def _unloadable(self, claimed: Claimed, problem: Unloadable) -> None:
        self._later(self._quarantine(claimed, problem))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if not task.cancelled() and (problem := task.exception()):
            log.warning("%s; their leases will tell", problem)

    async def _quarantine(self, claimed: Claimed, problem: Unloadable) -> None:
        attempt = claimed.attempt
        assert attempt.job_version is not None
        await self._database.write(
            quarantine,
            namespace=attempt.namespace,
            name=attempt.job_name,
            version=attempt.job_version,
            reason=str(problem),
        )
        self._telling.quarantined(attempt.job_name, attempt.run_at, problem)
