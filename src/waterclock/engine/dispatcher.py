"""The dispatcher: claims as much as there is room for, in one statement, and hands it on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from waterclock import clock
from waterclock.domain.claim import Claimant, Claims
from waterclock.domain.moment import SECOND
from waterclock.engine.attempt import Attempts
from waterclock.engine.work import Work

LARGEST_CLAIM: Final = 1_000
POLL_SECONDS: Final = 2.0  # the safety net, should a wake-up be lost


class Dispatcher:
    """One for programs and one for callables: they wait in different queues and have different room."""

    def __init__(
        self,
        work: Work,
        attempts: Attempts,
        claimant: Claimant,
        *,
        queues: tuple[str, ...],
        slots: int,
        callables: bool,
        ttl_seconds: float,
        occupied: Callable[[], int] | None = None,
    ) -> None:
        self.name = "callable dispatcher" if callables else "dispatcher"
        self._work = work
        self._attempts = attempts
        self._claimant = replace(claimant, queues=queues)
        self.slots = slots  # may be changed between two rounds
        self._occupied = occupied or (lambda: attempts.count(callables=callables))
        self._ttl_seconds = ttl_seconds
        self._unsure = False  # a claim was sent and not answered: it may have been made

    async def tick(self) -> float:
        room = min(self.slots - self._occupied(), LARGEST_CLAIM)
        if room <= 0:
            return POLL_SECONDS
        if self._unsure:
            await self._work.give_back(self._claimant, self._attempts.known())
        asked_at, self._unsure = clock.monotonic(), True
        claims = await self._work.claim(self._claimant, limit=room, ttl_seconds=self._ttl_seconds)
        self._unsure = False
        await self._attempts.launch(claims.claimed, asked_at)
        return rest_until_claim(claims, room)


def rest_until_claim(claims: Claims, room: int) -> float:
    """None while there may be more; else until the next delayed attempt is due."""
    if len(claims.claimed) == room:
        return 0.0
    if claims.next_due_at is None:
        return POLL_SECONDS
    return min(max(0.0, (claims.next_due_at - claims.now) / SECOND), POLL_SECONDS)
