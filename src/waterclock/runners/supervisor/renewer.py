"""Renews the leases of all that is held, in one call, well before any of them runs out.

The call may hang or fail for as long as it likes: it runs beside everything else, it is given up after a third of the
lease, and the moment that an answer is good until counts from before the question was sent.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from waterclock import clock
from waterclock.runners.base import Leases
from waterclock.runners.supervisor.attempts import Attempt

_LOG = logging.getLogger(__name__)
_ROUNDS_PER_LEASE: Final = 12
_RENEW_BELOW: Final = 2 / 3  # of the lease left
_GIVE_UP_AFTER: Final = 1 / 3  # of the lease


class Holder(Protocol):
    """Whose leases they are."""

    def lease_is(self, attempt: Attempt, until: float) -> None: ...

    def lose(self, attempt: Attempt) -> None: ...


def is_due(held: Sequence[Attempt], now: float, ttl_seconds: float) -> bool:
    """Whether something has less than two thirds of its lease left."""
    return any(attempt.lease_until - now < ttl_seconds * _RENEW_BELOW for attempt in held)


class Renewer:
    """One round at a time; what it does not renew dies of itself."""

    def __init__(
        self, leases: Leases, ttl_seconds: float, holder: Holder, held: Callable[[], Sequence[Attempt]]
    ) -> None:
        self._leases = leases
        self._ttl_seconds = ttl_seconds
        self._holder = holder
        self._held = held
        self._given_up: set[asyncio.Future[frozenset[int]]] = set()

    async def run(self) -> None:
        while True:
            await self.tick()
            await asyncio.sleep(self._ttl_seconds / _ROUNDS_PER_LEASE)

    async def tick(self) -> None:
        held = self._held()
        if is_due(held, clock.monotonic(), self._ttl_seconds):
            await self._renew(held)

    async def _renew(self, held: Sequence[Attempt]) -> None:
        asked_at = clock.monotonic()
        still_ours = await self._ask([(attempt.attempt_id, attempt.fence) for attempt in held])
        if still_ours is None:
            return
        for attempt in held:
            if attempt.attempt_id in still_ours:
                self._holder.lease_is(attempt, asked_at + self._ttl_seconds)
            else:
                self._holder.lose(attempt)

    async def _ask(self, pairs: list[tuple[int, int]]) -> frozenset[int] | None:
        call = asyncio.ensure_future(self._leases.renew(pairs, self._ttl_seconds))
        await asyncio.wait({call}, timeout=self._ttl_seconds * _GIVE_UP_AFTER)
        if not call.done():
            _LOG.warning("the store does not answer: %d leases not renewed", len(pairs))
            self._give_up(call)
            return None
        if (error := call.exception()) is not None:  # however it failed: leases that run out do the rest
            _LOG.warning("the store failed: %d leases not renewed: %r", len(pairs), error)
            return None
        return call.result()

    def _give_up(self, call: "asyncio.Future[frozenset[int]]") -> None:
        """Cancel without waiting: a call that cannot be cancelled must not hold us up."""
        self._given_up.add(call)
        call.add_done_callback(self._given_up.discard)
        call.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        call.cancel()
