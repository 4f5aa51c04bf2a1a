"""The supervisor's heart: orders in, keepers set to work, events out; every effect after its line in the journal.

All of it runs on one loop without a lock.
"""

import asyncio
import logging
import os
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from waterclock import clock
from waterclock.runners import codec, wire
from waterclock.runners.base import Begun, End, Ended, Event
from waterclock.runners.calling import token
from waterclock.runners.codec import Order
from waterclock.runners.supervisor import journal
from waterclock.runners.supervisor.attempts import Attempt, Attempts
from waterclock.runners.supervisor.journal import Journal
from waterclock.runners.supervisor.keepers import KeeperLink, Keepers
from waterclock.runners.supervisor.orphans import Orphans
from waterclock.runners.supervisor.outbox import Outbox
from waterclock.runners.supervisor.zygote import Zygote

_LOG = logging.getLogger(__name__)
_KEEPER_GRACE_SECONDS: Final = 2.0  # for a keeper to notice by itself that the lease is over


class Supervisor:
    """Starts what it is told at most once, and answers for it until it is told to forget."""

    def __init__(
        self, attempts: Attempts, book: Journal, zygote: Zygote, tell: Callable[[Sequence[Event]], None]
    ) -> None:
        self._attempts = attempts
        self._zygote = zygote
        self._out = Outbox(book, tell, attempts.records)
        self._keepers = Keepers(zygote, self)
        self._links: dict[int, KeeperLink] = {}
        self._orphans = Orphans(self._our_own_pids)
        self._waiting: deque[Attempt] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    # What workers ask.

    def start(self, orders: Sequence[Order], done: Callable[[], None]) -> None:
        """`done` is called once the orders are in the journal."""
        for order in orders:
            self._accept(order)
        self._out.afterwards(done)
        self._hand_out()

    def stop(self, attempt_ids: Sequence[int], cause: End = End.STOPPED) -> None:
        for attempt_id in attempt_ids:
            attempt = self._attempts.get(attempt_id)
            if attempt is None or not attempt.is_alive:
                continue
            if attempt.order is not None:
                self._ended(attempt, attempt.end(cause, "stopped before it was started"))
            else:
                self._order_keeper(attempt, {"stop": cause.value})

    def forget(self, attempt_ids: Sequence[int], done: Callable[[], None]) -> None:
        """`done` is called once that is in the journal."""
        forgotten = self._attempts.forget(attempt_ids)
        if forgotten:
            self._out.record(journal.forgotten(forgotten))
        self._out.afterwards(done)

    # What the renewer and the clock ask.

    def lease_is(self, attempt: Attempt, until: float) -> None:
        attempt.lease_until = until
        if attempt.is_alive and attempt.order is None:
            self._order_keeper(attempt, {"lease_until": until})

    def lose(self, attempt: Attempt) -> None:
        """The store says that it is somebody else's: ours dies at once."""
        attempt.is_refused = True
        if not attempt.is_alive:
            return
        if attempt.order is not None:
            self._ended(attempt, attempt.end(End.LEASE_LOST, "its lease was lost before it was started"))
        else:
            self._order_keeper(attempt, {"kill": End.LEASE_LOST.value})

    def tick(self) -> None:
        """What no event brings about: expired leases, keepers that do not obey, keepers to be had."""
        now = clock.monotonic()
        for attempt in self._attempts.alive():
            if attempt.order is not None and now >= attempt.lease_until:
                self.lose(attempt)
            elif attempt.order is None and now >= attempt.lease_until + _KEEPER_GRACE_SECONDS:
                self._kill_keeper(attempt)
        self._orphans.tidy()
        self.provide()

    def provide(self) -> None:
        """More keepers, where programs have waited for one for too long."""
        self._keepers.provide(self._wait_count())

    def remind(self, before: float) -> None:
        """Tell again what ended, was told before that moment, and was not forgotten."""
        for attempt in self._attempts:
            if attempt.ended is not None and attempt.told_at < before:
                self._say_end(attempt, attempt.ended)

    def bury(self) -> None:
        """Reap what is dead; a zygote among it is replaced before anybody needs it."""
        if self._zygote.pid in self._orphans.reap():
            self._zygote.replace()

    @property
    def has_waiting(self) -> bool:
        return bool(self._waiting)

    def close(self) -> None:
        self._out.close()
        self._keepers.close()
        self._zygote.close()

    # What keepers say.

    def keeper_ready(self) -> None:
        self._hand_out()

    def keeper_said(self, keeper: KeeperLink, message: wire.Message) -> None:
        attempt = self._attempts.get(keeper.attempt_id) if keeper.attempt_id is not None else None
        if attempt is None:
            return
        if "begun" in message:
            self._begun(attempt, codec.begun_from_plain(message["begun"]))
        elif "dying" in message:
            attempt.foretold = codec.ended_from_plain(message["dying"])
        elif "ended" in message:
            self._links.pop(attempt.attempt_id, None)
            self._ended(attempt, codec.ended_from_plain(message["ended"]))
            self._keepers.give_back(keeper)
            self._hand_out()
            if keeper.attempt_id is None:  # else its next order, behind the same line in the journal, says as much
                self._out.to_keeper(keeper, {"ack": attempt.attempt_id})

    def keeper_gone(self, keeper: KeeperLink) -> None:
        attempt = self._attempts.get(keeper.attempt_id) if keeper.attempt_id is not None else None
        if attempt is not None:
            _LOG.warning("the keeper of attempt %s died", attempt.attempt_id)
            task = asyncio.ensure_future(self._clean_up_after(keeper, attempt))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif keeper.cgroup is not None:
            self._orphans.discard(keeper.cgroup)
        self._keepers.provide(self._wait_count())

    async def _clean_up_after(self, keeper: KeeperLink, attempt: Attempt) -> None:
        assert keeper.process is not None
        keeper.kill()  # it may have lost only its line
        await self._orphans.kill(keeper.process, keeper.cgroup)
        self._links.pop(attempt.attempt_id, None)
        if attempt.foretold is not None:
            self._ended(attempt, attempt.foretold)
        elif attempt.is_refused or clock.monotonic() >= attempt.lease_until:
            self._ended(attempt, attempt.end(End.LEASE_LOST, "its lease ran out"))
        else:
            self._ended(attempt, attempt.end(End.LOST, "its keeper was killed; how the program ended is unknown"))

    # The steps.

    def _accept(self, order: Order) -> None:
        program = order.program
        known = self._attempts.get(program.attempt_id)
        if known is not None:
            self._refuse_again(known, program.fence)
            return
        attempt = Attempt(
            attempt_id=program.attempt_id,
            fence=program.fence,
            token=token(program),
            lease_until=order.lease_until,
            order=order,
        )
        self._attempts.add(attempt)
        self._out.record(journal.started(attempt.attempt_id, attempt.fence, attempt.token))
        self._waiting.append(attempt)

    def _refuse_again(self, known: Attempt, fence: int) -> None:
        """The same order again is no news; the same attempt under another fence must never run beside the first."""
        if known.fence == fence:
            if known.ended is not None:
                self._say_end(known, known.ended)
            return
        message = f"attempt {known.attempt_id} was already given to this host, under fence {known.fence}"
        refusal = Ended(attempt_id=known.attempt_id, fence=fence, end=End.NOT_STARTED, message=message)
        self._out.to_workers(refusal)

    def _hand_out(self) -> None:
        while self._wait_count() and (keeper := self._keepers.take()) is not None:
            attempt = self._waiting.popleft()
            assert attempt.order is not None
            assert keeper.process is not None
            keeper.attempt_id, attempt.keeper = attempt.attempt_id, keeper.process
            self._links[attempt.attempt_id] = keeper
            self._out.record(journal.given(attempt.attempt_id, keeper.process))
            order = Order(program=attempt.order.program, lease_until=attempt.lease_until)
            self._out.to_keeper(keeper, {"run": codec.order_to_plain(order)})
            attempt.order = None
        self._keepers.provide(self._wait_count())

    def _wait_count(self) -> int:
        """How many wait for a keeper, after dropping those that need none any more."""
        while self._waiting and not self._waiting[0].is_alive:
            self._waiting.popleft()
        return len(self._waiting)

    def _begun(self, attempt: Attempt, begun: Begun) -> None:
        attempt.begun = begun
        self._out.record(journal.begun(begun))
        self._out.to_workers(begun)

    def _ended(self, attempt: Attempt, ended: Ended) -> None:
        attempt.ended, attempt.order = ended, None
        self._out.record(journal.ended(ended))
        self._say_end(attempt, ended)

    def _say_end(self, attempt: Attempt, ended: Ended) -> None:
        attempt.told_at = clock.monotonic()
        self._out.to_workers(ended)

    def _order_keeper(self, attempt: Attempt, message: wire.Message) -> None:
        keeper = self._links.get(attempt.attempt_id)
        if keeper is not None:
            self._out.to_keeper(keeper, message)

    def _kill_keeper(self, attempt: Attempt) -> None:
        keeper = self._links.get(attempt.attempt_id)
        if keeper is not None:
            keeper.kill()

    def _our_own_pids(self) -> frozenset[int]:
        zygote = self._zygote.pid
        return self._keepers.pids() | ({zygote} if zygote is not None else frozenset()) | {os.getpid()}
