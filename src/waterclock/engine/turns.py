"""Turns: when a worker claims, and how much of what waits, while other workers have room too."""

from dataclasses import replace
from typing import Final

from waterclock import clock
from waterclock.domain.claim import Claimant, Claims
from waterclock.domain.placement import ROUNDS, Others, deference_seconds, pause_seconds

LOOK_SECONDS: Final = 2.0  # between two looks at who else is there
NOBODY: Final = Others(room=0)


class Turns:
    """A worker alone neither waits nor shares, nor does one that finds more than it has room for."""

    def __init__(self, *, alive_seconds: float) -> None:
        self._alive_seconds = alive_seconds  # how fresh another's heartbeat must be
        self._others = NOBODY
        self._look_at = 0.0
        self._claim_at: float | None = None
        self._rounds = 0  # one after another that left something to others
        self._backlog = False  # the last claim was as large as it could be: there may be enough for everybody

    def wait_seconds(self, load: float) -> float:
        """How long until it is this worker's turn."""
        now = clock.monotonic()
        if self._claim_at is None:
            self._claim_at = now + (0.0 if self._backlog else deference_seconds(load, self._others))
        return max(0.0, self._claim_at - now)

    def asking(self, claimant: Claimant) -> Claimant:
        """With what it knows of the others, and now and then with the question how they are."""
        takes_all = self._backlog or self._rounds >= ROUNDS
        looks = clock.monotonic() >= self._look_at
        return replace(
            claimant,
            others_room=0 if takes_all else self._others.room,
            look_seconds=self._alive_seconds if looks else 0.0,
        )

    def took(self, claims: Claims, *, room: int, load: float) -> None:
        now = clock.monotonic()
        if claims.others is not None:
            self._others, self._look_at = claims.others, now + LOOK_SECONDS
        self._backlog = len(claims.claimed) == room
        self._rounds = self._rounds + 1 if claims.left else 0
        self._claim_at = now + pause_seconds(load, self._rounds) if claims.left else None
