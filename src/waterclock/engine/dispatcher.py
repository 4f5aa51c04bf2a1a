"""The dispatcher: claims as much as there is room for, in one statement, and hands it on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from waterclock import clock
from waterclock.domain.claim import Claimant, Claims
from waterclock.domain.moment import SECOND
from waterclock.engine.attempt import Attempts
from waterclock.engine.turns import Turns
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
        memory_mb: int = 0,
        turns: Turns | None = None,
    ) -> None:
        self.name = "callable dispatcher" if callables else "dispatcher"
        self._work = work
        self._attempts = attempts
        self._claimant = replace(claimant, queues=queues, memory_mb=memory_mb)
        self._turns = turns  # None: it takes all it can, whoever else is there
        self.slots = slots  # may be changed between two rounds
        self._occupied = occupied or (lambda: attempts.count(callables=callables))
        self._ttl_seconds = ttl_seconds
        self._unsure = False  # a claim was sent and not answered: it may have been made
        self.is_short = False  # of room: there may be more to claim than there was room for

    async def tick(self) -> float:
        occupied = self._occupied()
        room = min(self.slots - occupied, LARGEST_CLAIM)
        self.is_short = room <= 0
        if room <= 0:
            return POLL_SECONDS
        load = occupied / self.slots
        if self._turns and (wait := self._turns.wait_seconds(load)) > 0:
            return wait
        claims = await self._claim(room)
        if self._turns:
            self._turns.took(claims, room=room, load=load)
            if claims.left:
                return self._turns.wait_seconds(load)
        return rest_until_claim(claims, room)

    async def _claim(self, room: int) -> Claims:
        if self._unsure:
            await self._work.give_back(self._claimant, self._attempts.known())
        asked_at, self._unsure = clock.monotonic(), True
        claims = await self._work.claim(self._asking(), limit=room, ttl_seconds=self._ttl_seconds)
        self._unsure = False
        await self._attempts.launch(claims.claimed, asked_at)
        self.is_short = len(claims.claimed) == room
        return claims

    def _asking(self) -> Claimant:
        claimant = self._claimant
        if claimant.memory_mb:
            claimant = replace(claimant, free_mb=max(0, claimant.memory_mb - self._attempts.memory_mb()))
        return self._turns.asking(claimant) if self._turns else claimant


def rest_until_claim(claims: Claims, room: int) -> float:
    """None while there may be more; else until the next delayed attempt is due."""
    if len(claims.claimed) == room:
        return 0.0
    if claims.next_due_at is None:
        return POLL_SECONDS
    return min(max(0.0, (claims.next_due_at - claims.now) / SECOND), POLL_SECONDS)
